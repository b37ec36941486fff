package slurm

import (
	"strconv"
	"strings"
)

// maxGPUs is past any count that a scheduler prints. A larger number is not a
// count, and adding it up could overflow.
const maxGPUs = 1 << 20

// GPUs counts the GPUs in a generic-resource string, in any of the forms that
// squeue(1), sacct(1) and scontrol(1) print: "gpu:2", "gpu:a100:2",
// "gres:gpu:2", "gres/gpu:2", "gres/gpu=2", "gpu:2(S:0-1)", "gpu:2(IDX:0,1)",
// and lists of these with other resources. Where a list holds both a total and its parts by
// type ("gres/gpu=2,gres/gpu:a100=2", as AllocTRES does), the total counts.
// What is not a GPU counts as none.
func GPUs(gres string) int {
	total, byType := 0, 0
	for _, item := range splitGRES(gres) {
		typed, n := gpuItem(item)
		if typed {
			byType += n
		} else {
			total += n
		}
	}
	return min(max(total, byType), maxGPUs)
}

// gpuItem reads one item of a list and says whether it names a type of GPU.
// An item without a count is one GPU.
func gpuItem(item string) (typed bool, n int) {
	name, _, _ := strings.Cut(bareGRES(item), "(")
	n = 1
	if i := strings.LastIndexAny(name, ":="); i >= 0 {
		if count, err := strconv.Atoi(name[i+1:]); err == nil {
			name, n = name[:i], count
		}
	}
	kind, typ, _ := strings.Cut(name, ":")
	if kind != "gpu" || n < 0 || n > maxGPUs {
		return false, 0
	}
	return typ != "", n
}

// bareGRES drops what some of Slurm's programs and versions put before the name.
func bareGRES(item string) string {
	return strings.TrimPrefix(strings.TrimPrefix(item, "gres:"), "gres/")
}

// splitGRES splits at the commas that are not inside brackets: "(IDX:0,1)" is
// one item's detail and no separator.
func splitGRES(s string) []string {
	var items []string
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth = max(depth-1, 0)
		case ',':
			if depth == 0 {
				items = append(items, s[start:i])
				start = i + 1
			}
		}
	}
	return append(items, s[start:])
}
