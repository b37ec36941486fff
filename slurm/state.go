package slurm

import "strings"

// State is a job's state in Slurm's words: squeue(1), "JOB STATE CODES". A word
// that this package does not know stays as it is and counts as not terminal:
// an unknown state never ends a run.
type State string

// The states that this project itself produces or acts on.
const (
	Pending     State = "PENDING"
	Running     State = "RUNNING"
	Completing  State = "COMPLETING"
	Completed   State = "COMPLETED"
	Failed      State = "FAILED"
	Cancelled   State = "CANCELLED"
	Timeout     State = "TIMEOUT"
	NodeFail    State = "NODE_FAIL"
	OutOfMemory State = "OUT_OF_MEMORY"

	// Unknown is no word of Slurm's: there is, or was, such a job, and how it
	// stands cannot be learnt now.
	Unknown State = "UNKNOWN"
)

// ParseState reads a state as the scheduler prints it: "CANCELLED by 1000",
// which sacct(1) writes, is Cancelled, and a "+" that marks a cut column is
// dropped.
func ParseState(s string) State {
	words := strings.Fields(s)
	if len(words) == 0 {
		return ""
	}
	return State(strings.TrimRight(words[0], "+"))
}

// Terminal says whether a job in this state is over and will not come back by
// itself. REQUEUED, PREEMPTED with requeue and the states that it does not know
// are not terminal here.
func (s State) Terminal() bool {
	switch s {
	case Completed, Failed, Cancelled, Timeout, NodeFail, OutOfMemory,
		"BOOT_FAIL", "DEADLINE", "PREEMPTED", "REVOKED":
		return true
	}
	return false
}

// Outcome is how a job stands.
type Outcome struct {
	State State
	// ExitCode is what the command returned, and nil where the backend does not
	// know it: the job has not ended, or a signal, a limit or its node ended it.
	ExitCode *int
	// Reason says why a job waits, in the scheduler's words, else "".
	Reason string
	// Elapsed is the time the job has run, and Known says whether it could be
	// learnt. What is not known is not refunded. It is not known of a job that
	// was requeued: Slurm counts the last of its runs only.
	Elapsed Duration
	// Token is the one that the job under this id was submitted with, "" where the
	// backend does not know it; see [OtherJob].
	Token string
}

// OtherJob says that the job a backend speaks of, under the id of one that was
// submitted with the token own, is another one: a controller that lost its state
// counts ids from 1 again. What has not the form of own says nothing, for a site may
// write into comments what it likes, and to take a job of ours for another's would
// lose it.
func OtherJob(seen, own string) bool {
	return seen != own && own != "" && len(seen) == len(own)
}
