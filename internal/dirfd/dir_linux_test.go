package dirfd_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/attack"
	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// open opens a fresh directory. At the test's end no descriptor of it may be
// left.
func open(t *testing.T) (*dirfd.Dir, string) {
	t.Helper()
	path := t.TempDir()
	d, err := dirfd.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if n := attack.Descriptors(t, path); n != 0 {
			t.Errorf("%d descriptors are left open", n)
		}
	})
	return d, path
}

// closed gives a directory back whose errors are all that is looked at.
func closed(d *dirfd.Dir, err error) error {
	if err == nil {
		d.Close()
	}
	return err
}

func TestNames(t *testing.T) {
	d, _ := open(t)
	for _, name := range []string{"", ".", "..", "/", "a/b", "../a", "a/", "/etc", "a\x00b"} {
		_, list := d.ReadSmall(name, 1)
		_, _, regular := d.OpenRegular(name)
		_, lstat := d.Lstat(name)
		_, touch := d.Touch(name, time.Time{})
		_, lock := d.Lock(t.Context(), name, -1)
		_, link := d.Readlink(name, 1)
		_, from := d.PublishFrom(name, strings.NewReader(""), 1, 0o666, dirfd.Volatile)
		for op, err := range map[string]error{
			"ReadSmall": list, "OpenRegular": regular, "Lstat": lstat, "Touch": touch, "Lock": lock, "Readlink": link,
			"PublishFrom": from, "Sub": closed(d.Sub(name)), "Mkdir": closed(d.Mkdir(name)),
			"Publish": d.Publish(name, nil, dirfd.Volatile), "Remove": d.Remove(name), "Discard": d.Discard(name),
			"Symlink": d.Symlink("x", name),
		} {
			var path *fs.PathError
			if !errors.Is(err, dirfd.ErrBadName) || !errors.As(err, &path) {
				t.Errorf("%s(%q): %v", op, name, err)
			}
		}
	}
}

func TestSubPlants(t *testing.T) {
	canary := attack.NewCanary(t)
	for _, p := range attack.Plants() {
		t.Run(p.Name, func(t *testing.T) {
			d, path := open(t)
			p.Put(t, path, "x", canary)
			if err := closed(d.Sub("x")); p.Dir != (err == nil) || !p.Dir && !errors.Is(err, dirfd.ErrNotRegular) {
				t.Errorf("Sub: %v", err)
			}
			if err := closed(d.SubPath("x", false)); p.Dir != (err == nil) {
				t.Errorf("SubPath: %v", err)
			}
			if err := closed(d.SubPath("x/y", false)); err == nil {
				t.Error("SubPath went through")
			}
			for _, spelled := range []string{path + "/x", path + "/x/", path + "/x//"} {
				err := closed(dirfd.OpenNoFollow(spelled))
				if p.Dir != (err == nil) || !p.Dir && !errors.Is(err, dirfd.ErrNotRegular) {
					t.Errorf("OpenNoFollow(%s): %v", spelled, err)
				}
			}
			if err := closed(d.SubPath("x/y/z", true)); err != nil {
				t.Errorf("SubPath that makes: %v", err)
			}
		})
	}
	canary.Check(t)
}

func TestOpenRoot(t *testing.T) {
	if err := closed(dirfd.OpenNoFollow("/")); err != nil {
		t.Error(err)
	}
}

func TestSubPath(t *testing.T) {
	d, path := open(t)
	for _, bad := range []string{"/", "a/", "/a", "a//b", "a/../b", "..", "./a"} {
		if err := closed(d.SubPath(bad, true)); !errors.Is(err, dirfd.ErrBadName) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	sub, err := d.SubPath("a/b/c", true)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if sub.Name() != path+"/a/b/c" {
		t.Errorf("name %q", sub.Name())
	}
	self, err := d.SubPath("", false)
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	a, err1 := self.ID()
	b, err2 := d.ID()
	c, err3 := sub.ID()
	if err := errors.Join(err1, err2, err3); err != nil || a != b || a == c {
		t.Errorf("identities %v %v %v (%v)", a, b, c, err)
	}
}

// Everything stays relative to the directory that was opened.
func TestMoved(t *testing.T) {
	d, path := open(t)
	elsewhere := t.TempDir()
	sub, err := d.Mkdir("sub")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if err := os.Rename(path+"/sub", path+"/moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path+"/sub"); err != nil {
		t.Fatal(err)
	}
	if err := sub.Publish("f", []byte("x"), dirfd.Durable); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "/moved/f"); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(path + "/moved"); err != nil {
		t.Fatal(err)
	}
	if err := sub.Publish("f", nil, dirfd.Volatile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a directory that was removed: %v", err)
	}
	if names, more, err := sub.List(10); len(names) != 0 || more || err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("list: %v %v %v", names, more, err)
	}
}

func TestList(t *testing.T) {
	d, path := open(t)
	long := strings.Repeat("n", 255)
	attack.Tree(t, path, "file a x", "dir b", "fifo c", "link d nowhere", "file "+long+" x")
	names, more, err := d.List(5)
	if len(names) != 5 || more || err != nil {
		t.Errorf("%d names, %v, %v", len(names), more, err)
	}
	for _, most := range []int{0, 1, 4} {
		names, more, err := d.List(most)
		if len(names) != most || !more || err != nil {
			t.Errorf("of %d: %d names, %v, %v", most, len(names), more, err)
		}
	}
}

// Close waits for nobody, and the descriptor goes with the last call: no call
// ever works on another file that was given the same number.
func TestCloseWhileCallsRun(t *testing.T) {
	for range min(attack.Rounds(t, 20), 1000) {
		d, path := open(t)
		var group sync.WaitGroup
		for i := range 4 {
			group.Go(func() {
				name := string(rune('a' + i))
				for {
					err := d.Publish(name, []byte(name), dirfd.Volatile)
					if err == nil {
						var text []byte
						if text, err = d.ReadSmall(name, 1); err == nil && string(text) != name {
							t.Errorf("%s holds %q", name, text)
						}
					}
					if errors.Is(err, fs.ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		// Descriptors that come and go all the time take every number that is free.
		stop := attack.Loop(t, func() {
			if f, err := os.Open(os.DevNull); err == nil {
				f.Close()
			}
		})
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		group.Wait()
		stop()
		entries, err := os.ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".tmp-") {
				t.Errorf("%s was left behind", filepath.Join(path, e.Name()))
			}
		}
	}
}

func TestErrors(t *testing.T) {
	d, path := open(t)
	attack.Tree(t, path, "link link x", "file big 12345")
	_, large := d.ReadSmall("big", 4)
	_, missing := d.ReadSmall("missing", 4)
	_, link := d.ReadSmall("link", 4)
	sub := closed(d.Sub("link"))
	for want, err := range map[error]error{dirfd.ErrTooLarge: large, fs.ErrNotExist: missing, dirfd.ErrNotRegular: link} {
		var path *fs.PathError
		if !errors.Is(err, want) || !errors.As(err, &path) || path.Op == "" || path.Path == "" {
			t.Errorf("got %v, want %v in a PathError", err, want)
		}
	}
	if !errors.Is(sub, dirfd.ErrNotRegular) || !strings.Contains(sub.Error(), "directory") {
		t.Errorf("a link where a directory is wanted: %v", sub)
	}
}
