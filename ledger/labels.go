package ledger

import (
	"io"
	"strings"
)

// Label says what a job in the queue is for.
type Label struct {
	Sleep int
	Name  string // of the launch
	Why   string
	Array int
}

// Labels finds a label by job id.
type Labels map[string]Label

// ReadLabels reads the labels of all jobs that a ledger has. One that does not
// exist has none.
func ReadLabels(path string) (Labels, error) {
	labels := make(Labels)
	err := withFile(path, func(f io.Reader, _ int64) error {
		_, err := scan(f, func(r *record) {
			if r.Event != submittedEvent {
				return
			}
			for _, id := range r.JobIDs {
				labels[id] = Label{r.Sleep, r.Name, r.Why, r.Array}
			}
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return labels, nil
}

// Of returns the label of a job, or of the array job that a task belongs to:
// "7_3" finds "7", as do "7_[4-9%2]", which is how squeue(1) prints the tasks
// that still wait, and "7.batch".
func (l Labels) Of(id string) (Label, bool) {
	if label, ok := l[id]; ok {
		return label, true
	}
	if i := strings.IndexAny(id, "_.+"); i > 0 {
		label, ok := l[id[:i]]
		return label, ok
	}
	return Label{}, false
}
