package channel

import "time"

// QueueAnswer is what queue.json holds: the jobs of every agent of the state
// root. Strings of a job are the scheduler's own words, and Why is the words of
// the agent that launched it: data, whoever reads it.
type QueueAnswer struct {
	At     float64    `json:"at"` // when the data was had
	RunID  string     `json:"run_id"`
	Agent  string     `json:"agent"`
	Jobs   []QueueJob `json:"jobs"` // at most [MaxQueueJobs]
	Lane   Lane       `json:"lane"`
	Error  string     `json:"error"`            // why the queue could not be had, else ""
	Cached bool       `json:"cached,omitempty"` // served again inside the query gap
}

// QueueJob is one job, or one task of a sweep.
type QueueJob struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	State       string `json:"state"`
	Elapsed     string `json:"elapsed"`
	Partition   string `json:"partition"`
	Submitted   string `json:"submitted"`
	Reason      string `json:"reason"`
	GRES        string `json:"gres"`
	Limit       string `json:"limit"`
	Agent       string `json:"agent"`
	RunID       string `json:"run_id"`
	Mine        bool   `json:"mine"`       // of the run that asked
	Experiment  string `json:"experiment"` // the launch's name, or ""
	Why         string `json:"why"`
	Kind        string `json:"kind"` // launch, wake, eval, tick, resident, or the job's name
	Concurrency int    `json:"concurrency,omitempty"`
}

// Lane is the node states of the lane; the zero Lane is written as {}.
type Lane struct {
	Partition string         `json:"partition,omitempty"`
	Nodes     map[string]int `json:"nodes,omitempty"`
	Error     string         `json:"error,omitempty"`
}

// HistoryAnswer is what history.json holds: the run's launches, oldest first.
type HistoryAnswer struct {
	At      float64        `json:"at"`
	RunID   string         `json:"run_id"`
	History []HistoryEntry `json:"history"`
	Error   string         `json:"error,omitempty"` // why the history could not be had
}

// SyncVerb asks for fresh origin/* references. A kernel that keeps to the older form of
// the protocol brings them and answers with the marker alone.
const SyncVerb = "sync"

// SyncAnswer is what sync.json holds once origin/* is fresh.
type SyncAnswer struct {
	At       float64 `json:"at"`
	Branches int     `json:"branches"`        // how many there are
	Moved    []Moved `json:"moved"`           // at most [MaxMoved], in the order of their names
	Error    string  `json:"error,omitempty"` // why origin/* is as it was
}

// Moved is a branch of origin that was at another commit before, or not there, or is no
// more.
type Moved struct {
	Branch string `json:"branch"`
	Commit string `json:"commit"` // "" where the branch is gone
	Was    string `json:"was"`    // "" where it is new
}

// HistoryEntry is one launch.
type HistoryEntry struct {
	Sleep       int          `json:"sleep"`
	Name        string       `json:"name"`
	Why         string       `json:"why"`
	Minutes     int          `json:"minutes"`
	Array       int          `json:"array"`
	JobIDs      []string     `json:"job_ids"`
	SubmittedAt float64      `json:"submitted_at"`
	Jobs        []HistoryJob `json:"jobs"` // those that came back
}

// HistoryJob is one job of a launch that came back.
type HistoryJob struct {
	Name     string  `json:"name"`      // <launch>, or <launch>.<i> for a task
	ExitCode *int    `json:"exit_code"` // null when the command did not get to return one
	State    string  `json:"state"`
	EndedAt  float64 `json:"ended_at"`
}

// Budget is what budget.json holds: what the run may still ask for.
type Budget struct {
	Launches int      `json:"launches_remaining"`
	Sleeps   int      `json:"sleeps_remaining"`
	GPUHours *float64 `json:"gpu_hours_remaining,omitempty"` // nil without a bound
}

// Sibling is one entry of siblings.json: another agent's run.
type Sibling struct {
	Agent     string `json:"agent"`
	State     string `json:"state"`
	Phase     string `json:"phase"`
	Direction string `json:"direction"`
}

// Seconds is a time as the protocol writes it: Unix seconds as a JSON number.
func Seconds(t time.Time) float64 { return float64(StampOf(t)) }
