package ledger

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	n, err := appendTo(full, 0, endedEvent, []item{{identity{1, "a"}, []byte("{}\n")}})
	if n != 0 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("appendTo = %d, %v; want ENOSPC", n, err)
	}
}

// TestDiskFillsUp has the disk take a part of a record, by a limit on the size
// of files, in a process of its own. No part of it may be left.
func TestDiskFillsUp(t *testing.T) {
	if path := os.Getenv("LEDGER_TEST_LIMITED"); path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		tight := syscall.Rlimit{Cur: 300, Max: limit.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &tight); err != nil {
			t.Fatal(err)
		}
		defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit) // a coverage report is written yet
		long := Submitted{Sleep: 2, Name: "long", Why: strings.Repeat("x", 400), Array: 1, At: at}
		n, err := AppendSubmitted(t.Context(), path, long)
		if n != 0 || !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), path) {
			t.Errorf("AppendSubmitted = %d, %v; want EFBIG and the path", n, err)
		}
		return
	}
	path := newLedger(t)
	mustAppend(t, path, Submitted{Sleep: 1, Name: "a", Array: 1, At: at})
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDiskFillsUp$")
	cmd.Env = append(os.Environ(), "LEDGER_TEST_LIMITED="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Errorf("the ledger now ends in %q", after[len(before):])
	}
}
