package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// Shepherd is the body of the process that [Options.Shepherd] names. It runs one
// task from start to end, lets its successors start, and returns the exit status
// for its process. The arguments are those that the backend appended to the
// prefix, unchanged.
//
// The process has to be Shepherd's own: it waits for every child there is, holds
// on to a thread, and takes SIGUSR1, SIGTERM, SIGINT and SIGHUP. SIGTERM and
// SIGINT make it end its task as one whose machine went down.
//
// The status is 0 also when the task was not its to run, 1 when it could not do
// its work, and 2 when the arguments are not those of a shepherd. A nil log is
// discarded.
func Shepherd(args []string, log *slog.Logger) int {
	// First of all: by default each of these would end the process, and a
	// cancellation may come as soon as it owns its task. They are caught and not
	// ignored, because what is ignored stays so in the command.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, cancelSignal, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	// The command is killed when the thread that started it ends.
	runtime.LockOSThread()
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s, err := newShepherd(args, signals, log)
	if err != nil {
		log.Error("These are not the arguments of a shepherd", "args", args, "err", err)
		return 2
	}
	if err := s.run(); err != nil {
		s.log.Error("The task could not be seen to its end", "err", err)
		return 1
	}
	return 0
}

// shepherdArgs is how many arguments spawn appends: directory, job, task, nonce.
const shepherdArgs = 4

type shepherd struct {
	store   *store
	id      int
	index   int
	nonce   string
	signals <-chan os.Signal
	log     *slog.Logger
}

func newShepherd(args []string, signals <-chan os.Signal, log *slog.Logger) (*shepherd, error) {
	if len(args) != shepherdArgs {
		return nil, fmt.Errorf("%d arguments instead of directory, job, task and nonce", len(args))
	}
	id, ok := parseNumber(args[1])
	index, ok2 := parseNumber(args[2])
	if !ok || !ok2 {
		return nil, errors.New("the job or the task is no number")
	}
	log = log.With("job", id, "task", index)
	return &shepherd{
		store:   &store{dir: args[0], log: log, now: time.Now},
		id:      id,
		index:   index,
		nonce:   args[3],
		signals: signals,
		log:     log,
	}, nil
}

func (s *shepherd) run() error {
	j, err := s.own()
	if j == nil || err != nil {
		return err
	}
	start := time.Now()
	end := s.tend(j)
	// By the monotonic clock: a wall clock that was set meanwhile would make
	// the task seem to have run for hours, or for less than nothing.
	end.Ended = start.Add(time.Since(start)).Round(0)
	if err := s.report(j, end); err != nil {
		return err
	}
	v, err := s.store.enter(context.Background())
	if err != nil {
		return fmt.Errorf("start what waited for the task: %w", err)
	}
	defer v.leave()
	v.pass()
	return nil
}

// own makes the task this shepherd's. It returns nil where the task is not to be
// run: somebody else owns it, it was called off, or the job is another one.
func (s *shepherd) own() (*job, error) {
	j, err := readJob(s.store.liveDir(s.id), s.id)
	if j == nil || err != nil {
		return nil, err
	}
	if s.index >= len(j.Tasks) || j.Tasks[s.index].State != slurm.Running || j.Tasks[s.index].Nonce != s.nonce {
		return nil, nil
	}
	if err := adoptOrphans(); err != nil {
		s.log.Warn("Orphans of the task cannot be adopted; those that leave its session are lost from sight", "err", err)
	}
	me, err := self()
	if err != nil {
		return nil, err
	}
	won, err := linkJSON(startPath(j.dir, s.index), startRecord{Owner: me, At: time.Now()})
	if errors.Is(err, fs.ErrNotExist) {
		// The job was moved to the ended ones since the record was read: a twin
		// has run the task, or it was called off.
		return nil, nil
	}
	if err != nil || !won {
		return nil, err
	}
	return j, nil
}

// report writes down how the task ended. Without that word the task counts as
// lost with its machine, so that a disk that is full for a moment is waited for.
func (s *shepherd) report(j *job, end endRecord) error {
	const tries = 60 // one a second
	var err error
	for range tries {
		if err = saveJSON(endPath(j.dir, s.index), end); err == nil {
			return nil
		}
		s.log.Warn("How the task ended could not be written; trying again", "state", end.State, "err", err)
		time.Sleep(time.Second)
	}
	return fmt.Errorf("write how the task ended (%s): %w", end.State, err)
}
