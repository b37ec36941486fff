package engine

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// lifeOnPaper reads the changes of state from docs/lifecycle.md, and the states that it
// describes.
func lifeOnPaper(t *testing.T) (changes []string, states []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/lifecycle.md")
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			columns = nil
		case columns == nil:
			columns = cells
		case strings.HasPrefix(cells[0], "--"):
		case columns[0] == "state":
			states = append(states, cells[0])
		case columns[0] == "from":
			changes = append(changes, cells[0]+" to "+cells[1]+" by "+cells[2])
		}
	}
	return changes, states
}

func TestLifeIsAsItsPageSays(t *testing.T) {
	changes, states := lifeOnPaper(t)
	var want []string
	known := map[State]bool{}
	for _, c := range life() {
		var by []string
		for _, a := range c.by {
			by = append(by, string(a))
		}
		want = append(want, string(c.from)+" to "+string(c.to)+" by "+strings.Join(by, ", "))
		known[c.to] = true
	}
	if !slices.Equal(changes, want) {
		t.Errorf("docs/lifecycle.md has\n%s\nand the program\n%s", strings.Join(changes, "\n"), strings.Join(want, "\n"))
	}
	for _, s := range states {
		if !known[State(s)] {
			t.Errorf("docs/lifecycle.md describes the state %q, which the program does not know", s)
		}
	}
	if len(states) != len(known) {
		t.Errorf("docs/lifecycle.md describes %q, of %d states", states, len(known))
	}
}

func TestRecordKeepsItsStateBeforeAChangeThatThereIsNot(t *testing.T) {
	b := newBench(t)
	r := b.open(t)
	defer r.Close()
	before, err := os.ReadFile(r.path("run.json"))
	if err != nil {
		t.Fatal(err)
	}
	r.State = Parking
	if err := r.save(); err == nil || !strings.Contains(err.Error(), "the leg may not take a run from ready to parking") {
		t.Errorf("ready to parking: %v", err)
	}
	after, err := os.ReadFile(r.path("run.json"))
	if err != nil || string(after) != string(before) {
		t.Errorf("the record is now %s, %v", after, err)
	}
	r.State, r.by = Running, aTick
	if err := r.save(); err == nil || !strings.Contains(err.Error(), "the tick may not take a run from ready to running") {
		t.Errorf("running by a tick: %v", err)
	}
	r.State, r.by = Ended, operator
	if err := r.save(); err != nil {
		t.Fatal(err)
	}
	r.Reason = "another"
	if err := r.save(); err == nil || !strings.Contains(err.Error(), "from ended to ended") {
		t.Errorf("an ended run was saved: %v", err)
	}
}
