package verbs

// Verb describes one program: its words for people, its flags, and what it does.
// The help text and the program's documentation are made of the same words.
type Verb struct {
	name     string    // as the protocol has it; the program is syscall-<name>
	does     string    // completes "Syscall-<name> …", without the full stop
	synopsis string    // what follows the program's name
	details  string    // paragraphs
	examples [2]string // calls that work, without the program's name
	options  options
	operands operands
	role     string // whose session it is for, "" for everybody's
	run      func(*call) error
}

// operands is what may follow a verb's flags.
type operands int

const (
	noOperands      operands = iota
	textOperands             // words, with or without "--" in front
	commandOperands          // a command, which "--" must announce
)

// The roles of a session, as a kernel may name its own in OUTERLOOP_ROLE.
const (
	author = "author"
	judge  = "judge"
)

func (v *Verb) program() string { return "syscall-" + v.name }
