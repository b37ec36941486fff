package dirfd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/attack"
	"github.com/outerloop-go/outerloop/internal/dirfd"
)

func TestReadSmall(t *testing.T) {
	d, path := open(t)
	for _, size := range []int{0, 1, 511, 512, 513, 4096, 100_000} {
		want := bytes.Repeat([]byte("x"), size)
		if err := os.WriteFile(path+"/f", want, 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := d.ReadSmall("f", int64(size)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d, %v", size, len(got), err)
		}
		if size == 0 {
			continue
		}
		if got, err := d.ReadSmall("f", int64(size-1)); !errors.Is(err, dirfd.ErrTooLarge) || got != nil {
			t.Errorf("one byte over %d: %d, %v", size-1, len(got), err)
		}
	}
}

func TestReadPlants(t *testing.T) {
	canary := attack.NewCanary(t)
	for _, p := range attack.Plants() {
		t.Run(p.Name, func(t *testing.T) {
			d, path := open(t)
			p.Put(t, path, "x", canary)
			const most = 100
			text, err := d.ReadSmall("x", most)
			switch {
			case !p.Own && !errors.Is(err, dirfd.ErrNotRegular):
				t.Errorf("read %.40q, %v", text, err)
			case p.Own && err != nil && !errors.Is(err, dirfd.ErrTooLarge):
				t.Error(err)
			case len(text) > most:
				t.Errorf("%d bytes were read", len(text))
			}
			if _, err := d.Touch("x", time.Unix(5, 0)); !p.Own && !strings.HasPrefix(p.Name, "hard") &&
				!errors.Is(err, dirfd.ErrNotRegular) && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("touch: %v", err)
			}
			if strings.HasPrefix(p.Name, "hard") {
				os.Chtimes(canary.Secret, time.Unix(1e9, 0), time.Unix(1e9, 0)) // undo the session's own doing
			}
		})
	}
	canary.Check(t)
}

// TestAttacker is the process of the races, and on its own does nothing.
func TestAttacker(t *testing.T) { attack.Serve(t) }

// A file that is cut and grown while it is read is whole or refused, and never
// more than the bound.
func TestReadWhileItChanges(t *testing.T) {
	d, path := open(t)
	const most = 5000
	attacker := attack.Start(t, path,
		"file f "+strings.Repeat("b", 3*most), "cut f 17", "file f "+strings.Repeat("s", most), "cut f 4999", "sparse f 4096")
	var seen attack.Outcomes
	deadline := time.Now().Add(time.Minute)
	for n := attack.Rounds(t, 2000); n > 0 || !seen.Seen("read", "refused") && time.Now().Before(deadline); n-- {
		text, err := d.ReadSmall("f", most)
		switch {
		case err == nil && len(text) <= most:
			seen.Add("read")
		case errors.Is(err, dirfd.ErrTooLarge) && text == nil:
			seen.Add("refused")
		default:
			seen.Add(fmt.Sprint(len(text), err))
		}
	}
	attacker.Stop()
	seen.Require(t, "read", "refused")
}

func TestPublish(t *testing.T) {
	d, path := open(t)
	canary := attack.NewCanary(t)
	for _, p := range attack.Plants() {
		for _, durability := range []dirfd.Durability{dirfd.Volatile, dirfd.Durable} {
			p.Put(t, path, "x", canary)
			err := d.Publish("x", []byte("new"), durability)
			if text, readErr := os.ReadFile(path + "/x"); err != nil || readErr != nil || string(text) != "new" {
				t.Errorf("%s: %q, %v, %v", p.Name, text, err, readErr)
			}
		}
	}
	canary.Check(t)
	names, _, err := d.List(100)
	names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, ".discarded-") })
	if err != nil || len(names) != 1 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

func TestPublishFrom(t *testing.T) {
	d, path := open(t)
	defer syscall.Umask(syscall.Umask(0o027))
	size, err := d.PublishFrom("f", strings.NewReader("12345"), 5, 0o777, dirfd.Volatile)
	if size != 5 || err != nil {
		t.Fatal(size, err)
	}
	if info, err := os.Stat(path + "/f"); err != nil || info.Mode() != 0o750 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	broken := errors.New("broken")
	for want, r := range map[error]io.Reader{
		dirfd.ErrTooLarge: strings.NewReader("123456"),
		broken:            io.MultiReader(strings.NewReader("1"), &failing{broken}),
	} {
		if size, err := d.PublishFrom("f", r, 5, 0o666, dirfd.Volatile); size != 0 || !errors.Is(err, want) {
			t.Errorf("%d, %v, want %v", size, err, want)
		}
	}
	if text, err := os.ReadFile(path + "/f"); string(text) != "12345" || err != nil {
		t.Errorf("a publish that failed has changed the file: %q, %v", text, err)
	}
	if names, _, _ := d.List(10); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// A publish that a Close overtakes still ends: the file is in place, and no
// temporary name is left with nobody to remove it.
func TestPublishOvertakenByClose(t *testing.T) {
	for _, broken := range []error{nil, errors.New("broken")} {
		path := t.TempDir()
		d, err := dirfd.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		content := io.MultiReader(strings.NewReader("x"), &closing{d, broken})
		if _, err := d.PublishFrom("f", content, 10, 0o666, dirfd.Volatile); !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != "f" || broken != nil {
				t.Errorf("%s is there", e.Name())
			}
		}
		if err := d.Publish("f", nil, dirfd.Volatile); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if n := attack.Descriptors(t, path); n != 0 {
			t.Errorf("%d descriptors are left open", n)
		}
	}
}

// closing closes the directory that is being published into, then ends.
type closing struct {
	d   *dirfd.Dir
	err error
}

