package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/outerloop-go/outerloop/ledger"
	"github.com/outerloop-go/outerloop/watcher"
)

// writeLedger writes a ledger of so many rows, half of them jobs that came back.
func writeLedger(ctx context.Context, dir string, rows int) (path string, err error) {
	// One row of each kind as the ledger writes it; the others differ in their sleep.
	sample := filepath.Join(dir, "sample.jsonl")
	at, code := time.Unix(1_700_000_000, 0), 0
	s := ledger.Submitted{Sleep: 12345678, Name: "order", Why: "does one more still pay", Minutes: 30, Array: 1, JobIDs: []string{"100017"}, At: at}
	if _, err := ledger.AppendSubmitted(ctx, sample, s); err != nil {
		return "", err
	}
	if _, err := ledger.AppendEnded(ctx, sample, ledger.Ended{Sleep: s.Sleep, Name: s.Name, ExitCode: &code, State: "COMPLETED", At: at}); err != nil {
		return "", err
	}
	pair, err := os.ReadFile(sample)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "launches.jsonl")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	w := bufio.NewWriter(f)
	for i := range rows / 2 {
		w.Write(bytes.ReplaceAll(pair, []byte("12345678"), fmt.Append(nil, 10_000_000+i)))
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	return path, f.Close()
}

func (l *Lab) historyRows(ctx context.Context, o Options) ([]Row, error) {
	dir, err := os.MkdirTemp(l.Memory, "ledger-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path, err := writeLedger(ctx, dir, 100_000)
	if err != nil {
		return nil, err
	}
	var read, answer, cat Times
	for range o.turns() {
		began := time.Now()
		log, err := ledger.History(path)
		read = append(read, time.Since(began))
		if err != nil || len(log.Launches) != 50_000 || log.Lost > 0 {
			return nil, fmt.Errorf("read %d launches, %d lines lost: %w", len(log.Launches), log.Lost, err)
		}
		began = time.Now()
		if _, err := watcher.History(path, "bench")(ctx); err != nil {
			return nil, err
		}
		answer = append(answer, time.Since(began))
		began = time.Now()
		if err := exec.CommandContext(ctx, "cat", path).Run(); err != nil {
			return nil, err
		}
		cat = append(cat, time.Since(began))
	}
	return []Row{{
		What: "history of 100,000 rows", Ours: read.String() + ", with the answer " + short(answer.At(0.5)), Yardstick: "cat " + cat.String(),
		Value: milliseconds(read.At(0.5)), Target: 150, Unit: "ms",
	}}, nil
}
