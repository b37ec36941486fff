package verbs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/watcher"
)

// kernelMain is a program that does one thing that a kernel does, on the channel
// of OUTERLOOP_WORKSPACE:
//
//	kernel budget LAUNCHES SLEEPS [GPU-HOURS]  say what is left
//	kernel serve VERB FILE PROGRAM [ARG...]    run the program, and answer the verb with the file meanwhile
//	kernel serve-marker VERB PROGRAM [ARG...]  the same, with the marker alone
//	kernel watch VERB FILE PROGRAM [ARG...]    the same, by a watcher as a leg has one, which logs to standard error
//	kernel request                             read, check, print and consume the committed request
func kernelMain() {
	err := kernel(os.Args[1:])
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
		os.Exit(1)
	}
}

func kernel(args []string) error {
	k, err := channel.OpenKernel(os.Getenv("OUTERLOOP_WORKSPACE"))
	if err != nil {
		return err
	}
	defer k.Close()
	switch {
	case len(args) >= 3 && args[0] == "budget":
		return setBudget(k, args[1:])
	case len(args) >= 4 && args[0] == "serve":
		data, err := os.ReadFile(args[2])
		if err != nil {
			return err
		}
		return serve(k, args[1], data, args[3:])
	case len(args) >= 3 && args[0] == "serve-marker":
		return serve(k, args[1], nil, args[2:])
	case len(args) >= 4 && args[0] == "watch":
		return watch(k, args[1], args[2], args[3:])
	case len(args) == 1 && args[0] == "request":
		return printRequest(k)
	}
	return fmt.Errorf("unknown call %q", args)
}

func setBudget(k *channel.Kernel, args []string) (err error) {
	var b channel.Budget
	if b.Launches, err = strconv.Atoi(args[0]); err != nil {
		return err
	}
	if b.Sleeps, err = strconv.Atoi(args[1]); err != nil {
		return err
	}
	if len(args) == 3 {
		hours, err := strconv.ParseFloat(args[2], 64)
		if err != nil {
			return err
		}
		b.GPUHours = &hours
	}
	return k.WriteBudget(b)
}

// serve answers until the program has ended, however often the marker changes:
// one that is made and then stamped is two questions to whoever looks in between.
// Without data the answer is the marker.
func serve(k *channel.Kernel, verb string, data []byte, program []string) error {
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for {
		stamp, pending, err := k.Pending(verb)
		if err == nil && pending {
			err = k.Answer(verb, stamp, data)
			if data == nil {
				err = os.Remove(filepath.Join(os.Getenv("OUTERLOOP_WORKSPACE"), channel.DirName, verb+".json"))
			}
		}
		if err != nil {
			return errors.Join(err, cmd.Process.Kill(), <-ended)
		}
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Millisecond):
		}
	}
}

// watch reads the file for each question.
func watch(k *channel.Kernel, verb, file string, program []string) error {
	w := watcher.New(watcher.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	defer w.Close()
	if _, err := w.Add(k, map[string]watcher.Handler{verb: func(context.Context) (any, error) {
		data, err := os.ReadFile(file)
		return json.RawMessage(data), err
	}}); err != nil {
		return err
	}
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

func printRequest(k *channel.Kernel) error {
	raw, err := k.ReadCommitted(channel.MaxSleepBytes)
	if err != nil {
		return err
	}
	if _, err := channel.ParseRequest(raw); err != nil {
		return err
	}
	os.Stdout.Write(raw)
	return k.DropCommitted()
}
