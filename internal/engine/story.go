package engine

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/ledger"
)

// Story is what has happened in a run, for people to look at. It is read from the
// run's files alone: no scheduler is asked and no lock is taken. Times that no file
// tells are zero, as those of jobs whose directories were pruned.
type Story struct {
	Status
	LegTime  time.Duration // walltime of a leg
	Legs     []LegStory    // in their order
	Launches []LaunchStory // as they were submitted
	Report   string        // the last one submitted, cut at MaxStoryReport; the author's words
	// FullVerdict is that of a judge's run that has concluded; its texts are the judge's.
	FullVerdict *Verdict
	Trouble     string // why the present step failed last, "" while it goes well
}

// LegStory is one leg. A leg without an end has not ended by itself.
type LegStory struct {
	Number       int
	Began, Ended time.Time
	Status       int                // of the author's program, as a shell has it
	Cause        string             // what ended it: itself, walltime or kernel; "" before the end
	Answers      map[string]Answers // by verb, once the leg is over
}

// LaunchStory is one launch and its jobs, of a sweep one for each task.
type LaunchStory struct {
	ledger.Submitted
	Jobs []JobStory
}

// JobStory is one job. Began is when it had its place in the cluster, so that what
// lies before it is the wait in the queue.
type JobStory struct {
	Task         int // -1 where the launch is no sweep
	Dir          string
	Began, Ended time.Time
	State        string // the scheduler's word for how it ended, "" before
	ExitCode     *int
}

// MaxStoryReport is how many bytes of a report are read for people who look at many
// runs at once.
const MaxStoryReport = 64 << 10

// Story tells a run's story.
func (r Root) Story(id string) (Story, error) {
	dir := r.RunDir(id)
	rec, err := loadRecord(dir, id)
	if err != nil {
		return Story{}, err
	}
	s := Story{Status: statusOf(&rec, nil), LegTime: rec.LegTime.Duration, Trouble: rec.LastError}
	log, err := ledger.History(ledgerPath(dir))
	if err != nil {
		return Story{}, err
	}
	for i := range log.Launches {
		s.Launches = append(s.Launches, launchStory(dir, &log.Launches[i]))
	}
	s.Legs = legStories(dir, &rec)
	if rec.Outcome == Concluded {
		if s.FullVerdict, err = readVerdict(dir); err != nil {
			return Story{}, err
		}
	}
	s.Report, err = readHead(filepath.Join(dir, "report.md"), MaxStoryReport)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Story{}, err
	}
	return s, nil
}

func launchStory(dir string, l *ledger.Launch) LaunchStory {
	s := LaunchStory{Submitted: l.Submitted, Jobs: make([]JobStory, min(max(1, l.Array), channel.MaxArray))}
	base := launchDir(dir, l.Name, l.Sleep)
	for i := range s.Jobs {
		j := &s.Jobs[i]
		*j = JobStory{Task: -1, Dir: base}
		if l.Array > 1 {
			j.Task, j.Dir = i, base+"."+strconv.Itoa(i)
		}
		if st, err := os.Stat(filepath.Join(j.Dir, "claim")); err == nil {
			j.Began = st.ModTime()
		}
		// The ledger has it only once all jobs of the sleep are over.
		if code, at, err := readExitCode(j.Dir); err == nil && code != nil {
			j.ExitCode, j.Ended = code, at
		}
	}
	for _, ended := range l.Jobs {
		task := 0
		if _, n, ok := ledger.SplitTask(ended.Name); ok {
			task = n
		}
		if task < len(s.Jobs) {
			j := &s.Jobs[task]
			j.State, j.ExitCode, j.Ended = ended.State, ended.ExitCode, ended.At
		}
	}
	return s
}

// launchDir is where a launch of that sleep has its directory: a later launch of the
// same name takes the place of an earlier one, which is put away.
func launchDir(dir, name string, sleep int) string {
	base := launchPrefix + name
	owner, err := os.ReadFile(filepath.Join(dir, base, sleepFile))
	if err == nil && string(owner) == strconv.Itoa(sleep) {
		return filepath.Join(dir, base)
	}
	return filepath.Join(dir, "past", strconv.Itoa(sleep), base)
}

func legStories(dir string, rec *Record) []LegStory {
	began := legBeginnings(filepath.Join(dir, "kernel.log"))
	var legs []LegStory
	for n := range rec.Leg + 1 {
		leg := LegStory{Number: n, Began: began[n]}
		// The output is made as the leg begins. The next leg has a prompt, and none.
		if st, err := os.Stat(filepath.Join(dir, "legs", strconv.Itoa(n), "stdout")); err != nil {
			continue
		} else if leg.Began.IsZero() {
			leg.Began = st.ModTime()
		}
		path := filepath.Join(dir, "legs", strconv.Itoa(n), endedFile)
		var how ending
		if st, err := os.Stat(path); err == nil && readJSON(path, &how) == nil {
			leg.Ended, leg.Status, leg.Cause = st.ModTime(), how.Status, how.Cause
		}
		// Without the file the leg asked nothing, or goes on.
		_ = readJSON(filepath.Join(dir, "legs", strconv.Itoa(n), answersFile), &leg.Answers)
		legs = append(legs, leg)
	}
	return legs
}

// maxKernelLog bounds what is read of a kernel's log to learn when legs began.
const maxKernelLog = 4 << 20

// legBeginnings reads from the kernel's own log when legs began, the last time
// where one began anew. No other file keeps it.
func legBeginnings(path string) map[int]time.Time {
	began := make(map[int]time.Time)
	text, _ := readTail(path, maxKernelLog)
	for line := range strings.Lines(text) {
		if !strings.Contains(line, `msg="leg begins"`) {
			continue
		}
		fields := strings.Fields(line)
		at, err := time.Parse(time.RFC3339Nano, strings.TrimPrefix(fields[0], "time="))
		i := slices.IndexFunc(fields, func(f string) bool { return strings.HasPrefix(f, "leg=") })
		if err != nil || i < 0 {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(fields[i], "leg=")); err == nil {
			began[n] = at
		}
	}
	return began
}

func readHead(path string, most int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, most))
	return string(raw), err
}

// readTail returns the end of a file that only the kernel writes, from the start of
// a line on.
func readTail(path string, most int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	from := max(0, st.Size()-most)
	raw, err := io.ReadAll(io.NewSectionReader(f, from, most))
	if from > 0 {
		_, raw, _ = bytes.Cut(raw, []byte("\n"))
	}
	return string(raw), err
}
