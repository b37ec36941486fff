package verbs

import (
	"errors"
	"slices"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/nearest"
)

// What parse returns where these were asked for instead of the verb itself.
var (
	errHelp    = errors.New("help asked for")
	errVersion = errors.New("version asked for")
)

// parse sets the verb's options and returns its operands.
//
// Flags are understood as by Go's flag package: one dash or two, --name value or
// --name=value, up to the first argument that is none. Unlike there it is known
// whether "--" was given, without which a command's own flags could not be told
// from the verb's, and every error comes with its cure.
func parse(v *Verb, args []string) (operands []string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return args[i+1:], checkOperands(v, args[i+1:])
		}
		if len(arg) < 2 || arg[0] != '-' {
			if v.operands == commandOperands {
				return nil, forgottenDashes(v, args, i)
			}
			return args[i:], checkOperands(v, args[i:])
		}
		name, value, inline := cutFlag(arg)
		switch name {
		case "help", "h":
			return nil, errHelp
		case "version":
			return nil, errVersion
		}
		opt := v.options.find(name)
		switch {
		case opt == nil:
			return nil, unknownFlag(v, args, i)
		case inline && opt.value == "":
			return nil, wrongCall("give it alone", "--%s takes no value", name)
		case inline || opt.value == "":
		case i+1 == len(args) || startsFlag(v, args[i+1]):
			return nil, wrongCall(usageCure(v), "--%s needs a value", name)
		default:
			i++
			value = args[i]
		}
		if err := opt.set(value); err != nil {
			return nil, wrongCall("give it as in --"+name+" "+opt.value, "--%s wants %v, not %q", name, err, value)
		}
		opt.given = true
	}
	return nil, nil
}

// cutFlag takes one dash or two off, and a value after "=" if there is one.
func cutFlag(arg string) (name, value string, inline bool) {
	return strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
}

// startsFlag says whether an argument is "--" or one of the verb's flags, and
// so rather a sign of a forgotten value than the value. A value that must look
// like one is given as --flag=value.
func startsFlag(v *Verb, arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	name, _, _ := cutFlag(arg)
	return arg == "--" || v.options.find(name) != nil
}

func checkOperands(v *Verb, operands []string) error {
	if v.operands == noOperands && len(operands) > 0 {
		return wrongCall(usageCure(v), "%q is not expected: %s takes flags only", operands[0], v.program())
	}
	return nil
}

// forgottenDashes shows the call as it was probably meant: the command begins at
// the first argument that is neither a flag nor a flag's value.
func forgottenDashes(v *Verb, args []string, command int) error {
	call := append([]string{v.program()}, args[:command]...)
	name := v.options.find("name")
	named := name == nil || name.given
	switch dashes := slices.Index(args[command:], "--"); {
	case dashes == 1 && !named:
		call = append(append(call, "--name"), args[command:]...)
		return wrongCall(channel.Quote(call), "%q is not expected before \"--\"", args[command])
	case dashes > 0:
		return wrongCall(usageCure(v), "%q is not expected before \"--\"", args[command])
	}
	if !named {
		call = append(call, "--name", "NAME")
	}
	call = append(append(call, "--"), args[command:]...)
	return wrongCall(channel.Quote(call), `the command needs "--" in front, or its own flags could not be told from this program's`)
}

// unknownFlag shows the call with the flag that was probably meant.
func unknownFlag(v *Verb, args []string, at int) error {
	name, _, inline := cutFlag(args[at])
	flag, value, _ := strings.Cut(args[at], "=")
	cure := "the flags are --" + strings.Join(v.options.names(), ", --")
	if near := nearest.Word(name, v.options.names()); near != "" {
		near = "--" + near
		if inline {
			near += "=" + value
		}
		cure = "did you mean: " + channel.Quote(slices.Concat([]string{v.program()}, args[:at], []string{near}, args[at+1:]))
	} else if v.operands == textOperands {
		cure = `text that begins with a dash goes after "--": ` + channel.Quote([]string{v.program(), "--", args[at]})
	}
	return wrongCall(cure, "there is no flag %q", flag)
}

func usageCure(v *Verb) string { return strings.TrimSpace("usage: " + v.program() + " " + v.synopsis) }
