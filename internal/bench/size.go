package bench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A verb's bound in bytes; those that wait for an answer link more.
const (
	verbBytes    = 2_200_000
	waitingBytes = 2_300_000
)

var waiting = [...]string{"syscall-queue", "syscall-history", "syscall-sync"}

// sizeRows weighs each verb, and says of the largest of either kind what it is
// made of.
func (l *Lab) sizeRows(ctx context.Context, _ Options) ([]Row, error) {
	programs, err := filepath.Glob(filepath.Join(l.bin, "syscall-*"))
	if err != nil || len(programs) == 0 {
		return nil, fmt.Errorf("no verbs in %s: %v", l.bin, err)
	}
	heaviest := map[float64]*Row{
		waitingBytes: {What: "size of a verb that waits"}, verbBytes: {What: "size of any other verb"},
	}
	for _, program := range programs {
		st, err := os.Stat(program)
		if err != nil {
			return nil, err
		}
		bound := float64(verbBytes)
		if slices.Contains(waiting[:], filepath.Base(program)) {
			bound = waitingBytes
		}
		if row := heaviest[bound]; float64(st.Size()) > row.Value {
			row.Ours, row.Value = filepath.Base(program), float64(st.Size())
		}
	}
	var rows []Row
	for _, bound := range []float64{waitingBytes, verbBytes} {
		row := heaviest[bound]
		row.Value /= 1e6
		row.Target, row.Regressed, row.Unit = bound/1e6, bound/1e6, "MB"
		if row.Detail, err = spentOn(ctx, row.Ours); err != nil {
			return nil, err
		}
		rows = append(rows, *row)
	}
	return rows, nil
}

// spentOn names the packages that a verb's bytes go to. The programs that are
// shipped have no symbols, so it builds one that has. The figures are those of
// code and data; tables of the runtime come on top, half as much again.
func spentOn(ctx context.Context, program string) (string, error) {
	dir, err := os.MkdirTemp("", "outerloop-size-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, program)
	if err := run(ctx, "go", "build", "-trimpath", "-o", path, "github.com/outerloop-go/outerloop/cmd/"+program); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "go", "tool", "nm", "-size", "-sort", "size", path).Output()
	if err != nil {
		return "", fmt.Errorf("listing the symbols of %s: %w", program, err)
	}
	bytes := make(map[string]int)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		if n, err := strconv.Atoi(fields[1]); err == nil && !strings.ContainsAny(fields[2], "bBU") {
			bytes[packageOf(fields[3])] += n
		}
	}
	names := slices.SortedFunc(maps.Keys(bytes), func(a, b string) int { return cmp.Compare(bytes[b], bytes[a]) })
	var most []string
	for _, name := range names[:min(8, len(names))] {
		most = append(most, fmt.Sprintf("%s %d kB", name, bytes[name]/1000))
	}
	return program + " has of " + strings.Join(most, ", "), nil
}

// packageOf is the package of a symbol: what stands before the first dot after
// the last slash of its path.
func packageOf(symbol string) string {
	symbol, _, _ = strings.Cut(symbol, "[") // type arguments hold paths of their own
	if strings.HasPrefix(symbol, "type:") || strings.HasPrefix(symbol, "go:") {
		kind, _, _ := strings.Cut(symbol, ":")
		return "(" + kind + " data)"
	}
	slash := strings.LastIndexByte(symbol, '/') + 1
	name, _, found := strings.Cut(symbol[slash:], ".")
	if !found {
		return "(tables)"
	}
	return strings.TrimPrefix(symbol[:slash]+name, "github.com/outerloop-go/outerloop/")
}
