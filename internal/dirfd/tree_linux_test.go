package dirfd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A tree goes with everything that a session can plant in it, and nothing beside it.
func TestRemoveTree(t *testing.T) {
	base := t.TempDir()
	outside := filepath.Join(base, "outside")
	top := filepath.Join(base, "top")
	tree := filepath.Join(top, "tree")
	for _, dir := range []string{outside, filepath.Join(tree, "locked", "in"), filepath.Join(tree, "\n")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	victim := filepath.Join(outside, "victim")
	write := func(path string, size int) {
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(victim, 3)
	write(filepath.Join(tree, "big"), 1<<20)
	for from, to := range map[string]string{"file": victim, "dir": outside, "up": "../..", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(tree, from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(victim, filepath.Join(tree, "hard")); err != nil {
		t.Fatal(err)
	}
	for i := range 2*treeBatch + 7 {
		write(filepath.Join(tree, "\n", strings.Repeat("x", 1+i%200)+string(rune('a'+i/200))), 0)
	}
	deep(t, tree, 40*treeDepth)
	if err := os.Chmod(filepath.Join(tree, "locked"), 0); err != nil {
		t.Fatal(err)
	}
	d, err := Open(top)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if n, err := d.MeasureTree("big"); n != 0 || err != nil {
		t.Errorf("of nothing: %d, %v", n, err)
	}
	if os.Getuid() == 0 { // else what is locked cannot be measured
		if n, err := d.MeasureTree("tree"); n < 1<<20 || err != nil {
			t.Errorf("measured %d, %v", n, err)
		}
	}
	if n, err := d.RemoveTree("tree"); n < 1<<20 || err != nil {
		t.Errorf("freed %d, %v", n, err)
	}
	if left, err := os.ReadDir(top); len(left) > 0 || err != nil {
		t.Errorf("left: %v, %v", left, err)
	}
	if b, err := os.ReadFile(victim); len(b) != 3 || err != nil {
		t.Errorf("the victim: %q, %v", b, err)
	}
	if st, err := os.Stat(outside); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("outside: %v, %v", st, err)
	}
	if err := os.Symlink(outside, filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.RemoveTree("link"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(victim); err != nil {
		t.Error(err)
	}
}

// deep makes a path that no system call would take as a whole.
func deep(t *testing.T, at string, depth int) {
	t.Helper()
	d, err := Open(at)
	if err != nil {
		t.Fatal(err)
	}
	for range depth {
		next, err := d.Mkdir("deep")
		d.Close()
		if err != nil {
			t.Fatal(err)
		}
		d = next
	}
	d.Close()
}
