package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Submitted says that a launch went to the scheduler.
type Submitted struct {
	Sleep   int    // which sleep of the run, from 0 or 1 as the kernel counts
	Name    string // of the launch, unique within the sleep
	Why     string // the author's words
	Minutes int    // walltime
	Array   int    // number of tasks; 1 for a launch that is no sweep
	JobIDs  []string
	At      time.Time
}

// Ended says that one job of a launch came back.
type Ended struct {
	Sleep    int
	Name     string // <launch>, or <launch>.<i> for task i of a sweep
	ExitCode *int   // nil where the command did not get to return one
	State    string // the scheduler's word for how it ended
	At       time.Time
}

// Events as they are written.
const (
	submittedEvent = "submitted"
	endedEvent     = "ended"
)

// MaxLineBytes bounds a line. A longer one is not a record of this package's,
// and is passed over without being loaded.
const MaxLineBytes = 1 << 20

// identity is what at most one record of an event has.
type identity struct {
	sleep int
	name  string
}

// record is one line, of either event.
type record struct {
	Event    string
	Sleep    int
	Name     string
	Why      string
	Minutes  int
	Array    int
	JobIDs   []string
	ExitCode *int
	State    string
	At       float64
}

func (r *record) identity() identity { return identity{r.Sleep, r.Name} }

func (r *record) submitted() Submitted {
	return Submitted{r.Sleep, r.Name, r.Why, r.Minutes, r.Array, r.JobIDs, fromSeconds(r.At)}
}

func (r *record) ended() Ended {
	return Ended{r.Sleep, r.Name, r.ExitCode, r.State, fromSeconds(r.At)}
}

func (s *Submitted) line() ([]byte, error) {
	ids := s.JobIDs
	if ids == nil {
		ids = []string{}
	}
	return encode(s.Name, struct {
		Event   string   `json:"event"`
		Sleep   int      `json:"sleep"`
		Name    string   `json:"name"`
		Why     string   `json:"why"`
		Minutes int      `json:"minutes"`
		Array   int      `json:"array"`
		JobIDs  []string `json:"job_ids"`
		At      float64  `json:"at"`
	}{submittedEvent, s.Sleep, s.Name, s.Why, s.Minutes, s.Array, ids, seconds(s.At)})
}

func (e *Ended) line() ([]byte, error) {
	return encode(e.Name, struct {
		Event    string  `json:"event"`
		Sleep    int     `json:"sleep"`
		Name     string  `json:"name"`
		ExitCode *int    `json:"exit_code"`
		State    string  `json:"state"`
		At       float64 `json:"at"`
	}{endedEvent, e.Sleep, e.Name, e.ExitCode, e.State, seconds(e.At)})
}

// encode returns the record as one line, newline included.
func encode(name string, v any) ([]byte, error) {
	if name == "" {
		return nil, fmt.Errorf("ledger: a record needs a name")
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	if buf.Len() > MaxLineBytes {
		return nil, fmt.Errorf("ledger: the record of %.64q is %d bytes, at most %d are read back",
			name, buf.Len(), MaxLineBytes)
	}
	return buf.Bytes(), nil
}

// seconds is a time as the wire has it: Unix seconds as a double.
func seconds(t time.Time) float64 {
	return float64(t.Unix()) + 1e-9*float64(t.Nanosecond())
}

// fromSeconds undoes seconds. What no time of a file could be, is the zero time.
func fromSeconds(s float64) time.Time {
	const farthest = 1 << 40 // seconds; some 35,000 years
	if math.IsNaN(s) || math.Abs(s) > farthest {
		return time.Time{}
	}
	whole, fraction := math.Modf(s)
	return time.Unix(int64(whole), int64(math.Round(fraction*1e9)))
}
