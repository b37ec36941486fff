// Package verbs is what the syscall programs are made of: one file a verb, and
// the glue that they share.
//
// A program is a call of [Main] with one of the constructors below. No list of
// all verbs exists, so a program links its own verb and no other.
package verbs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/outerloop-go/outerloop/internal/version"
)

// Exit statuses of every program.
const (
	exitDone   = 0
	exitFailed = 1 // the call was right, what it asked for could not be had or done
	exitWrong  = 2 // the call itself is wrong, and will be the next time too
)

// Main runs one program on the process's own arguments, streams and
// environment, and returns its exit status.
//
// The working directory is asked of the system alone: os.Getwd would also link
// the search for it from below, by reading directories upward.
func Main(build func() *Verb) int {
	return run(build(), os.Args[1:], world{os.Stdin, os.Stdout, os.Stderr, os.Getenv, syscall.Getwd})
}

// world is what a program has of its process.
type world struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	getwd          func() (string, error)
}

func run(v *Verb, args []string, w world) int {
	rest, err := parse(v, args)
	switch {
	case errors.Is(err, errHelp):
		return finish(v, w, help(v), nil)
	case errors.Is(err, errVersion):
		return finish(v, w, []byte(v.program()+" "+version.Line()+"\n"), nil)
	case err != nil:
		return finish(v, w, nil, err)
	}
	c := &call{verb: v, args: rest, world: w}
	err = v.run(c)
	return finish(v, w, c.out.Bytes(), err)
}

// finish prints what the verb has to say, in one write, and then what went
// wrong. Output that could not be written is a failure: whoever asked will not
// see it.
func finish(v *Verb, w world, out []byte, err error) int {
	if len(out) > 0 {
		if _, printing := w.stdout.Write(out); printing != nil && err == nil {
			err = failed("see that standard output is open and has room; what the verb did stands", "printing: %v", printing)
		}
	}
	if err == nil {
		return exitDone
	}
	f := explain(v, err)
	io.WriteString(w.stderr, f.lines(v))
	if f.wrongCall {
		return exitWrong
	}
	return exitFailed
}

// call is one run of a verb after its flags have been parsed.
type call struct {
	verb *Verb
	args []string // what came after the flags
	world
	out bytes.Buffer // what goes to standard output when the verb has returned
}

// hint tells of something that is no error but may not be what was meant.
func (c *call) hint(text string) {
	io.WriteString(c.stderr, c.verb.program()+": hint: "+text+"\n")
}
