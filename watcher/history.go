package watcher

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/ledger"
)

// History answers the history questions of one run out of its ledger. A ledger
// that did not change since the last question is not read again. Where it
// cannot be read the answer is an error and never an empty history.
func History(ledgerPath, runID string) Handler {
	h := &history{path: ledgerPath, runID: runID}
	return h.answer
}

type history struct {
	path, runID string

	mu      sync.Mutex
	version version
	entries json.RawMessage // of that version of the ledger
}

// version tells one state of the ledger from another. A ledger only grows, so
// its size does; the rest is for a ledger that an operator has put in place.
type version struct {
	size int64
	mod  time.Time
}

// maxKept bounds the history that is kept between questions, for each channel.
const maxKept = 1 << 20

func (h *history) answer(context.Context) (any, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	// The time and the version are taken first: what is appended meanwhile is
	// then read again, not missed.
	at := channel.Seconds(time.Now())
	now, err := h.stat()
	if err != nil {
		return nil, h.failed(err)
	}
	entries := h.entries
	if entries == nil || now != h.version {
		log, err := ledger.History(h.path)
		if err != nil {
			return nil, h.failed(err)
		}
		if entries, err = encode(historyEntries(log)); err != nil {
			return nil, err
		}
		entries = bytes.TrimSpace(entries)
		h.version, h.entries = now, nil
		if len(entries) <= maxKept {
			h.entries = entries
		}
	}
	return h.wrap(at, entries), nil
}

// wrap puts entries that are JSON already into an answer. Encoding the whole
// would parse them once more.
func (h *history) wrap(at float64, entries json.RawMessage) json.RawMessage {
	head, err := json.Marshal(struct {
		At    float64 `json:"at"`
		RunID string  `json:"run_id"`
	}{at, h.runID})
	if err != nil {
		panic(err) // a finite number and a string always encode
	}
	const key = `,"history":`
	out := make([]byte, 0, len(head)+len(key)+len(entries)+2)
	out = append(out, head[:len(head)-1]...)
	out = append(out, key...)
	out = append(out, entries...)
	return append(out, '}', '\n')
}

func (h *history) stat() (version, error) {
	st, err := os.Stat(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return version{size: -1}, nil
	}
	if err != nil {
		return version{}, err
	}
	return version{st.Size(), st.ModTime()}, nil
}

// failed hides from the session where the kernel keeps its files.
func (h *history) failed(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return errors.New("the run's ledger could not be read (" + err.Error() + "); try again in a minute")
}

func historyEntries(log ledger.Log) []channel.HistoryEntry {
	entries := make([]channel.HistoryEntry, len(log.Launches))
	for i := range log.Launches {
		l := &log.Launches[i]
		e := channel.HistoryEntry{
			Sleep: l.Sleep, Name: l.Name, Why: l.Why, Minutes: l.Minutes, Array: l.Array,
			JobIDs: l.JobIDs, SubmittedAt: channel.Seconds(l.At),
			Jobs: make([]channel.HistoryJob, len(l.Jobs)),
		}
		if e.JobIDs == nil {
			e.JobIDs = []string{}
		}
		for k, j := range l.Jobs {
			e.Jobs[k] = channel.HistoryJob{Name: j.Name, ExitCode: j.ExitCode, State: j.State, EndedAt: channel.Seconds(j.At)}
		}
		entries[i] = e
	}
	return entries
}
