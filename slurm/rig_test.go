package slurm

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/slurmtest"
)

// The clusters that tests share. A test that stops daemons starts its own.
type clusters struct{ with, without slurmtest.Shared }

var shared = clusters{with: slurmtest.Shared{Options: slurmtest.Options{Accounting: true}}}

func TestMain(m *testing.M) {
	standIn()
	// The tests wait for Slurm most of the time. The command line may say otherwise.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(slurmtest.Main(m, &shared.with, &shared.without))
}

// everyKind runs a test on a cluster with accounting and on one without.
func everyKind(t *testing.T, test func(*rig)) {
	t.Parallel()
	for name, s := range map[string]*slurmtest.Shared{"accounting": &shared.with, "no accounting": &shared.without} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newRig(t, s.Get(t)))
		})
	}
}

// rig is a client of a real cluster.
type rig struct {
	*Client
	t       *testing.T
	cluster *slurmtest.Cluster
	dir     string
}

func newRig(t *testing.T, c *slurmtest.Cluster) *rig {
	r := &rig{t: t, cluster: c, dir: t.TempDir()}
	r.Client = New(r.options())
	return r
}

func (r *rig) options() Options {
	return Options{Config: r.cluster.Config(), Settle: 10 * time.Millisecond, Path: clientPath}
}

// clientPath is where Debian keeps the programs.
const clientPath = "/usr/local/bin:/usr/bin:/bin"

// shell is a job that runs a script.
func (r *rig) shell(script string) JobSpec {
	return JobSpec{
		Name: "job", Token: token(r.t), Minutes: 5, Dir: r.dir, Output: r.path("out"),
		Command: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"},
	}
}

// token is unique in a cluster that several tests share.
func token(t *testing.T) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || r == '%' {
			return '-'
		}
		return r
	}, t.Name()+time.Now().Format(".150405.000000000"))
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

func (r *rig) read(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(r.path(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

func (r *rig) touch(name string) {
	r.t.Helper()
	if err := os.WriteFile(r.path(name), nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) exists(name string) bool {
	_, err := os.Stat(r.path(name))
	return err == nil
}

func (r *rig) submit(spec JobSpec) string {
	r.t.Helper()
	id, err := r.Submit(r.t.Context(), spec)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		// The context of the test is over.
		if err := r.Cancel(context.Background(), id); err != nil {
			r.t.Error(err)
		}
	})
	return id
}

func (r *rig) outcome(id string) Outcome {
	r.t.Helper()
	got, err := r.Outcomes(r.t.Context(), []string{id})
	if err != nil {
		r.t.Fatal(err)
	}
	return got[id]
}

func (r *rig) state(id string) State { r.t.Helper(); return r.outcome(id).State }

// ended waits for a job to be over, and returns how it ended.
func (r *rig) ended(id string) Outcome {
	r.t.Helper()
	var o Outcome
	r.eventually("job "+id+" is over", func() bool {
		o = r.outcome(id)
		return o.State.Terminal()
	})
	return o
}

func (r *rig) rows(id string) []Row {
	r.t.Helper()
	all, err := r.Queue(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	var rows []Row
	for _, row := range all {
		if base, _, _ := strings.Cut(row.ID, "_"); base == id {
			rows = append(rows, row)
		}
	}
	return rows
}

// run runs one of Slurm's programs and has to succeed.
func (r *rig) run(args ...string) string {
	r.t.Helper()
	out, err := r.cluster.Run(r.t.Context(), args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *rig) eventually(what string, is func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("%s: not within two minutes", what)
		}
	}
}
