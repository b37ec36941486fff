// Slurmrig runs a command against a Slurm cluster that exists only for as long as
// the command runs.
//
//	slurmrig [--accounting] [--] COMMAND [ARGUMENT...]
//
// The command sees its own environment and SLURM_CONF. Slurmrig exits as the command
// does, 2 for a wrong call, and 1 where no cluster could be started.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/outerloop-go/outerloop/internal/slurmtest"
)

func main() {
	slurmtest.Reenter()
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	flags := flag.NewFlagSet("slurmrig", flag.ContinueOnError)
	var opt slurmtest.Options
	flags.BoolVar(&opt.Accounting, "accounting", false, "with an accounting database")
	flags.IntVar(&opt.CPUs, "cpus", 0, "CPUs of the node (0: 16)")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "slurmrig: error: no command\nslurmrig: hint: slurmrig [--accounting] -- COMMAND [ARGUMENT...]")
		return 2
	}
	// The command gets an interrupt from the terminal as well and decides; this
	// process has to stay and close the cluster.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	code, err := inside(opt, flags.Args(), signals)
	if err != nil {
		fmt.Fprintf(os.Stderr, "slurmrig: error: %v\n", err)
		return 1
	}
	return code
}

// inside runs a command while a cluster is up and returns its exit status.
func inside(opt slurmtest.Options, command []string, signals <-chan os.Signal) (code int, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := make(chan struct{})
	cmd := exec.Command(command[0], command[1:]...)
	go func() {
		for sig := range signals {
			select {
			case <-started:
				cmd.Process.Signal(sig)
			default:
				cancel() // nothing runs yet
			}
		}
	}()
	c, err := slurmtest.Start(ctx, opt)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	cmd.Env = append(os.Environ(), c.Env()...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	close(started)
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if code := exit.ExitCode(); code >= 0 {
			return code, nil
		}
	}
	return 0, err
}
