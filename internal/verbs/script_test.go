package verbs

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the programs' documentation and the golden files anew")

func TestMain(m *testing.M) {
	programs := map[string]func(){"kernel": kernelMain}
	for name, build := range All() {
		programs[name] = func() { os.Exit(Main(build)) }
	}
	testscript.Main(m, programs)
}

// raceOptions keep a program that is built with -race from waiting a second at
// its end for reports of other goroutines.
const raceOptions = "atexit_sleep_ms=0"

// The scripts have three commands of their own:
//
//	exits STATUS PROGRAM [ARGUMENT...]  run it and want this exit status
//	repeat VARIABLE COUNT TEXT          set a variable to a text, repeated
//	mkfifo FILE                         make a FIFO
//
// and the program kernel, see kernel_test.go. Each begins in a directory that
// holds ws, a workspace with a channel, which OUTERLOOP_WORKSPACE names.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("OUTERLOOP_WORKSPACE", env.WorkDir+"/ws")
			env.Setenv("NL", "\n")
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", raceOptions)
			return os.MkdirAll(env.WorkDir+"/ws/.outerloop", 0o777)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "repeat": repeat, "mkfifo": mkfifo,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM [ARGUMENT...]")
	}
	status := 0
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("%s exits with %d, want %s", args[1], status, args[0])
	}
}

func repeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: repeat VARIABLE COUNT TEXT")
	}
	count, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Setenv(args[0], strings.Repeat(args[2], count))
}
