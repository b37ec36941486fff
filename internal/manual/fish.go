package manual

import (
	"bytes"
	"fmt"
	"strings"
)

// Fish writes the completion of one program, whose pages are given: its own, and one
// for each of its commands.
func Fish(pages []*Page) []byte {
	program := pages[0].program()
	var b bytes.Buffer
	fmt.Fprintf(&b, "# fish completion for %s, made from its --help\n", program)
	fmt.Fprintf(&b, "complete -c %s -f\n", program)
	var commands []string
	for _, c := range pages[0].Commands {
		commands = append(commands, c.Name)
	}
	none := "not __fish_seen_subcommand_from " + strings.Join(commands, " ")
	for _, c := range pages[0].Commands {
		fmt.Fprintf(&b, "complete -c %s -n %s -a %s -d %s\n", program, fishQuote(none), c.Name, fishQuote(c.Does))
	}
	for _, p := range pages {
		condition := ""
		switch {
		case p.command() != "":
			condition = " -n " + fishQuote("__fish_seen_subcommand_from "+p.command())
		case len(commands) > 0:
			condition = " -n " + fishQuote(none)
		}
		for _, f := range p.Flags {
			takes := ""
			switch {
			case f.takesFile():
				takes = " -r -F"
			case f.Value != "":
				takes = " -x"
			}
			fmt.Fprintf(&b, "complete -c %s%s -l %s%s -d %s\n", program, condition, f.Name, takes, fishQuote(f.Usage))
		}
		switch p.Operand {
		case RunOperand:
			fmt.Fprintf(&b, "complete -c %s%s -a %s\n", program, condition,
				fishQuote(`(set -q OUTERLOOP_ROOT; and command ls $OUTERLOOP_ROOT/runs 2>/dev/null; or command ls ~/.outerloop/runs 2>/dev/null)`))
		case CommandOperand:
			fmt.Fprintf(&b, "complete -c %s -n %s -a %s\n", program, fishQuote("contains -- -- (commandline -opc)"),
				fishQuote("(__fish_complete_subcommand --commandline (string split -m 1 -- ' -- ' (commandline -cp))[2])"))
		}
	}
	return b.Bytes()
}

func fishQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
