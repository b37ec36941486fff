package slurm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A stand-in is this test binary under the name of one of Slurm's programs. It runs
// the real one, and adds the fault that a file beside it asks for.
type fault string

const (
	none    fault = ""
	banner  fault = "banner"  // prints lines before
	silent  fault = "silent"  // the real program runs, and nothing of it is heard
	cut     fault = "cut"     // half of the output
	late    fault = "late"    // the real program runs, and then it takes too long
	hanging fault = "hanging" // a child of it hangs, and the real program never runs
	failing fault = "failing" // the real program runs, and it fails all the same
	flood   fault = "flood"   // prints without end
)

const standInDir = "OUTERLOOP-STAND-IN"

// standIn does not return where the binary was called as one of Slurm's programs.
func standIn() {
	name := filepath.Base(os.Args[0])
	dir := filepath.Dir(os.Args[0])
	if !strings.HasSuffix(dir, standInDir) {
		return
	}
	f, _ := os.ReadFile(filepath.Join(dir, name+".fault"))
	log, err := os.OpenFile(filepath.Join(dir, name+".calls"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		fmt.Fprintf(log, "%q\n", os.Args)
		log.Close()
	}
	os.Exit(faulty(name, fault(f)))
}

func faulty(name string, f fault) int {
	forever := func() { exec.Command("/bin/sleep", "3600").Run() }
	switch f {
	case hanging:
		forever()
	case flood:
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<20)); err != nil {
				return 1
			}
		}
	}
	cmd := exec.Command(filepath.Join("/usr/bin", name), os.Args[1:]...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	out, err := cmd.Output()
	switch f {
	case late:
		forever()
	case failing:
		fmt.Fprintln(os.Stderr, name+": error: Batch job submission failed: Socket timed out on send/recv operation")
		return 1
	case silent:
		return 0
	case cut:
		out = out[:len(out)/2]
	case banner:
		os.Stdout.WriteString("Welcome to the cluster!\n42 jobs are waiting; see https://example.org/1;2\n")
	}
	os.Stdout.Write(out)
	if err != nil {
		return 1
	}
	return 0
}

// faults makes a client of the rig's cluster that calls stand-ins.
type faults struct {
	*Client
	t   *testing.T
	dir string
}

func (r *rig) faulty(timeout time.Duration) *faults {
	r.t.Helper()
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	f := &faults{t: r.t, dir: filepath.Join(r.t.TempDir(), standInDir)}
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	for _, name := range []string{"sbatch", "squeue", "sacct", "sinfo", "scancel"} {
		// By a link, the name that it was called by would be this one too; the
		// system call resolves the link, and os.Args[0] keeps the name.
		if err := os.Symlink(self, filepath.Join(f.dir, name)); err != nil {
			r.t.Fatal(err)
		}
	}
	opt := r.options()
	opt.Path, opt.Timeout = f.dir, timeout
	f.Client = New(opt)
	return f
}

func (f *faults) set(name string, what fault) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name+".fault"), []byte(what), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// calls says how often a program was called.
func (f *faults) calls(name string) int {
	data, _ := os.ReadFile(filepath.Join(f.dir, name+".calls"))
	return strings.Count(string(data), "\n")
}
