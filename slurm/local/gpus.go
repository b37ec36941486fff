package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"time"
)

// countGPUs asks nvidia-smi, which prints one line "GPU <i>: ..." for each. A
// machine whose driver is broken has none to hand out, and the log says so.
func countGPUs(log *slog.Logger) int {
	// A driver that hangs must not hold up the program: its answer is due in
	// well under a second.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nvidia-smi", "-L")
	cmd.Env = []string{"PATH=" + defaultPath, "LC_ALL=C"}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return 0
	}
	if err != nil {
		log.Warn("GPUs cannot be counted; none will be handed out", "err", fmt.Errorf("nvidia-smi -L: %w", err))
		return 0
	}
	return parseGPUList(out)
}

func parseGPUList(out []byte) int {
	n := 0
	for line := range bytes.Lines(out) {
		// Indented lines are the parts of a GPU that was divided.
		if bytes.HasPrefix(line, []byte("GPU ")) {
			n++
		}
	}
	return n
}
