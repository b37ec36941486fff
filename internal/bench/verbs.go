package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/outerloop-go/outerloop/ledger"
)

// spent is what one process cost.
type spent struct{ wall, cpu time.Duration }

// runOnce runs a program from fork to exit.
func runOnce(ctx context.Context, workspace, program string, args ...string) (spent, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{"OUTERLOOP_WORKSPACE=" + workspace}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return spent{}, fmt.Errorf("%s: %w: %s", cmd, err, &stderr)
	}
	return spent{time.Since(began), used(cmd.ProcessState)}, nil
}

// Process runs a verb and the empty program in turn, in a channel with a kernel
// and a short ledger.
func (l *Lab) Process(ctx context.Context, verb string, rounds int) (wall, cpu, emptyWall, emptyCPU Times, err error) {
	fail := func(err error) (Times, Times, Times, Times, error) { return nil, nil, nil, nil, err }
	dir, err := os.MkdirTemp(l.Memory, "verb-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	at := time.Unix(1_700_000_000, 0)
	for i := range 5 {
		_, err := ledger.AppendSubmitted(ctx, filepath.Join(dir, "launches.jsonl"), ledger.Submitted{
			Sleep: i, Name: "order", Why: "does one more still pay", Minutes: 30, Array: 1, JobIDs: []string{"17"}, At: at,
		})
		if err != nil {
			return fail(err)
		}
	}
	kernel, err := l.start(ctx, "kernel", dir, 1)
	if err != nil {
		return fail(err)
	}
	defer kernel.end()
	for i := range rounds + 3 {
		ours, err := runOnce(ctx, workspace(dir, 0), l.verb(verb))
		if err != nil {
			return fail(err)
		}
		bare, err := runOnce(ctx, workspace(dir, 0), l.empty())
		if err != nil {
			return fail(err)
		}
		if i < 3 {
			continue // the pages of the programs are not there yet
		}
		wall, cpu = append(wall, ours.wall), append(cpu, ours.cpu)
		emptyWall, emptyCPU = append(emptyWall, bare.wall), append(emptyCPU, bare.cpu)
	}
	return wall, cpu, emptyWall, emptyCPU, nil
}

func (l *Lab) verbRows(ctx context.Context, o Options) ([]Row, error) {
	// What is reached. A verb that waits is above the target: it reads JSON, and
	// looks for its answer some times.
	recordedCPU := map[string]float64{"history": 1.8, "status": 1.5}
	var rows []Row
	for _, verb := range []string{"history", "status"} {
		wall, cpu, emptyWall, emptyCPU, err := l.Process(ctx, verb, 40*o.turns())
		if err != nil {
			return nil, err
		}
		if verb == "history" {
			rows = append(rows, Row{
				What: "syscall-history, fork to exit", Ours: wall.String(), Yardstick: "empty Go program " + emptyWall.String(),
				Value: milliseconds(wall.At(0.5)), Target: 5, Unit: "ms",
			})
		}
		rows = append(rows, Row{
			What: "CPU of syscall-" + verb, Ours: cpu.String(), Yardstick: "empty Go program " + emptyCPU.String(),
			Value: ratio(cpu.At(0.5), emptyCPU.At(0.5)), Target: 1.5, Regressed: 1.5 * recordedCPU[verb], Unit: "×",
		})
	}
	return rows, nil
}
