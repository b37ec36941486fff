// Package manual turns what the programs say of themselves into manual pages and
// shell completions.
//
// There is one source: the words and flags that a program's --help prints. A [Page]
// is those, as data; package verbs and package tick hand theirs out. Nothing here is
// written by hand a second time, so no page can name a flag that is not there.
package manual

import "strings"

// Page is what one program, or one command of a program, says of itself.
type Page struct {
	Name     string    // as it is called: "syscall-launch", "outerloop-tick new"
	Does     string    // one line, without the full stop: "stages a launch"
	Synopsis []string  // calls, with the name
	Details  string    // paragraphs; a line that starts with white space is verbatim
	Examples []string  // calls that work, with the name
	Flags    []Flag    // in the order in which --help lists them
	Operand  Operand   // what may follow the flags
	Commands []Command // what may come first, for a program that has commands
	Notes    string    // on environment and exit status, in the form of Details
}

// Flag is one flag of a page.
type Flag struct {
	Name  string // without dashes
	Value string // what its value is called, "" for a flag without one
	Usage string
}

// Command is a command of a program that has several, in one line.
type Command struct{ Name, Does string }

// Operand says what completes an argument that is no flag.
type Operand int

const (
	NoOperand      Operand = iota
	CommandOperand         // a command line of the caller's, after "--"
	RunOperand             // the name of a run in the state root
)

// File is the page's name in section 1: words joined by dashes, the way in which
// man(1) itself joins the words of "man outerloop-tick new".
func (p *Page) File() string { return strings.ReplaceAll(p.Name, " ", "-") + ".1" }

// program is the page's program, command its command or "".
func (p *Page) program() string { name, _, _ := strings.Cut(p.Name, " "); return name }
func (p *Page) command() string { _, name, _ := strings.Cut(p.Name, " "); return name }

// takesFile says whether a flag's value is a path, by the name that the help gives it.
func (f *Flag) takesFile() bool {
	switch f.Value {
	case "FILE", "DIR", "PATH":
		return true
	}
	return false
}
