package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
)

// Log is what a ledger holds.
type Log struct {
	Launches []Launch // in the order in which they were submitted
	// Stray holds jobs whose launch has no record: the line that held it was lost.
	Stray []Ended
	Lost  int // lines that are no records
}

// Launch is one launch and those of its jobs that came back.
type Launch struct {
	Submitted
	Jobs []Ended // in the order in which they came back, each job once
}

// History reads a ledger. One that does not exist is empty: nothing was
// launched yet. It may be called while others append; a record that is just
// being written may then be missing, and count as lost.
func History(path string) (Log, error) {
	var log Log
	err := withFile(path, func(f io.Reader, size int64) (err error) {
		log, err = readLog(f, size)
		return err
	})
	return log, err
}

func withFile(path string, read func(f io.Reader, size int64) error) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer f.Close()
		var st fs.FileInfo
		if st, err = f.Stat(); err == nil {
			err = read(f, st.Size())
		}
	}
	if err != nil {
		return fmt.Errorf("reading the ledger %s: %w", path, err)
	}
	return nil
}

// readLog reads a ledger of about that size, which is a hint for allocations.
func readLog(r io.Reader, size int64) (Log, error) {
	// A launch and its job take some 250 bytes.
	guess := int(min(max(size/256, 0), 1<<20))
	j := joiner{at: make(map[identity]int, guess), seen: make(map[place]bool, guess)}
	j.log.Launches = make([]Launch, 0, guess)
	lost, err := scan(r, func(rec *record) {
		if rec.Event == submittedEvent {
			j.launch(rec)
		} else if !j.job(rec.ended()) {
			j.early = append(j.early, rec.ended())
		}
	})
	if err != nil {
		return Log{}, err
	}
	j.finish()
	j.log.Lost = lost
	return j.log, nil
}

// joiner puts jobs to their launches.
type joiner struct {
	log   Log
	at    map[identity]int // of a launch, in log.Launches
	seen  map[place]bool   // jobs that are joined
	early []Ended          // jobs whose launch was not there yet
}

// place is a job by its launch and its task, -1 for the launch's one job.
type place struct{ launch, task int32 }

func (j *joiner) launch(rec *record) {
	id := rec.identity()
	if _, again := j.at[id]; again {
		return
	}
	j.at[id] = len(j.log.Launches)
	j.log.Launches = append(j.log.Launches, Launch{Submitted: rec.submitted()})
}

// job joins a job to its launch, and is false where that is not there.
func (j *joiner) job(job Ended) bool {
	task := -1
	i, ok := j.at[identity{job.Sleep, job.Name}]
	if !ok {
		var launch string
		if launch, task, ok = SplitTask(job.Name); ok {
			i, ok = j.at[identity{job.Sleep, launch}]
		}
	}
	if !ok {
		return false
	}
	p := place{int32(i), int32(task)}
	if !j.seen[p] {
		j.seen[p] = true
		j.log.Launches[i].Jobs = append(j.log.Launches[i].Jobs, job)
	}
	return true
}

// finish joins the jobs that came before their launch: a launch whose record
// was torn is recorded anew, maybe after its jobs.
func (j *joiner) finish() {
	strays := make(map[identity]bool)
	for _, job := range j.early {
		id := identity{job.Sleep, job.Name}
		if !j.job(job) && !strays[id] {
			strays[id] = true
			j.log.Stray = append(j.log.Stray, job)
		}
	}
}

// SplitTask takes a job's name apart: "sweep.3" is task 3 of the launch
// "sweep". A name without a task's number is a launch that is no sweep, and
// ok is false. The name of a launch itself has no dot.
func SplitTask(name string) (launch string, task int, ok bool) {
	launch, number, found := strings.Cut(name, ".")
	task, err := strconv.Atoi(number)
	if !found || err != nil || task < 0 || task > math.MaxInt32 || strconv.Itoa(task) != number {
		return name, 0, false
	}
	return launch, task, true
}
