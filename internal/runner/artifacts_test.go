package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/outerloop-go/outerloop/internal/runner"
	"github.com/outerloop-go/outerloop/internal/sandbox"
)

// TestArtifactEscapes lets a command plant everything that could lead the
// runner outside, block it, or fill its disk.
func TestArtifactEscapes(t *testing.T) {
	const (
		link    = "it is, or lies behind, a link or something else that is no plain file"
		large   = "it is larger than 5000000 bytes"
		missing = "the command did not leave it"
		name    = "its path is not one of plain names"
	)
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		b := newBench(t, kind)
		outside := filepath.Join(t.TempDir(), "outside")
		write(t, outside, "secret")
		want := []runner.Artifact{
			{Path: "link", Skipped: link},
			{Path: "dirlink/passwd", Skipped: link},
			{Path: "deep/up/passwd", Skipped: link},
			{Path: "fifo", Skipped: link},
			{Path: "dir", Skipped: link},
			{Path: "hard", Skipped: link},
			{Path: "file/below", Skipped: link},
			{Path: "large", Skipped: large},
			{Path: "sparse", Skipped: large},
			{Path: "../outside", Skipped: name},
			{Path: "/etc/passwd", Skipped: name},
			{Path: "deep//er", Skipped: name},
			{Path: "none", Skipped: missing},
			{Path: "none/none", Skipped: missing},
			{Path: "bound", Bytes: 5_000_000},
			{Path: "file", Bytes: 4},
			{Path: "new\nline", Bytes: 3},
			{Path: "deep/er/still", Bytes: 2},
			{Path: "empty", Bytes: 0},
		}
		for _, a := range want {
			b.Artifacts = append(b.Artifacts, a.Path)
		}
		code := b.run(t, `set -e
			ln -s `+outside+` link; ln -s /etc dirlink; mkdir -p deep/er dir
			ln -s ../../../../../../../../etc deep/up
			mkfifo fifo; echo abc >file; ln file hard2; ln hard2 hard; rm hard2 file; cp hard file; ln hard other
			head -c 5000001 /dev/zero >large; truncate -s 1T sparse; head -c 5000000 /dev/zero >bound
			echo 12 >"$(printf 'new\nline')"; echo 1 >deep/er/still; : >empty`)
		if code != 0 {
			t.Fatalf("the command failed: %s", read(t, filepath.Join(b.dir, "stderr")))
		}
		got, err := runner.ReadArtifacts(b.dir)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("artifacts: %v\n%s", err, diff)
		}
		for _, a := range got {
			info, err := os.Lstat(filepath.Join(b.dir, "artifacts", a.Path))
			if a.Skipped != "" {
				if err == nil && !info.IsDir() {
					t.Errorf("%q was skipped and is there", a.Path)
				}
				continue
			}
			if err != nil || !info.Mode().IsRegular() || info.Size() != a.Bytes {
				t.Errorf("%q: %v, %v", a.Path, info, err)
			}
		}
		b.scratchIsEmpty(t)
	})
}

// TestArtifactThatChanges: a process that outlived its command, as it can
// without a sandbox, swaps and grows files while they are brought out.
func TestArtifactThatChanges(t *testing.T) {
	b := newBench(t, sandbox.None)
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, "secret")
	for i := range 8 {
		b.Artifacts = append(b.Artifacts, "swapped", "grows"+string(rune('0'+i)))
	}
	b.run(t, `setsid sh -c '
			for n in 0 1 2 3 4 5 6 7; do yes | head -c 20000000 >grows$n & done
			while [ -d ../tree ]; do ln -sf `+outside+` swapped; rm -f swapped; echo own >swapped; done' >/dev/null 2>&1 &
		while ! [ -e swapped ]; do sleep 0.01; done`)
	got, err := runner.ReadArtifacts(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range got {
		content := read(t, filepath.Join(b.dir, "artifacts", a.Path))
		if strings.Contains(content, "secret") || len(content) > 5_000_000 && content != "<none>" {
			t.Errorf("%s: %d bytes of what was not the command's", a.Path, len(content))
		}
	}
}

func TestScratchOfAHostileCommand(t *testing.T) {
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		b := newBench(t, kind)
		outside := t.TempDir()
		write(t, filepath.Join(outside, "keep"), "keep")
		b.run(t, `mkdir -p ro/ro/ro && touch ro/ro/ro/file && ln -s `+outside+` ro/out
			chmod 000 ro/ro/ro/file; chmod 000 ro/ro/ro; chmod 500 ro/ro; chmod 000 ro
			i=0; while [ $i -lt 300 ]; do mkdir d && cd d || exit 1; i=$((i+1)); done
			sleep 1000 >/dev/null 2>&1 &`)
		b.scratchIsEmpty(t)
		info, err := os.Stat(outside)
		if got := read(t, filepath.Join(outside, "keep")); got != "keep" || err != nil || info.Mode().Perm()&0o700 != 0o700 {
			t.Errorf("outside was touched: %q, %v, %v", got, info, err)
		}
	})
}

func TestSweepScratch(t *testing.T) {
	b := newBench(t, sandbox.None)
	if err := runner.SweepScratch(filepath.Join(b.scratch, "missing"), b.runner.Log); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"job-dead/tree/x", "other/x"} {
		if err := os.MkdirAll(filepath.Join(b.scratch, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(b.scratch, "job-new.lock"), "")
	if err := runner.SweepScratch(b.scratch, b.runner.Log); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(b.scratch)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	// A job whose lock was new sees that it is gone, and takes another.
	if diff := cmp.Diff([]string{"other"}, left); diff != "" {
		t.Error(diff)
	}
}
