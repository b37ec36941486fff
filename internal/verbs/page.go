package verbs

import (
	"maps"
	"slices"
	"strings"

	"github.com/outerloop-go/outerloop/internal/manual"
)

// All builds every verb, by the name of its program. No program of a verb calls it,
// nor Pages: it would link every verb into each of them.
func All() map[string]func() *Verb {
	all := make(map[string]func() *Verb)
	for _, build := range []func() *Verb{
		Cancel, Conclude, Finding, History, Launch, Note, Queue, Reports, Siblings, Sleep, Status, Submit, Sync,
	} {
		all[build().program()] = build
	}
	return all
}

// Pages are the manual pages of all programs, by their names.
func Pages() (pages []*manual.Page) {
	all := All()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pages = append(pages, all[name]().page())
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
