package seal

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Usage is what lies below a path of the workspace.
type Usage struct {
	UntrustedPath string // a directory ends in "/"
	Amount        string // for people, such as "1.9 GiB"
}

func bytesText(n int64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return fmt.Sprintf("%d bytes", n)
	}
	unit, v := -1, float64(n)
	for v >= 1<<10 && unit < len(units)-1 {
		unit, v = unit+1, v/(1<<10)
	}
	return fmt.Sprintf("%.4g %ciB", v, units[unit])
}

// weights adds up what lies below each path. The root has the path "".
type weights map[string]int64

func (w weights) add(untrustedPath string, n int64) {
	w[untrustedPath] += n
	for dir := untrustedPath; dir != ""; {
		dir, _, _ = cutLast(strings.TrimSuffix(dir, "/"))
		w[dir] += n
	}
}

// cutLast splits "a/b" into "a/" and "b".
func cutLast(untrustedPath string) (dir, base string, found bool) {
	dir, base = path.Split(untrustedPath)
	return dir, base, dir != ""
}

// biggest picks at most three paths to name: heavy ones, and as deep as the
// weight stays together, since "data/raw/" helps the author more than "data/".
func (w weights) biggest(text func(int64) string) []Usage {
	var heavy []string
	for p, n := range w {
		if p != "" && n*10 >= w[""] {
			heavy = append(heavy, p)
		}
	}
	slices.SortFunc(heavy, func(a, b string) int {
		return cmp.Or(cmp.Compare(w[b], w[a]), cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	isAbove := func(a, b string) bool {
		return a != b && strings.HasSuffix(a, "/") && strings.HasPrefix(b, a)
	}
	var named []string
	for _, p := range heavy {
		concentrated := func(q string) bool { return isAbove(p, q) && w[q]*10 >= w[p]*8 }
		related := func(q string) bool { return isAbove(q, p) || isAbove(p, q) }
		if len(named) < 3 && !slices.ContainsFunc(heavy, concentrated) && !slices.ContainsFunc(named, related) {
			named = append(named, p)
		}
	}
	usage := make([]Usage, 0, len(named))
	for _, p := range named {
		usage = append(usage, Usage{UntrustedPath: p, Amount: text(w[p])})
	}
	return usage
}
