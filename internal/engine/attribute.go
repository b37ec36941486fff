package engine

import (
	"fmt"
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
		if strings.HasPrefix(row.Name, ResidentName) {
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
		if o == nil {
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

// ResidentName is what the names of resident ticks begin with.
const ResidentName = "outerloop-resident-"

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
