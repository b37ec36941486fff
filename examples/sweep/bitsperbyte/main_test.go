package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	src := t.TempDir()
	if err := os.CopyFS(src, tree(40)); err != nil {
		t.Fatal(err)
	}
	measured := func() Result {
		t.Helper()
		out := filepath.Join(t.TempDir(), "result.json")
		var stdout, stderr bytes.Buffer
		if code := run([]string{"-src", src, "-out", out, "-order", "2", "-strength", "0.5"}, &stdout, &stderr); code != exitDone {
			t.Fatalf("exit %d: %s", code, &stderr)
		}
		if got := stdout.String(); !strings.HasPrefix(got, "order 2, discount 0.5, strength 0.5: ") || strings.Count(got, "\n") != 1 {
			t.Errorf("unexpected summary %q", got)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		r.Seconds = 0
		return r
	}
	first := measured()
	if first.BitsPerByte <= 0 || first.BitsPerByte >= 8 {
		t.Errorf("%g bits per byte is neither a cost nor better than none at all", first.BitsPerByte)
	}
	if first.TrainFiles+first.TestFiles != 120 || first.Contexts == 0 {
		t.Errorf("incomplete result %+v", first)
	}
	if again := measured(); again != first {
		t.Errorf("two runs differ:\n%+v\n%+v", first, again)
	}
}

func TestWrongCalls(t *testing.T) {
	for _, tc := range []struct {
		args string
		want string // in the message
	}{
		{"", "-src is missing"},
		{"-src x extra", `unexpected argument "extra"`},
		{"-src x -order 13", "-order 13"},
		{"-src x -order -1", "-order -1"},
		{"-src x -order two", `"two"`},
		{"-src x -discount 1", "-discount 1"},
		{"-src x -discount NaN", "-discount NaN"},
		{"-src x -strength -1", "-strength -1"},
		{"-src x -strength Inf", "-strength +Inf"},
		{"-src x -discount 0 -strength 0", "both 0"},
		{"-src x -train-bytes 0", "-train-bytes 0"},
		{"-src x -test-bytes 99999999", "-test-bytes 99999999"},
		{"-unknown", "-unknown"},
	} {
		t.Run(tc.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(strings.Fields(tc.args), &stdout, &stderr)
			if code != exitUsage || !strings.Contains(stderr.String(), tc.want) || !strings.Contains(stderr.String(), "hint:") {
				t.Errorf("exit %d, %q; want exit %d and a message with %q and a hint", code, &stderr, exitUsage, tc.want)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	src := t.TempDir()
	if err := os.CopyFS(src, tree(40)); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(t.TempDir(), "nowhere", "x")
	for _, args := range [][]string{
		{"-src", nowhere},
		{"-src", src, "-out", nowhere},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(args, &stdout, &stderr); code != exitFailure || !strings.Contains(stderr.String(), nowhere) {
			t.Errorf("%q: exit %d, %q; want exit %d and the path", args, code, &stderr, exitFailure)
		}
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"-help"}, &stdout, &stderr); code != exitDone || !strings.Contains(stdout.String(), "-order") {
		t.Errorf("exit %d, %q; want 0 and the flags", code, &stdout)
	}
}
