package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/outerloop-go/outerloop/ledger"
	"github.com/outerloop-go/outerloop/slurm"
	"github.com/outerloop-go/outerloop/watcher"
)

// attribute picks the rows of the queue that belong to runs of the state root,
// and says whose they are and what for; the others are counted in one line. Each
// run's files are read once.
func attribute(root Root, rows []slurm.Row) []watcher.Job {
	owners := make(map[string]*owner)
	var jobs []watcher.Job
	others := 0
	for _, row := range rows {
		if row.Name == root.ResidentName() {
			jobs = append(jobs, watcher.Job{Row: row, Kind: "resident"})
			continue
		}
		run, kind, what, ok := parseJobName(row.Name)
		if !ok {
			others++
			continue
		}
		o, seen := owners[run]
		if !seen {
			o = readOwner(root, run)
			owners[run] = o
		}
		if !o.has(row) {
			others++
			continue
		}
		job := watcher.Job{Row: row, RunID: run, Agent: o.record.Agent, Kind: kind}
		if kind == kindLaunch {
			job.Experiment = what
			job.Why = o.why(row.ID, what)
		}
		jobs = append(jobs, job)
	}
	if others > 0 {
		// Their names are no business of an author's; that they are there says
		// why its own jobs wait.
		jobs = append(jobs, watcher.Job{Kind: fmt.Sprintf("%d more of the account, of no run here", others)})
	}
	return jobs
}

// ResidentName is how the resident tick of the state root is called in the queue. It is
// the root's own, so that two of them do not shut each other out.
func (r Root) ResidentName() string {
	sum := sha256.Sum256([]byte(r.Path()))
	return "outerloop-resident-" + hex.EncodeToString(sum[:4])
}

// parseJobName takes a job's name apart that [Run.jobName] has made. Run ids
// cannot hold the words that separate the parts.
func parseJobName(name string) (run, kind, what string, ok bool) {
	for _, kind := range jobKinds {
		if run, what, ok := strings.Cut(name, "-"+kind+"-"); ok && checkRunID(run) == nil {
			return run, kind, what, true
		}
	}
	return "", "", "", false
}

// owner is what the queue view shows of a run.
type owner struct {
	record Record
	labels ledger.Labels
}

// readOwner returns nil where the run is none of this state root.
func readOwner(root Root, run string) *owner {
	dir := root.RunDir(run)
	rec, err := loadRecord(dir, run)
	if err != nil {
		return nil
	}
	// A ledger that cannot be read costs the whys and nothing else.
	labels, _ := ledger.ReadLabels(ledgerPath(dir))
	return &owner{rec, labels}
}

// has says whether a job that bears the run's name is the run's. Another state root of the
// same account may have a run of that name; its jobs have tokens and ids that are not in
// this run's record and ledger.
func (o *owner) has(row slurm.Row) bool {
	if o == nil {
		return false
	}
	if _, launched := o.labels.Of(row.ID); launched {
		return true
	}
	own := []*Submission{&o.record.Wake}
	if o.record.Sleep != nil {
		own = append(own, o.record.Sleep.submissions()...)
	}
	id, _, _ := strings.Cut(row.ID, "_")
	return slices.ContainsFunc(own, func(s *Submission) bool {
		return s.Token != "" && s.Token == row.Token || s.ID != "" && s.ID == id && !slurm.OtherJob(row.Token, s.Token)
	})
}

// why finds the author's words in the ledger, or in the sleep that is going in:
// a job's row is there before the ledger's record of it is.
func (o *owner) why(id, launch string) string {
	if label, ok := o.labels.Of(id); ok {
		return label.Why
	}
	if o.record.Sleep == nil {
		return ""
	}
	for _, l := range o.record.Sleep.Launches {
		if l.Name == launch {
			return l.Why
		}
	}
	return ""
}
