package verbs

import (
	"strings"

	"github.com/outerloop-go/outerloop/internal/manual"
)

// Pages are the manual pages of all programs, by their names. No program calls it:
// it would link every verb into each of them.
func Pages() (pages []*manual.Page) {
	for _, build := range []func() *Verb{
		Cancel, Conclude, Finding, History, Launch, Note, Queue, Reports, Siblings, Sleep, Status, Submit,
	} {
		pages = append(pages, build().page())
	}
	return pages
}

func (v *Verb) page() *manual.Page {
	p := &manual.Page{
		Name:     v.program(),
		Does:     v.does,
		Synopsis: []string{strings.TrimSpace(v.program() + " " + v.synopsis)},
		Details:  v.details,
		Notes:    environment,
	}
	for _, opt := range v.flags() {
		p.Flags = append(p.Flags, manual.Flag{Name: opt.name, Value: opt.value, Usage: opt.usage})
	}
	for _, e := range v.examples {
		p.Examples = append(p.Examples, strings.TrimSpace(v.program()+" "+e))
	}
	if v.operands == commandOperands {
		p.Operand = manual.CommandOperand
	}
	return p
}
