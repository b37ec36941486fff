package tick

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

// errVersion ends the parsing of flags when the version is asked for.
var errVersion = errors.New("the version was asked for")

// help is the text of the command's --help.
func (c *call) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: outerloop-tick %s\n\n%s\n", strings.TrimSpace(c.command.name+" "+c.command.use), c.command.detail)
	if c.command.name == "" {
		b.WriteString("\nCommands:\n")
		for _, cmd := range commands() {
			if cmd.what != "" {
				fmt.Fprintf(&b, "  %-9s %s\n", cmd.name, cmd.what)
			}
		}
	}
	b.WriteString("\nFlags:\n")
	c.flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		line := strings.TrimSpace("--" + f.Name + " " + value)
		if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(&b, "  %-22s %s\n", line, usage)
	})
	return b.String()
}