func (c *closing) Read([]byte) (int, error) {
	c.d.Close()
	if c.err != nil {
		return 0, c.err
	}
	return 0, io.EOF
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// A disk that is full is an error, and what stood there before still stands.
func TestPublishOnFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a small filesystem needs root")
	}
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting tmpfs: %v", err)
	}
	defer syscall.Unmount(mount, 0)
	d, err := dirfd.Open(mount)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Publish("f", []byte("whole"), dirfd.Volatile); err != nil {
		t.Fatal(err)
	}
	if err := d.Publish("f", make([]byte, 1<<20), dirfd.Volatile); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	if text, err := d.ReadSmall("f", 100); string(text) != "whole" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if names, _, _ := d.List(10); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func TestDiscard(t *testing.T) {
	canary := attack.NewCanary(t)
	for _, p := range attack.Plants() {
		d, path := open(t)
		p.Put(t, path, "x", canary)
		for range 2 {
			if err := d.Discard("x"); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			if _, err := d.Lstat("x"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", p.Name, err)
			}
		}
	}
	canary.Check(t)
}

func TestTouch(t *testing.T) {
	d, path := open(t)
	for _, at := range []time.Time{
		time.Unix(0, 0), time.Unix(-1, 999_999_999), time.Unix(1_700_000_000, 123_456_789),
		time.Unix(9_223_372_037, 0), time.Unix(15_032_385_535, 1),
	} {
		kept, err := d.Touch("m", at)
		if err != nil {
			t.Fatal(err)
		}
		st, err := d.Lstat("m")
		if err != nil || !st.ModTime.Equal(kept) || !st.Mode.IsRegular() || st.Size != 0 {
			t.Errorf("%v: kept %v, %+v, %v", at, kept, st, err)
		}
		if d := kept.Sub(at); d < -2*time.Second || d > 0 {
			t.Errorf("%v was kept as %v", at, kept)
		}
	}
	// Beyond what the filesystem keeps the time is clamped, or refused.
	for _, sec := range []int64{math.MaxInt64, math.MinInt64, 1 << 40} {
		if kept, err := d.Touch("m", time.Unix(sec, 0)); err == nil {
			if st, err := d.Lstat("m"); err != nil || !st.ModTime.Equal(kept) {
				t.Errorf("%d: kept %v, found %v (%v)", sec, kept, st.ModTime, err)
			}
		}
	}
	if err := os.WriteFile(path+"/full", []byte("content"), 0o666); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	if kept, err := d.Touch("full", time.Time{}); err != nil || before.Sub(kept) > time.Minute {
		t.Errorf("now was kept as %v (%v)", kept, err)
	}
	if text, err := os.ReadFile(path + "/full"); string(text) != "content" || err != nil {
		t.Errorf("touching has changed the content: %q, %v", text, err)
	}
	// A FIFO that somebody reads can be opened for writing, and is no marker.
	attack.Tree(t, path, "fifo pipe")
	reader, err := os.OpenFile(path+"/pipe", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := d.Touch("pipe", time.Time{}); !errors.Is(err, dirfd.ErrNotRegular) {
		t.Errorf("a FIFO: %v", err)
	}
}

func TestLock(t *testing.T) {
	d, _ := open(t)
	unlock, err := d.Lock(t.Context(), "lock", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, wait := range []time.Duration{0, 10 * time.Millisecond} {
		if _, err := d.Lock(t.Context(), "lock", wait); !errors.Is(err, dirfd.ErrLocked) {
			t.Errorf("a second holder: %v", err)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Lock(over, "lock", -1); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	next := make(chan error)
	go func() {
		unlock, err := d.Lock(t.Context(), "lock", -1)
		if err == nil {
			err = unlock()
		}
		next <- err
	}()
	if err := unlock(); err != nil {
		t.Error(err)
	}
	if err := <-next; err != nil {
		t.Errorf("after the unlock: %v", err)
	}
	// A free lock is taken even when the time is over.
	if unlock, err := d.Lock(over, "lock", 0); err != nil {
		t.Error(err)
	} else if err := unlock(); err != nil {
		t.Error(err)
	}
}

func TestReadlink(t *testing.T) {
	d, _ := open(t)
	target := strings.Repeat("t", 300)
	if err := d.Symlink(target, "l"); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Readlink("l", 300); got != target || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := d.Readlink("l", 299); got != "" || !errors.Is(err, dirfd.ErrTooLarge) {
		t.Errorf("%q, %v", got, err)
	}
	if err := d.Symlink("x", "l"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a link: %v", err)
	}
}

func TestLstat(t *testing.T) {
	d, path := open(t)
	canary := attack.NewCanary(t)
	attack.Tree(t, path, "file f x", "dir d", "link l f", "fifo p", "socket s", "hard h f", "hard v "+canary.Secret)
	for name, want := range map[string]fs.FileMode{
		"f": 0, "d": fs.ModeDir, "l": fs.ModeSymlink, "p": fs.ModeNamedPipe, "s": fs.ModeSocket, "h": 0, "v": 0,
	} {
		st, err := d.Lstat(name)
		info, osErr := os.Lstat(filepath.Join(path, name))
		if err != nil || osErr != nil {
			t.Fatal(err, osErr)
		}
		if st.Mode.Type() != want || st.Mode.Perm() != info.Mode().Perm() || st.Size != info.Size() ||
			!st.ModTime.Equal(info.ModTime()) || st.Links != uint64(info.Sys().(*syscall.Stat_t).Nlink) {
			t.Errorf("%s: %+v, os says %v", name, st, info)
		}
	}
	f, st, err := d.OpenRegular("h")
	if err != nil || st.Links != 2 {
		t.Fatalf("%+v, %v", st, err)
	}
	f.Close()
	canary.Check(t)
}
