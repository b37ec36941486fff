// Package tick is the operator's program, outerloop-tick: its commands, their
// flags, and what they print. What they do is package engine's.
package tick

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/sandbox"
	"github.com/outerloop-go/outerloop/internal/version"
)

// Exit statuses of the program.
const (
	exitDone   = 0
	exitFailed = 1 // the call was right, what it asked for could not be done
	exitWrong  = 2 // the call itself is wrong
)

// World is what the program has of its process.
type World struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	LookupEnv      func(string) (string, bool)
	Executable     func() (string, error)
}

// Process is the world of the process that this is.
func Process() World {
	return World{os.Stdin, os.Stdout, os.Stderr, os.LookupEnv, os.Executable}
}

// command is one thing that the program can be told to do.
type command struct {
	name   string
	use    string // the arguments, for the usage line
	what   string // one line for the list
	detail string // the paragraphs of its help
	run    func(ctx context.Context, c *call, args []string) error
}

// commands are the words that may come first; without one of them it is a pass.
func commands() []command {
	return []command{initCommand(), newCommand(), startCommand(), statusCommand(), pageCommand(), logsCommand(), endCommand(), retryCommand(), pruneCommand(), pauseCommand(), resumeCommand(), residentCommand(), legCommand(), jobCommand(), shepherdCommand()}
}

// Main runs the program and returns its exit status.
func Main(args []string, w World) int {
	// Before all else: it starts with every command in a sandbox, and it must
	// not catch the signals that it sets for the program it becomes.
	if len(args) > 0 && args[0] == "shim" {
		return sandbox.Shim(args[1:], w.Stderr)
	}
	cmd := passCommand()
	if len(args) > 0 {
		for _, c := range commands() {
			if c.name == args[0] {
				cmd, args = c, args[1:]
				break
			}
		}
	}
	c := newCall(w, cmd)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return c.report(cmd.run(ctx, c, args))
}

// Getenv is a variable's value, "" where it is not set.
func (w World) Getenv(name string) string {
	value, _ := w.LookupEnv(name)
	return value
}

// call is one run of the program.
type call struct {
	World
	command command
	flags   *flag.FlagSet
	status  int // to exit with where there is no error
}

func newCall(w World, cmd command) *call {
	return &call{World: w, command: cmd, flags: flag.NewFlagSet(cmd.name, flag.ContinueOnError)}
}

// log is for what happened, in the words of package slog, on standard error.
func (c *call) log() *slog.Logger { return slog.New(slog.NewTextHandler(c.Stderr, nil)) }

// words are how the command is called.
func (c *call) words() string { return strings.TrimSpace("outerloop-tick " + c.command.name) }

// failure is an error with its cure. With wrongCall the call can never succeed.
type failure struct {
	cause     error
	cure      string
	wrongCall bool
}

func (f *failure) Error() string { return f.cause.Error() }
func (f *failure) Unwrap() error { return f.cause }

func wrong(cure, cause string, args ...any) error {
	return &failure{fmt.Errorf(cause, args...), cure, true}
}

func failed(cure, cause string, args ...any) error {
	return &failure{fmt.Errorf(cause, args...), cure, false}
}

// report says what went wrong and returns the exit status.
func (c *call) report(err error) int {
	switch {
	case err == nil:
		return c.status
	case errors.Is(err, flag.ErrHelp):
		io.WriteString(c.Stdout, c.help())
		return exitDone
	case errors.Is(err, errVersion):
		fmt.Fprintln(c.Stdout, "outerloop-tick", version.Line())
		return exitDone
	}
	fmt.Fprintf(c.Stderr, "outerloop-tick: error: %v\n", err)
	if f, ok := errors.AsType[*failure](err); ok {
		if f.cure != "" {
			fmt.Fprintf(c.Stderr, "outerloop-tick: hint: %s\n", f.cure)
		}
		if f.wrongCall {
			return exitWrong
		}
	} else if bad, ok := errors.AsType[*engine.SettingsError](err); ok && bad.Cure != "" {
		fmt.Fprintf(c.Stderr, "outerloop-tick: hint: %s\n", bad.Cure)
	}
	return exitFailed
}
