package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/sandbox"
)

// State is where a run stands in its life; see the package's documentation.
type State string

// The states of a run.
const (
	Ready   State = "ready"
	Parked  State = "parked"
	Running State = "running"
	Parking State = "parking"
	Ended   State = "ended"
)

// Outcome is how a run ended.
type Outcome string

// The outcomes of a run.
const (
	Submitted Outcome = "submitted" // a submit, and no gate to pass
	Accepted  Outcome = "accepted"  // a submit that the gate let through
	Concluded Outcome = "concluded" // a judge gave its verdict
	Finished  Outcome = "finished"  // the author ended without a request
	Failed    Outcome = "failed"    // the session's program failed, or ran into its walltime; or a judge gave no verdict
	Stuck     Outcome = "stuck"     // it could not get on; the reason says why
	Canceled  Outcome = "cancelled" // by the operator. Spelled as Slurm does
)

// recordVersion is the version of run.json that this program writes and knows.
const recordVersion = 1

// Record is what run.json holds: all that has to be known to take a run on.
type Record struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Settings

	State   State  `json:"state"`
	Leg     int    `json:"leg"`     // the leg that runs, or the next
	Session string `json:"session"` // one UUID for the whole run
	Budget  Budget `json:"budget"`  // what is left
	Sleeps  int    `json:"sleeps"`  // how many there were

	Wake      Submission `json:"wake"`                 // the job that starts Leg
	Attempts  int        `json:"attempts,omitempty"`   // of the present step, in a row, that failed
	NotBefore time.Time  `json:"not_before,omitzero"`  // when it is to be taken again
	LastError string     `json:"last_error,omitempty"` // why the last one failed
	Refusals  int        `json:"refusals,omitempty"`   // requests in a row that were refused
	Sleep     *Sleep     `json:"sleep,omitempty"`      // whose jobs are out, or going in

	Outcome Outcome    `json:"outcome,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	EndedAt *time.Time `json:"ended_at,omitempty"`
	Commit  string     `json:"commit,omitempty"` // the seal that was submitted

	Verdict *VerdictCount `json:"verdict,omitempty"` // of a judge's run that has concluded
}

// Settings are what the operator chose when the run was made.
type Settings struct {
	Agent       string       `json:"agent"`
	Workspace   string       `json:"workspace"`
	Judges      []Judged     `json:"judges,omitempty"` // of a judge's run; none of an author's
	Command     []string     `json:"command"`          // the session's
	Sandbox     sandbox.Kind `json:"sandbox"`          // of legs and jobs, for the whole of the run's life
	Read        []string     `json:"read,omitempty"`
	Network     bool         `json:"network,omitempty"`
	Origin      string       `json:"origin,omitempty"` // the repository that syscall-sync fetches
	LegTime     Duration     `json:"leg_time"`         // walltime of a leg
	Gate        string       `json:"gate,omitempty"`   // for sh -c, on the seal; none ends the run at its submit
	GateMinutes int          `json:"gate_minutes,omitempty"`
	CPUs        int          `json:"cpus"` // of a task of a launch
	MemoryMB    int          `json:"memory_mb,omitempty"`
	GPUs        int          `json:"gpus,omitempty"`
	MaxGPUs     int          `json:"max_gpus,omitempty"` // at once in one sweep, 0 for no bound
}

// Budget counts what a run may still ask for.
type Budget struct {
	Launches int      `json:"launches"`
	Sleeps   int      `json:"sleeps"`
	GPUHours *float64 `json:"gpu_hours,omitempty"` // nil for no bound
}

// Duration is a span that is written as Go and people write it: "1h30m0s".
type Duration struct{ time.Duration }

// MarshalText writes the span.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads it.
func (d *Duration) UnmarshalText(text []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(text))
	return err
}

// minutes is the span in whole minutes, rounded up, as schedulers want it.
func (d Duration) minutes() int { return int((d.Duration + time.Minute - 1) / time.Minute) }

// Submission is one job, from the intent to submit it on. The token is saved
// before the job goes in; with a token and no id it may or may not be in, and
// the backend is asked before it is tried again.
type Submission struct {
	Token   string    `json:"token,omitempty"`
	ID      string    `json:"id,omitempty"`
	Refused string    `json:"refused,omitempty"` // the scheduler's words, where it would not have the job
	At      time.Time `json:"at,omitzero"`
}

// Sleep is a request that was accepted.
type Sleep struct {
	Number   int       `json:"number"` // counted from 1
	At       time.Time `json:"at"`
	Commit   string    `json:"commit"`             // the seal that its jobs run on
	LeftOut  []string  `json:"left_out,omitempty"` // of the seal, and why
	Note     string    `json:"note,omitempty"`
	Launches []Launch  `json:"launches"`
	Submit   bool      `json:"submit,omitempty"`
	Gate     *Gate     `json:"gate,omitempty"`
	Deadline time.Time `json:"deadline"` // the wake comes by then, whatever the jobs do
}

// Launch is one launch of a sleep and its job.
type Launch struct {
	channel.Launch
	Job Submission `json:"job"`
}

// Gate is the measurement of a submit.
type Gate struct {
	Minutes int        `json:"minutes"`
	Attempt int        `json:"attempt,omitempty"` // counted from 0
	Job     Submission `json:"job"`
}

// sweep says whether the launch runs as an array job.
func (l *Launch) sweep() bool { return l.Array > 1 }

// tasks is the array width that the backend is asked for, 0 for no array.
func (l *Launch) tasks() int {
	if l.sweep() {
		return l.Array
	}
	return 0
}

// submissions lists every job of the sleep.
func (s *Sleep) submissions() []*Submission {
	var all []*Submission
	for i := range s.Launches {
		all = append(all, &s.Launches[i].Job)
	}
	if s.Gate != nil {
		all = append(all, &s.Gate.Job)
	}
	return all
}

// jobIDs are the ids of the sleep's jobs that went in.
func (s *Sleep) jobIDs() []string {
	var ids []string
	for _, job := range s.submissions() {
		if job.ID != "" {
			ids = append(ids, job.ID)
		}
	}
	return ids
}

// checkRunID refuses what cannot name a run. The id becomes part of job names,
// <run>-launch-<name>, and must not make them ambiguous.
func checkRunID(id string) error {
	if channel.CheckName(id) != nil {
		return fmt.Errorf("%q cannot name a run: use 1 to 32 of a-z, 0-9 and '-', beginning with a letter or a digit", id)
	}
	for _, kind := range jobKinds {
		if strings.Contains(id+"-", "-"+kind+"-") {
			return fmt.Errorf("%q cannot name a run: -%s- is what job names are told apart by", id, kind)
		}
	}
	return nil
}

var jobKinds = [...]string{kindLaunch, kindWake, kindLeg, kindEval}

// What a job is, as its name and the queue view say it.
const (
	kindLaunch = "launch"
	kindWake   = "wake"
	kindLeg    = "leg"
	kindEval   = "eval"
)
