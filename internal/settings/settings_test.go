package settings

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// home makes a home directory with a settings file in it.
func home(t *testing.T, text string, mode os.FileMode) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, ".config", "outerloop", ".env")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return dir, path
}

func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, p := range pairs {
			if key, value, _ := strings.Cut(p, "="); key == name {
				return value, true
			}
		}
		return "", false
	}
}

func TestPrecedence(t *testing.T) {
	dir, path := home(t, `
# a comment = of no meaning
OUTERLOOP_ROOT=/first
AUTORESEARCH_ACCOUNT=old
AUTORESEARCH_PARTITION=old
OUTERLOOP_PARTITION="a,b"
export OUTERLOOP_CADENCE_MIN = '5'
OUTERLOOP_ROOT=/last`+"\r"+`
OUTERLOOP_PANEL=
no assignment
OUTERLOOP_EQ=a=b
OUTERLOOP_HALF="open
`, 0o600)
	s, err := Load(dir, environment("OUTERLOOP_EQ=", "AUTORESEARCH_TARGET=t", "AUTORESEARCH_PARTITION=env"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, text, from string
		set              bool
	}{
		{"ROOT", "/last", "OUTERLOOP_ROOT in " + path + ":8", true},
		{"ACCOUNT", "old", "AUTORESEARCH_ACCOUNT in " + path + ":4", true},
		{"PARTITION", "env", "AUTORESEARCH_PARTITION in the environment", true},
		{"CADENCE_MIN", "5", "OUTERLOOP_CADENCE_MIN in " + path + ":7", true},
		{"PANEL", "", "OUTERLOOP_PANEL in " + path + ":9", true},
		{"EQ", "", "OUTERLOOP_EQ in the environment", true},
		{"TARGET", "t", "AUTORESEARCH_TARGET in the environment", true},
		{"HALF", `"open`, "OUTERLOOP_HALF in " + path + ":12", true},
		{"MISSING", "", "", false},
	} {
		if got := s.Get(test.name); got != (Value{test.text, test.set, test.from}) {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
	if got := s.Flag("--root", "/flag", "ROOT"); got != (Value{"/flag", true, "--root"}) {
		t.Errorf("%+v", got)
	}
	if got := s.Flag("--root", "", "ROOT"); got.Text != "/last" {
		t.Errorf("%+v", got)
	}
	want := []string{"OUTERLOOP_TARGET=t", "OUTERLOOP_PANEL="}
	if got := s.Author(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestTrust(t *testing.T) {
	for _, mode := range []os.FileMode{0o620, 0o602, 0o666} {
		dir, _ := home(t, "OUTERLOOP_ROOT=/x", mode)
		var untrusted *UntrustedError
		if _, err := Load(dir, environment()); !errors.As(err, &untrusted) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if dir, path := home(t, "", 0o600); os.Getuid() == 0 {
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir, environment()); err == nil || !strings.Contains(err.Error(), "not owned by you") {
			t.Error(err)
		}
	}
	dir, path := home(t, "", 0o600)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, environment()); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Error(err)
	}
	dir, path = home(t, "", 0o600)
	if err := os.Truncate(path, maxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, environment()); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Error(err)
	}
}

func TestNoFile(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		s, err := Load(dir, environment())
		if err != nil {
			t.Fatal(err)
		}
		if v := s.Get("ROOT"); v.Set {
			t.Errorf("%+v", v)
		}
	}
}

func TestNumbersAndLines(t *testing.T) {
	for _, test := range []struct {
		text string
		want int
		ok   bool
	}{{"", 360, true}, {"5", 5, true}, {" 7 ", 7, true}, {"0", 0, false}, {"-3", 0, false}, {"1.5", 0, false}, {"x", 0, false}} {
		got, err := Value{test.text, true, "OUTERLOOP_X in y"}.Int(1, 360)
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("%q: %d, %v", test.text, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "OUTERLOOP_X in y") {
			t.Errorf("%q: %v", test.text, err)
		}
	}
	for text, ok := range map[string]bool{"a,b": true, "": true, "a\nb": false, "a\rb": false, "a\x00": false} {
		if _, err := (Value{Text: text}).Line(); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
