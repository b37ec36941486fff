package tick

import (
	"flag"
	"slices"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/nearest"
)

// parse sets the command's flags and returns what follows them.
//
// Flags are written as for package flag and for the verbs: one dash or two, --name
// value or --name=value, up to "--" or the first argument that is none. Package flag
// only sets them: its own errors have one dash and no cure.
func (c *call) parse(args []string) ([]string, error) {
	if c.flags.Lookup("help") == nil { // not yet, in a call that parses what follows an argument too
		c.flags.Bool("help", false, "print this and end")
		c.flags.Bool("version", false, "print the version and end")
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return args[i+1:], nil
		}
		if len(arg) < 2 || arg[0] != '-' {
			return args[i:], nil
		}
		name, value, inline := cutFlag(arg)
		f := c.flags.Lookup(name)
		switch {
		case name == "help" || name == "h":
			return nil, flag.ErrHelp
		case name == "version":
			return nil, errVersion
		case f == nil:
			return nil, c.unknownFlag(args, name)
		case inline:
		case isSwitch(f):
			value = "true"
		case i+1 == len(args) || c.startsFlag(args[i+1]):
			metavar, _ := flag.UnquoteUsage(f)
			return nil, wrong("give it as in --"+name+" "+metavar, "--%s needs a value", name)
		default:
			i++
			value = args[i]
		}
		if err := c.flags.Set(name, value); err != nil {
			return nil, wrong(c.words()+" --help lists the flags", "--%s wants %s, not %q", name, wants(f), value)
		}
	}
	return nil, nil
}

// cutFlag takes one dash or two off, and a value after "=" if there is one.
func cutFlag(arg string) (name, value string, inline bool) {
	return strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
}

// startsFlag says whether an argument is "--" or one of the command's flags, and so
// rather a sign of a forgotten value than the value. A value that must look like one
// is given as --flag=value.
func (c *call) startsFlag(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	name, _, _ := cutFlag(arg)
	return arg == "--" || c.flags.Lookup(name) != nil
}

func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// wants says what a flag's value must be.
func wants(f *flag.Flag) string {
	var value any
	if g, ok := f.Value.(flag.Getter); ok {
		value = g.Get()
	}
	switch value.(type) {
	case bool:
		return "true or false"
	case int:
		return "a whole number"
	case float64:
		return "a number"
	case time.Duration:
		return "a span such as 90m"
	}
	return "another value"
}

func (c *call) unknownFlag(args []string, name string) error {
	var names []string
	c.flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	cure := c.words() + " --help lists the flags"
	if near := nearest.Word(name, names); near != "" {
		cure = "did you mean --" + near + "?"
	} else if call := commandFirst(args); c.command.name == "" && call != "" {
		cure = "flags go after the command: " + call
	}
	return wrong(cure, "there is no flag %q", "--"+name)
}

// commandFirst is a call whose flags stand before the command as it was meant, "" where
// no command is in it.
func commandFirst(args []string) string {
	names := commandNames()
	i := slices.IndexFunc(args, func(arg string) bool { return slices.Contains(names, arg) })
	if i < 0 {
		return ""
	}
	return channel.Quote(slices.Concat([]string{"outerloop-tick", args[i]}, args[:i], args[i+1:]))
}

// unknownCommand is for a call whose first argument that is no flag should be one.
func unknownCommand(args []string, word string) error {
	if slices.Contains(commandNames(), word) {
		return wrong("write "+commandFirst(args), "flags go after the command %s", word)
	}
	cure := "outerloop-tick --help lists the commands"
	if near := nearest.Word(word, commandNames()); near != "" {
		cure = "did you mean outerloop-tick " + near + "?"
	}
	return wrong(cure, "there is no command %q", word)
}

// commandNames are the commands that people call.
func commandNames() (names []string) {
	for _, cmd := range commands() {
		if cmd.what != "" {
			names = append(names, cmd.name)
		}
	}
	return names
}
