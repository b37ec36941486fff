package local

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// A name that looks like the rest of the line, as any process may give itself.
func TestParseStat(t *testing.T) {
	tail := " S 12 34 56 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 10 11"
	for _, name := range []string{"sh", "a b", ") Z 1 1 1", "((", ""} {
		p, err := parseStat(99, []byte("99 ("+name+")"+tail))
		want := proc{pid: 99, parent: 12, session: 56, state: 'S', start: 987654}
		if err != nil || p != want {
			t.Errorf("name %q: %+v, %v; want %+v", name, p, err, want)
		}
	}
	for _, bad := range []string{"", "99", "99 (sh)", "99 (sh) S 1", strings.Replace("99 (sh)"+tail, "987654", "x", 1)} {
		if p, err := parseStat(99, []byte(bad)); err == nil {
			t.Errorf("%q: %+v, want an error", bad, p)
		}
	}
}

func TestIdentity(t *testing.T) {
	me, err := self()
	if err != nil {
		t.Fatal(err)
	}
	if alive, err := me.alive(); !alive || err != nil {
		t.Errorf("this process is alive: %v, %v", alive, err)
	}
	if alive, err := (identity{}).alive(); alive || err != nil {
		t.Errorf("nobody is alive: %v, %v", alive, err)
	}
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if id == me {
		t.Error("two processes have one identity")
	}
	in.Close()
	// Not waited for, it becomes a zombie, which counts as dead.
	for {
		alive, err := id.alive()
		if err != nil {
			t.Fatal(err)
		}
		if !alive {
			break
		}
	}
	if _, err := os.Stat("/proc/" + strconv.Itoa(id.PID)); err != nil {
		t.Error("the zombie is gone before it was waited for")
	}
	if err := id.signal(os.Kill); err != nil {
		t.Errorf("signal to the dead: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if err := id.signal(os.Kill); err != nil {
		t.Errorf("signal to the dead: %v", err)
	}
}
