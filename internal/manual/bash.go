package manual

import (
	"bytes"
	"fmt"
	"strings"
)

// Bash writes the completion of one program, whose pages are given: its own, and one
// for each of its commands.
func Bash(pages []*Page) []byte {
	program := pages[0].program()
	function := "_" + strings.ReplaceAll(program, "-", "_")
	var b bytes.Buffer
	fmt.Fprintf(&b, "# bash completion for %s, made from its --help\n%s() {\n", program, function)
	b.WriteString(`	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= flags= files= values= run= commands= i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		# What follows -- is a command line of its own.
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			COMPREPLY=($(compgen -f -- "$cur"))
			return
		fi
	done
`)
	if len(pages) > 1 {
		b.WriteString("\t[[ ${COMP_WORDS[1]} == -* || $COMP_CWORD == 1 ]] || command=${COMP_WORDS[1]}\n")
	}
	b.WriteString("\tcase $command in\n")
	for _, p := range pages {
		fmt.Fprintf(&b, "\t%s)\n", shellWord(p.command()))
		fmt.Fprintf(&b, "\t\tflags=%s\n", shellQuote(strings.Join(dashed(p.Flags, func(Flag) bool { return true }), " ")))
		fmt.Fprintf(&b, "\t\tfiles=%s\n", shellQuote(strings.Join(dashed(p.Flags, func(f Flag) bool { return f.takesFile() }), " ")))
		fmt.Fprintf(&b, "\t\tvalues=%s\n", shellQuote(strings.Join(dashed(p.Flags, func(f Flag) bool { return f.Value != "" }), " ")))
		if p.Operand == RunOperand {
			b.WriteString("\t\trun=yes\n")
		}
		var names []string
		for _, c := range p.Commands {
			names = append(names, c.Name)
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "\t\tcommands=%s\n", shellQuote(strings.Join(names, " ")))
		}
		b.WriteString("\t\t;;\n")
	}
	b.WriteString(`	esac
	if [[ " $files " == *" $prev "* ]]; then
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -- "$cur"))
	elif [[ " $values " == *" $prev "* ]]; then
		return
	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$flags" -- "$cur"))
	elif [[ -n $commands && $COMP_CWORD == 1 ]]; then
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
	elif [[ -n $run ]]; then
		COMPREPLY=($(compgen -W "$(ls "${OUTERLOOP_ROOT:-$HOME/.outerloop}/runs" 2>/dev/null)" -- "$cur"))
	fi
`)
	fmt.Fprintf(&b, "}\ncomplete -F %s %s\n", function, program)
	return b.Bytes()
}

// dashed are the flags as they are written, of those that match.
func dashed(flags []Flag, match func(Flag) bool) (names []string) {
	for _, f := range flags {
		if match(f) {
			names = append(names, "--"+f.Name)
		}
	}
	return names
}

// shellQuote is the text as one word of any shell here.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// shellWord is a pattern of case for a word, also for the empty one.
func shellWord(word string) string {
	if word == "" {
		return "''"
	}
	return word
}
