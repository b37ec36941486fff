//go:build linux

package attack

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"
)

// Process is a hostile process that does the same steps again and again, as fast as it can,
// in a directory of the session's. It is a process and no goroutine, since a race detector or
// a scheduler that is shared with the code under test would hold it back in the very moments
// that matter.
type Process struct {
	stop   func()
	counts []uint64 // shared with the process: rounds, then how often each step was done
}

// processEnv is how Start tells the test binary, run once more, that it is the process. Its
// order comes on standard input, which ends with whoever gave it.
const processEnv = "OUTERLOOP_TEST_ATTACK"

// order is what the process is told.
type order struct {
	Root   string
	Counts string // the file that holds the counts
	Steps  []string
}

// Start starts the process, which is this test binary once more in a test named TestAttacker
// that calls [Serve] and nothing else. It has done one round when Start returns, and ends
// with the test. A step that fails is left out of its count and ends nothing, for the code
// under test may have moved what it was about. Steps are the lines of [Tree], and
//
//	swap   A B       exchanges what the two names stand for, in one step
//	move   A B       renames
//	remove A         removes a file, link or empty directory
//	cut    A BYTES   truncates
//	again  A B LINE  plants LINE at B where neither A nor B is of the kind that LINE plants
//	temps  A         moves A to the name of each temporary file, or removes that file
func Start(t testing.TB, root string, steps ...string) *Process {
	t.Helper()
	counts := filepath.Join(t.TempDir(), "counts")
	if err := os.WriteFile(counts, make([]byte, 8*(1+len(steps))), 0o600); err != nil {
		t.Fatal(err)
	}
	shared, err := share(counts)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestAttacker$")
	cmd.Env = append(os.Environ(), processEnv+"=yes")
	cmd.Stderr = os.Stderr
	hold, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(hold).Encode(order{Root: root, Counts: counts, Steps: steps}); err != nil {
		t.Error(err)
	}
	p := &Process{counts: shared, stop: sync.OnceFunc(func() {
		hold.Close()
		cmd.Wait()
	})}
	t.Cleanup(p.stop)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the attacker says %q (%v): is there a TestAttacker in this package?", line, err)
	}
	return p
}

// Stop ends the process and returns how many rounds it has done.
func (p *Process) Stop() (rounds uint64) {
	p.stop()
	return p.Rounds()
}

// Rounds is how often the process has done its steps so far.
func (p *Process) Rounds() uint64 { return atomic.LoadUint64(&p.counts[0]) }

// Done is how often step number i, counted from 0, went well so far.
func (p *Process) Done(i int) uint64 { return atomic.LoadUint64(&p.counts[1+i]) }

// share maps a file of numbers.
func share(path string) ([]uint64, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	raw, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&raw[0])), len(raw)/8), nil
}

// Serve is the process that Start starts, until the test that started it ends. In any other
// process it does nothing.
func Serve(t *testing.T) {
	if os.Getenv(processEnv) == "" {
		return
	}
	var o order
	orders := json.NewDecoder(os.Stdin)
	if err := orders.Decode(&o); err != nil {
		t.Fatal(err)
	}
	counts, err := share(o.Counts)
	if err != nil {
		t.Fatal(err)
	}
	var over atomic.Bool
	go func() { // the end of the test, or of its process, closes this
		orders.Decode(new(order))
		over.Store(true)
	}()
	for round := uint64(1); !over.Load(); round++ {
		for i, line := range o.Steps {
			if step(o.Root, line, round) == nil {
				atomic.AddUint64(&counts[1+i], 1)
			}
		}
		atomic.StoreUint64(&counts[0], round)
		if round == 1 {
			fmt.Println("ready")
		}
	}
}

func step(root, line string, round uint64) error {
	words := strings.Fields(line)
	at := func(i int) string { return filepath.Join(root, words[i]) }
	switch words[0] {
	case "swap":
		return Exchange(at(1), at(2))
	case "move":
		return os.Rename(at(1), at(2))
	case "remove":
		return os.Remove(at(1))
	case "cut":
		size, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			return err
		}
		return os.Truncate(at(1), size)
	case "again":
		_, plant, _ := strings.Cut(line, words[2]+" ")
		return again(root, at(1), at(2), plant)
	case "temps":
		return spoilTemporary(root, at(1), round)
	}
	return grow(root, line)
}

// again plants the line at b where the code under test has got rid of the plant.
func again(root, a, b, line string) error {
	kind, _, _ := strings.Cut(line, " ")
	for _, path := range []string{a, b} {
		if info, err := os.Lstat(path); err == nil && isKind(info, kind) {
			return fs.ErrExist
		}
	}
	if err := os.RemoveAll(b); err != nil {
		return err
	}
	return grow(root, line)
}

// isKind says whether a line of that kind could have made it.
func isKind(info fs.FileInfo, kind string) bool {
	switch kind {
	case "link":
		return info.Mode()&fs.ModeSymlink != 0
	case "fifo":
		return info.Mode()&fs.ModeNamedPipe != 0
	case "socket":
		return info.Mode()&fs.ModeSocket != 0
	case "dir":
		return info.IsDir()
	case "hard":
		return info.Sys().(*syscall.Stat_t).Nlink > 1 && info.Mode().IsRegular()
	}
	return info.Mode().IsRegular()
}

// spoilTemporary finds the temporary files of whoever writes in root by listing it, and puts
// the plant in their places, or takes them away.
func spoilTemporary(root, plant string, round uint64) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".tmp-") {
			continue
		}
		path := filepath.Join(root, e.Name())
		if round%4 == 0 {
			return os.Remove(path)
		}
		return os.Rename(plant, path)
	}
	return fs.ErrNotExist
}
