package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/internal/slurmtest"
)

func TestMain(m *testing.M) { os.Exit(slurmtest.Main(m)) }

// programs builds the programs into a directory bin of a new one, as they are shipped.
func programs(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	build := exec.Command("go", "build", "-o", dir+"/bin/", "../../cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// run runs a command with the directory as its home, and returns what it printed.
func run(t *testing.T, dir string, env []string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + dir}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

func example(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// The line for cron moves a run in the environment that cron gives, with the state root
// that the settings file names.
func TestCron(t *testing.T) {
	dir := programs(t)
	_, command, ok := strings.Cut(strings.TrimSpace(example(t, "cron/crontab")), "* * * * * ")
	if !ok || strings.Contains(command, "\n") {
		t.Fatalf("the table is not one line a minute: %q", command)
	}
	tick := dir + "/bin/outerloop-tick"
	command = strings.Replace(command, "/usr/local/bin/outerloop-tick", tick, 1)
	env := []string{"PATH=/usr/bin:/bin", "SHELL=/bin/sh", "LOGNAME=me"}
	if err := os.WriteFile(dir+"/task.md", []byte("Work.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, env, tick, "init", "--yes", "--compute", "local", "--sandbox", "none", "--root", ".outerloop")
	run(t, dir, env, tick, "new", "--run", "one", "--prompt", "task.md", "--", "true")
	run(t, dir, env, "sh", "-c", command)
	// The leg goes on when the pass is over.
	run(t, dir, env, tick, "--loop", "--until-idle")
	if status := run(t, dir, env, tick, "status"); !strings.Contains(status, "finished") {
		t.Errorf("the run has not ended:\n%s", status)
	}
	log, err := os.ReadFile(dir + "/.outerloop/tick.log")
	if err != nil || !strings.Contains(string(log), "queued one-leg-0") {
		t.Errorf("the pass logged %q (%v)", log, err)
	}
}

// systemd finds nothing wrong with the units.
func TestSystemd(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := programs(t)
	argv := []string{"systemd-analyze", "verify", "--user", "--man=no"}
	for _, name := range []string{"outerloop-tick.service", "outerloop-tick.timer"} {
		unit := strings.Replace(example(t, "systemd/"+name), "/usr/bin/outerloop-tick", dir+"/bin/outerloop-tick", 1)
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(unit), 0o600); err != nil {
			t.Fatal(err)
		}
		argv = append(argv, path)
	}
	out := run(t, dir, []string{"PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + dir}, argv...)
	if strings.Contains(out, "outerloop-tick") {
		t.Errorf("%s", out)
	}
}

// The script for a cluster brings a run from its start to a report.
func TestSlurm(t *testing.T) {
	c := slurmtest.New(t, slurmtest.Options{Accounting: true})
	dir := programs(t)
	script, err := filepath.Abs("../../examples/slurm/start.sh")
	if err != nil {
		t.Fatal(err)
	}
	env := append(c.Env(), "PATH="+os.Getenv("PATH"), "ACCOUNT="+slurmtest.Account, "WAIT=yes", "ROOT="+dir+"/root")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if out := run(t, dir, env, "sh", script, "bin"); !strings.HasSuffix(out, "The job ran on "+host+".\n") {
		t.Errorf("it ends with:\n%s", out)
	}
}
