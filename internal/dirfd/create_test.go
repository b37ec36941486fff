package dirfd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, perm := range []fs.FileMode{0o600, 0o644, 0o755, 0o777} {
		name := perm.String()
		f, err := d.Create(name, perm)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if info, err := os.Stat(filepath.Join(path, name)); err != nil || info.Mode() != perm {
			t.Errorf("asked for %v, got %v, %v", perm, info.Mode(), err)
		}
	}
	if err := os.Symlink("nowhere", filepath.Join(path, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "-rw-r--r--"} {
		if _, err := d.Create(name, 0o644); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "..", "a/b"} {
		if _, err := d.Create(name, 0o644); !errors.Is(err, ErrBadName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(path, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a dangling link was followed")
	}
}
