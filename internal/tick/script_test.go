package tick

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/outerloop-go/outerloop/internal/slurmtest"
	"github.com/outerloop-go/outerloop/internal/verbs"
)

// TestMain lets the test binary be the programs themselves, under their names:
// what the scripts call, what the state root gets a copy of, and what runs as
// leg, job and shepherd is the code under test.
func TestMain(m *testing.M) {
	programs := map[string]func(){
		"outerloop-tick": func() { os.Exit(Main(os.Args[1:], Process())) },
	}
	for name, build := range verbs.All() {
		programs[name] = func() { os.Exit(verbs.Main(build)) }
	}
	testscript.Main(withClusters{m}, programs)
}

// withClusters runs the tests and closes the cluster that they shared.
type withClusters struct{ m *testing.M }

func (w withClusters) Run() int { return slurmtest.Main(w.m, &cluster) }

// cluster is the real Slurm that the tests share. A test binary has one, since it
// takes seconds to start.
var cluster = slurmtest.Shared{Options: slurmtest.Options{Accounting: true}}

func TestScripts(t *testing.T) {
	// Slurm may be installed, and is not meant.
	scripts(t, "testdata", "OUTERLOOP_COMPUTE=local")
}

// TestSlurmScripts are scripts on a real cluster.
func TestSlurmScripts(t *testing.T) {
	c := cluster.Get(t)
	scripts(t, filepath.Join("testdata", "slurm"), append(c.Env(), "OUTERLOOP_ACCOUNT="+slurmtest.Account)...)
}

func scripts(t *testing.T, dir string, env ...string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(cond string) (bool, error) {
			if cond != "root" { // who may mount and give files away
				return false, fmt.Errorf("%q is no condition", cond)
			}
			return os.Getuid() == 0, nil
		},
		Setup: func(e *testscript.Env) error {
			root := filepath.Join(e.WorkDir, "root")
			e.Setenv("OUTERLOOP_ROOT", root)
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Vars = append(e.Vars, env...)
			// Jobs and legs are processes of their own; none may outlive its test.
			e.Defer(func() { endAll(t, root) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await":   await,
			"settled": settled,
			"kill9":   kill9,
			"lines":   lines,
		},
	})
}

// settled N COMMAND… repeats a command until it prints N lines.
func settled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: settled n command [arg...]")
	}
	var out []byte
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		cmd := exec.Command(args[1], args[2:]...)
		cmd.Env = append(os.Environ(), "SLURM_CONF="+ts.Getenv("SLURM_CONF"))
		var err error
		out, err = cmd.CombinedOutput()
		if err == nil && fmt.Sprint(strings.Count(string(out), "\n")) == args[0] {
			return
		}
	}
	ts.Fatalf("%q does not come to print %s lines:\n%s", args[1:], args[0], out)
}

// endAll waits until no process works for the state root any more.
func endAll(t testing.TB, root string) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		left := processesOf(root)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("processes of %s are left: %v", root, left)
			return
		}
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// processesOf finds the kernel's processes that work on a state root: they name
// it on their command lines or in their environment. Processes in sandboxes die
// with these.
func processesOf(root string) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		words, _ := os.ReadFile(file)
		env, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "environ"))
		if strings.Contains(string(words), root+"/") || strings.Contains(string(env), "OUTERLOOP_ROOT="+root+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// await FILE [TEXT] waits until a file is there, and holds the text.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: await file [text]")
	}
	path := ts.MkAbs(args[0])
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		raw, err := os.ReadFile(path)
		if err == nil && (len(args) == 1 || strings.Contains(string(raw), args[1])) {
			return
		}
	}
	raw, err := os.ReadFile(path)
	ts.Fatalf("%s does not come to hold what was awaited: %v\n%s", args[0], err, raw)
}

// kill9 FILE kills the process whose pid stands in a file.
func kill9(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: kill9 file")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(syscall.Kill(pid, syscall.SIGKILL))
}

// lines N FILE TEXT says that exactly N lines of a file hold a text.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: lines n file text")
	}
	n := 0
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if strings.Contains(line, args[2]) {
			n++
		}
	}
	if want := args[0]; fmt.Sprint(n) != want {
		ts.Fatalf("%d lines of %s hold %q, not %s", n, args[1], args[2], want)
	}
}
