package tick

import (
	"context"
	"io"
	"strings"

	"github.com/outerloop-go/outerloop/internal/manual"
)

// exitStatuses ends every help.
const exitStatuses = "Exit status: 0 done; 1 it could not be done, or not all of it; 2 the call is wrong."

// Pages are the manual pages of the program and of the commands that people call,
// the program's first.
func Pages() (pages []*manual.Page) {
	for _, cmd := range append([]command{passCommand()}, commands()...) {
		if cmd.what != "" || cmd.name == "" {
			pages = append(pages, cmd.page())
		}
	}
	return pages
}

// page asks a command for its help, which is what makes it declare its flags.
func (cmd command) page() *manual.Page {
	nowhere := World{nil, io.Discard, io.Discard, func(string) (string, bool) { return "", false }, func() (string, error) { return "", nil }}
	c := newCall(nowhere, cmd)
	_ = cmd.run(context.Background(), c, []string{"--help"})
	p := &manual.Page{
		Name:     c.words(),
		Does:     cmd.what,
		Synopsis: []string{strings.TrimSpace(c.words() + " " + cmd.use)},
		Flags:    c.flagRows(),
		Notes:    exitStatuses,
	}
	details, examples, _ := strings.Cut(cmd.detail, "\nExamples:\n")
	p.Details = details
	for line := range strings.Lines(examples) {
		p.Examples = append(p.Examples, strings.TrimSpace(line))
	}
	switch {
	case strings.Contains(cmd.use, "-- COMMAND"):
		p.Operand = manual.CommandOperand
	case strings.Contains(cmd.use, "RUN"):
		p.Operand = manual.RunOperand
	}
	if cmd.name == "" {
		p.Does = "moves research runs: once from cron, in a loop, or as a Slurm job"
		p.Synopsis = append(p.Synopsis, "outerloop-tick COMMAND [flags]")
		for _, cmd := range commands() {
			if cmd.what != "" {
				p.Commands = append(p.Commands, manual.Command{Name: cmd.name, Does: cmd.what})
			}
		}
	}
	return p
}
