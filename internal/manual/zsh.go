package manual

import (
	"bytes"
	"fmt"
	"strings"
)

// Zsh writes the completion of one program, whose pages are given: its own, and one
// for each of its commands. The file's name has to be "_" and the program's.
func Zsh(pages []*Page) []byte {
	program := pages[0].program()
	function := "_" + program
	var b bytes.Buffer
	fmt.Fprintf(&b, "#compdef %s\n# zsh completion for %s, made from its --help\n\n", program, program)
	fmt.Fprintf(&b, "%s_runs() {\n\tlocal -a runs\n\truns=(${OUTERLOOP_ROOT:-$HOME/.outerloop}/runs/*(N:t))\n\tcompadd -a runs\n}\n\n", function)
	fmt.Fprintf(&b, "%s() {\n\tlocal command=\n", function)
	if len(pages) > 1 {
		b.WriteString("\tif (( CURRENT > 2 )) && [[ $words[2] != -* ]]; then\n\t\tcommand=$words[2]\n\t\tshift words\n\t\t(( CURRENT-- ))\n\tfi\n")
	}
	b.WriteString("\tcase $command in\n")
	for _, p := range pages {
		fmt.Fprintf(&b, "\t(%s)\n\t\t_arguments -S", shellWord(p.command()))
		for _, f := range p.Flags {
			fmt.Fprintf(&b, " \\\n\t\t\t%s", shellQuote(zshFlag(f)))
		}
		switch {
		case len(p.Commands) > 0:
			var list []string
			for _, c := range p.Commands {
				list = append(list, fmt.Sprintf(`%s\:%s`, c.Name, zshWord(c.Does)))
			}
			fmt.Fprintf(&b, " \\\n\t\t\t%s", shellQuote("1:command:(("+strings.Join(list, " ")+"))"))
		case p.Operand == RunOperand:
			fmt.Fprintf(&b, " \\\n\t\t\t%s", shellQuote("*:run:"+function+"_runs"))
		case p.Operand == CommandOperand:
			fmt.Fprintf(&b, " \\\n\t\t\t%s", shellQuote("*::command:_normal"))
		}
		b.WriteString("\n\t\t;;\n")
	}
	fmt.Fprintf(&b, "\tesac\n}\n\n%s \"$@\"\n", function)
	return b.Bytes()
}

// zshFlag is a flag as _arguments describes it.
func zshFlag(f Flag) string {
	spec := "*--" + f.Name + "[" + zshText(f.Usage) + "]"
	switch {
	case f.Value == "":
		return spec
	case f.takesFile():
		return spec + ":" + zshText(f.Value) + ":_files"
	}
	return spec + ":" + zshText(f.Value) + ": "
}

// zshText takes the meaning that _arguments would see in a text.
func zshText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, ":", `\:`).Replace(text)
}

// zshWord is a text as one word where _arguments evaluates what it was given.
func zshWord(text string) string {
	var b strings.Builder
	for _, r := range text {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
