package tick

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/outerloop-go/outerloop/internal/manual"
)

// errVersion ends the parsing of flags when the version is asked for.
var errVersion = errors.New("the version was asked for")

// help is the text of the command's --help.
func (c *call) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n", strings.TrimSpace(c.words()+" "+c.command.use))
	if c.command.name == "" {
		b.WriteString("       outerloop-tick COMMAND [flags]\n")
	}
	fmt.Fprintf(&b, "\n%s\n", c.command.detail)
	if c.command.name == "" {
		b.WriteString("\nCommands; COMMAND --help says more:\n")
		for _, cmd := range commands() {
			if cmd.what != "" {
				fmt.Fprintf(&b, "  %-9s %s\n", cmd.name, cmd.what)
			}
		}
	}
	b.WriteString("\nFlags:\n")
	c.flagList(&b)
	if c.command.what != "" || c.command.name == "" {
		b.WriteString("\n" + exitStatuses + "\n")
	}
	return b.String()
}

func (c *call) flagList(b *strings.Builder) {
	var rows [][2]string
	width := 0
	for _, f := range c.flagRows() {
		row := [2]string{strings.TrimSpace("--" + f.Name + " " + f.Value), f.Usage}
		rows = append(rows, row)
		width = max(width, len(row[0]))
	}
	for _, row := range rows {
		fmt.Fprintf(b, "  %-*s  %s\n", width, row[0], row[1])
	}
}

// flagRows are the command's flags with their defaults, once it has declared them.
func (c *call) flagRows() (rows []manual.Flag) {
	c.flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		if isSwitch(f) {
			value = ""
		}
		if def := span(f.DefValue); !slices.Contains([]string{"", "0", "-1", "false"}, def) {
			usage += fmt.Sprintf(" (default %s)", def)
		}
		rows = append(rows, manual.Flag{Name: f.Name, Value: value, Usage: usage})
	})
	return rows
}

// span writes a span of whole hours or minutes as people do, 1h for 1h0m0s, and leaves
// other texts as they are.
func span(text string) string {
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
