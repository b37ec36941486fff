package settings

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What is written is read as it was, by this package and by a shell.
func TestRoundTrip(t *testing.T) {
	for _, text := range []string{
		"", "plain", "a,b", "/shared/me", "with space", " led", "trailed ", "\ttab", `"quoted"`, `'quoted'`, `"`, `'`, `it's`, `say "x"`,
		"a=b", "# no comment", "$HOME `id` \\", "ünï", "sh -c 'echo hi'", "export x", "\u00a0",
	} {
		dir, path := home(t, "", 0o600)
		s, err := Load(dir, environment())
		if err != nil {
			t.Fatal(err)
		}
		file, err := s.With([]Setting{{"X", text}})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err = Load(dir, environment()); err != nil {
			t.Fatal(err)
		}
		if got := s.Get("X"); got.Text != text || !got.Set {
			t.Errorf("%q is written as %q and read as %q", text, file, got.Text)
		}
		out, err := exec.Command("sh", "-c", `. "$0" && printf %s "$OUTERLOOP_X"`, path).Output()
		if err != nil || string(out) != text {
			t.Errorf("%q is written as %q, and a shell reads %q (%v)", text, file, out, err)
		}
	}
	for _, text := range []string{"a\nb", "a\rb", "a\x00b"} {
		if _, err := new(Settings).With([]Setting{{"X", text}}); err == nil || !strings.Contains(err.Error(), "OUTERLOOP_X") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What is not set anew stays, comments and all.
func TestWithKeepsTheRest(t *testing.T) {
	dir, _ := home(t, "# mine\nexport AUTORESEARCH_ROOT=/old\nOUTERLOOP_QOS=high\nOUTERLOOP_ROOT=/older\nlast=", 0o600)
	s, err := Load(dir, environment())
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.With([]Setting{{"ROOT", "/new root"}})
	const want = "# mine\nOUTERLOOP_QOS=high\nlast=\nOUTERLOOP_ROOT='/new root'\n"
	if err != nil || string(got) != want {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
}

func TestCheckDir(t *testing.T) {
	dir := t.TempDir()
	for mode, ok := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o775: false, 0o757: false} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		var untrusted *UntrustedError
		if err := CheckDir(dir); (err == nil) != ok || !ok && !errors.As(err, &untrusted) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if err := CheckDir(filepath.Join(dir, "missing")); err != nil {
		t.Error(err)
	}
}

func TestCheckSecret(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := CheckSecret(key); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for _, test := range []struct {
		text string
		mode os.FileMode
		want string
	}{{"k", 0o600, ""}, {"k", 0o400, ""}, {"k", 0o640, "mode 0640"}, {"k", 0o604, "mode 0604"}, {"", 0o600, "is empty"}} {
		os.Remove(key)
		if err := os.WriteFile(key, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(key, test.mode); err != nil {
			t.Fatal(err)
		}
		err := CheckSecret(key)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("mode %o: %v", test.mode, err)
		}
	}
}
