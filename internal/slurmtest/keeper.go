package slurmtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// keeperName is the name under which a program starts itself again as a keeper.
const keeperName = "slurm-rig-keeper"

// order is what a keeper is told to do, one JSON value a line.
type order struct {
	Do     string // start, stop, signal, alive
	Daemon Daemon
	Argv   []string       `json:",omitempty"`
	Env    []string       `json:",omitempty"`
	Log    string         `json:",omitempty"`
	Signal syscall.Signal `json:",omitempty"`
}

// reply answers one order; Error is "" if it was carried out.
type reply struct{ Error string }

// keeper is the process that has a cluster's daemons, as its starter sees it.
type keeper struct {
	cmd *exec.Cmd

	mu  sync.Mutex // one order at a time
	in  io.WriteCloser
	out *bufio.Reader
}

// Reenter does the work of a keeper, and does not return, where this process was
// started as one. Every program that starts clusters calls it first.
func Reenter() {
	if os.Args[0] == keeperName {
		os.Exit(keep(os.Args[1], os.Stdin, os.Stdout))
	}
}

// startKeeper starts a keeper that removes dir in the end.
func startKeeper(dir string) (*keeper, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Args = []string{keeperName, dir}
	cmd.Env = baseEnv()
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	// An interrupt from the terminal is for the starter, whose end ends the keeper.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the keeper: %w", err)
	}
	return &keeper{cmd: cmd, in: in, out: bufio.NewReader(out)}, nil
}

// tell gives one order and waits for the reply.
func (k *keeper) tell(o order) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := json.NewEncoder(k.in).Encode(o); err != nil {
		return fmt.Errorf("the keeper is gone: %w", err)
	}
	line, err := k.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the keeper is gone (does the program call slurmtest.Reenter first?): %w", err)
	}
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("the keeper said %q: %w", line, err)
	}
	if r.Error != "" {
		return errors.New(r.Error)
	}
	return nil
}

func (k *keeper) start(d Daemon, argv, env []string, log string) error {
	return k.tell(order{Do: "start", Daemon: d, Argv: argv, Env: env, Log: log})
}

func (k *keeper) stop(d Daemon, sig syscall.Signal) error {
	return k.tell(order{Do: "stop", Daemon: d, Signal: sig})
}

func (k *keeper) signal(d Daemon, sig syscall.Signal) error {
	return k.tell(order{Do: "signal", Daemon: d, Signal: sig})
}

func (k *keeper) alive(d Daemon) error { return k.tell(order{Do: "alive", Daemon: d}) }

// close has the keeper end everything, and waits until it has.
func (k *keeper) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.in.Close()
	if err := k.cmd.Wait(); err != nil {
		return fmt.Errorf("the keeper: %w", err)
	}
	return nil
}
