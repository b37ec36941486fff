package local

import (
	"errors"
	"os"
)

// errGone says that no process has the pid, or only the remains of one.
var errGone = errors.New("no such process")

// identity tells a process from every other one that has, had or will have its
// pid.
type identity struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`          // as the system words it; compared, never read
	Boot  string `json:"boot,omitempty"` // where Start counts from the boot
}

// self also finds out whether processes can be told at all. Without /proc every
// shepherd would look dead, and its task would be ended.
func self() (identity, error) { return identify(os.Getpid()) }

// alive says whether the process still runs. A process that has ended and was
// not waited for yet does not. An error means that it is not known.
func (id identity) alive() (bool, error) {
	if id.PID <= 0 {
		return false, nil
	}
	now, err := identify(id.PID)
	if errors.Is(err, errGone) {
		return false, nil
	}
	return now == id, err
}

// signal sends sig to the process if it is still the same one.
func (id identity) signal(sig os.Signal) error {
	// Where the system has descriptors of processes, p holds one, and nobody
	// can slip in under the pid between the look and the signal.
	p, err := os.FindProcess(id.PID)
	if err != nil {
		return err
	}
	defer p.Release()
	if alive, err := id.alive(); err != nil || !alive {
		return err
	}
	if err := p.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
