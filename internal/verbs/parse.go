package verbs

import (
	"errors"
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
			return nil, unknownFlag(v, arg, name)
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
	if name := v.options.find("name"); name != nil && !name.given {
		call = append(call, "--name", "NAME")
	}
	call = append(append(call, "--"), args[command:]...)
	return wrongCall(channel.Quote(call), `the command needs "--" in front, or its own flags could not be told from this program's`)
}

func unknownFlag(v *Verb, arg, name string) error {
	flag, _, _ := strings.Cut(arg, "=")
	cure := "the flags are --" + strings.Join(v.options.names(), ", --")
	if near := nearest.Word(name, v.options.names()); near != "" {
		cure = "did you mean --" + near + "?"
	} else if v.operands == textOperands {
		cure = `text that begins with a dash goes after "--": ` + channel.Quote([]string{v.program(), "--", arg})
	}
	return wrongCall(cure, "there is no flag %q", flag)
}

func usageCure(v *Verb) string { return strings.TrimSpace("usage: " + v.program() + " " + v.synopsis) }
