// Package arrows holds no code, only the test that keeps the module's packages
// in their places: which may import which, which may talk to the operating
// system directly, and what never becomes part of a verb.
package arrows

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/outerloop-go/outerloop"

// drawing says for each package, or pattern of packages, which others of this
// module it may import. It is complete: a new package and a new arrow are
// decisions, and are made here. No package may import one further down.
func drawing() []arrow {
	return []arrow{
		{from: "internal/dirfd"},
		{from: "internal/durable"},
		{from: "internal/nearest"},
		{from: "internal/version"},
		{from: "internal/settings"},
		{from: "internal/manual"},
		{from: "channel", to: "internal/dirfd"},
		{from: "ledger", to: "internal/dirfd"},
		{from: "slurm"},
		{from: "slurm/local", to: "slurm"},
		// Planting what a session might is for tests, and for the suite that others import in theirs.
		{from: "internal/attack"},
		{from: "channel/channeltest", to: "channel internal/dirfd internal/attack"},
		{from: "watcher", to: "channel ledger slurm internal/dirfd"},

		{from: "internal/render", to: "channel"},
		{from: "internal/verbs", to: "channel internal/dirfd internal/manual internal/nearest internal/render internal/version"},
		{from: "internal/git", to: "internal/durable"},
		{from: "internal/seal", to: "internal/dirfd internal/durable internal/git"},
		{from: "internal/origin", to: "channel internal/dirfd internal/git"},
		{from: "internal/sandbox"},
		{from: "internal/runner", to: "channel slurm internal/dirfd internal/durable internal/seal internal/sandbox"},
		{from: "internal/engine", to: "channel ledger slurm watcher internal/dirfd internal/durable internal/render internal/seal internal/origin internal/sandbox internal/runner"},
		{from: "internal/metrics", to: "slurm internal/dirfd internal/durable internal/engine"},
		{from: "internal/page", to: "channel internal/engine internal/render"},
		{from: "internal/tick", to: "channel ledger slurm slurm/local watcher internal/dirfd internal/durable internal/manual internal/nearest internal/render internal/settings internal/version internal/sandbox internal/runner internal/engine internal/metrics internal/page"},
		// What make bench measures is everything.
		{from: "internal/bench", to: "channel ledger slurm watcher internal/engine"},
		{from: "internal/bench/cmd/*", to: "internal/bench"},
		{from: "internal/manual/cmd/*", to: "internal/manual internal/tick internal/verbs"},
		{from: "internal/arrows"},
		{from: "internal/crash"},
		{from: "internal/packages"},
		// A real cluster for tests, which may also stand around a shell command.
		{from: "internal/slurmtest"},
		{from: "internal/slurmtest/cmd/*", to: "internal/slurmtest"},

		{from: "cmd/syscall-*", to: "internal/verbs"},
		{from: "cmd/outerloop-tick", to: "internal/tick"},
		// An example shows what anyone can do, so it has what anyone can import.
		{from: "examples/*", to: "channel ledger slurm slurm/local watcher"},
		{from: "examples/*/*", to: "channel ledger slurm slurm/local watcher"},
	}
}

type arrow struct {
	from string // a pattern of path.Match
	to   string // separated by spaces
}

// A listed package is what "go list -deps" says of it.
type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Module     *struct{ Path string }
}

// ours reports whether the package is in this module, and its path in there.
func (p listed) ours() (string, bool) {
	return strings.CutPrefix(p.ImportPath, module+"/")
}

// load lists this module's packages and all that they import, tests left out,
// as they are built for a platform.
func load(t *testing.T, platform string) []listed {
	t.Helper()
	goos, goarch, _ := strings.Cut(platform, "/")
	// With -e, a package without files for the platform does not hide the others.
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-json=ImportPath,Imports,Deps,Module", "./...")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("output of %s: %v", cmd, err)
		}
		packages = append(packages, p)
	}
	if !slices.ContainsFunc(packages, func(p listed) bool { return p.ImportPath == module+"/channel" }) {
		t.Fatalf("%s did not list the module's packages:\n%s", cmd, out)
	}
	return packages
}

func onEveryPlatform(t *testing.T, test func(*testing.T, []listed)) {
	for _, platform := range []string{"linux/amd64", "darwin/arm64"} {
		t.Run(platform, func(t *testing.T) { test(t, load(t, platform)) })
	}
}

func TestArrows(t *testing.T) {
	onEveryPlatform(t, func(t *testing.T, packages []listed) {
		arrows := drawing()
		for _, p := range packages {
			name, ok := p.ours()
			if !ok {
				continue
			}
			at := slices.IndexFunc(arrows, func(a arrow) bool {
				match, err := path.Match(a.from, name)
				return err == nil && match
			})
			if at < 0 {
				t.Errorf("%s is not in the drawing: decide what it may import, and who may import it", name)
				continue
			}
			for _, imported := range p.Imports {
				to, ok := strings.CutPrefix(imported, module+"/")
				if ok && !slices.Contains(strings.Fields(arrows[at].to), to) {
					t.Errorf("%s imports %s; it may import only: %s", name, to, arrows[at].to)
				}
			}
		}
	})
}

// TestOneDoorToTheKernel: descriptor-relative system calls are easily made
// subtly wrong, so they are made, and reviewed, in one place.
func TestOneDoorToTheKernel(t *testing.T) {
	onEveryPlatform(t, func(t *testing.T, packages []listed) {
		for _, p := range packages {
			if name, ok := p.ours(); ok && name != "internal/dirfd" && slices.Contains(p.Imports, "golang.org/x/sys/unix") {
				t.Errorf("%s imports golang.org/x/sys/unix; only internal/dirfd may", name)
			}
		}
	})
}

// TestVerbsStaySmall names the usual causes of a verb that outgrows its bound,
// before its size does: each of these adds 0.1 to 0.7 MB.
func TestVerbsStaySmall(t *testing.T) {
	heavy := []string{"os/exec", "regexp", "log/slog", "net", "encoding/json/v2", "github.com/fsnotify/fsnotify"}
	onEveryPlatform(t, func(t *testing.T, packages []listed) {
		for _, p := range packages {
			name, ok := p.ours()
			if !ok || (name != "channel" && name != "internal/verbs" && !strings.HasPrefix(name, "cmd/syscall-")) {
				continue
			}
			for _, dep := range heavy {
				if slices.Contains(p.Deps, dep) {
					t.Errorf("%s links %s", name, dep)
				}
			}
		}
	})
}

// TestModules: whoever imports this module takes these three along and no more.
func TestModules(t *testing.T) {
	allowed := []string{module, "github.com/fsnotify/fsnotify", "github.com/google/renameio/v2", "golang.org/x/sys"}
	onEveryPlatform(t, func(t *testing.T, packages []listed) {
		for _, p := range packages {
			if p.Module != nil && !slices.Contains(allowed, p.Module.Path) {
				t.Errorf("%s of module %s is needed at run time", p.ImportPath, p.Module.Path)
			}
		}
	})
}
