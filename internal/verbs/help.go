package verbs

import (
	"bytes"
	"fmt"
	"strings"
)

// help is the text that --help prints. It has the form of a Go documentation
// comment, and is the one of the program's package, so that the two cannot
// differ; a test compares them.
func help(v *Verb) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "S%s %s.\n\nUsage:\n\n\t%s %s\n\n%s\n\nFlags:\n\n",
		v.program()[1:], v.does, v.program(), v.synopsis, v.details)
	flags := v.flags()
	width := 0
	for _, f := range flags {
		width = max(width, len(f.label()))
	}
	for _, f := range flags {
		fmt.Fprintf(&out, "\t--%-*s  %s\n", width, f.label(), f.usage)
	}
	out.WriteString("\nExamples:\n\n")
	for _, e := range v.examples {
		fmt.Fprintf(&out, "\t%s\n", strings.TrimSpace(v.program()+" "+e))
	}
	out.WriteString("\n" + environment + "\n")
	return out.Bytes()
}

// flags are the verb's options and those of every program.
func (v *Verb) flags() options {
	return append(v.options[:len(v.options):len(v.options)],
		&option{name: "help", usage: "print this and exit"},
		&option{name: "version", usage: "print the version and exit"})
}

func (opt *option) label() string { return strings.TrimSpace(opt.name + " " + opt.value) }

const environment = `The workspace is the one that OUTERLOOP_WORKSPACE names, else the nearest
directory upward that has a channel. The exit status is 0 when all is done, 1
for a failure, and 2 for a wrong call; the cause and a cure are on standard
error.`
