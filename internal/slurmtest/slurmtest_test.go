package slurmtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asStarter is set in a process that is to start a cluster and be killed.
const asStarter = "SLURMTEST_STARTER"

func TestMain(m *testing.M) {
	Reenter()
	if os.Getenv(asStarter) != "" {
		os.Exit(starter())
	}
	os.Exit(m.Run())
}

// starter starts a cluster with a job in it, says where it is, and waits for its own
// end.
func starter() int {
	c, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// The job has left slurmd's session and group, as jobs do.
	if _, err := c.Run(context.Background(), "sbatch", "--output=/dev/null", "--wrap=setsid sleep 3600 & touch "+c.path("up")+"; sleep 3600"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for !exists(c.path("up")) {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println(c.dir, c.keeper.cmd.Process.Pid)
	select {}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// below lists the processes that descend from one.
func below(t *testing.T, root int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	parents := map[int]int{}
	for _, stat := range stats {
		data, err := os.ReadFile(stat)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if fields[0] != "Z" {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	var found []int
	for pid := range parents {
		for p := pid; p > 1; p = parents[p] {
			if parents[p] == root {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// Whichever process is killed, everything goes: daemons, jobs and, unless nobody is
// left to do it, files.
func TestNothingStaysBehind(t *testing.T) {
	if err := available(Options{}); err != nil {
		t.Skip(err)
	}
	for _, victim := range []string{"starter", "keeper"} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), asStarter+"=1")
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			dir, number, _ := strings.Cut(strings.TrimSpace(line), " ")
			t.Cleanup(func() { os.RemoveAll(dir) })
			keeper, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			pids := below(t, keeper)
			if len(pids) < 6 { // munged, slurmctld, slurmd, the step and the job's two
				t.Errorf("below the keeper there are only %d processes", len(pids))
			}
			if victim == "keeper" {
				// The daemons go with it. What jobs there were are the machine's now, and
				// end by themselves or not; a keeper is not killed by anything of ours.
				if err := syscall.Kill(keeper, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the daemons are gone", func() bool {
					return !slices.ContainsFunc(pids, func(pid int) bool { return alive(pid) && isDaemon(pid) })
				})
				for _, pid := range pids {
					syscall.Kill(pid, syscall.SIGKILL)
				}
				return
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			eventually(t, "everything is gone", func() bool {
				return !exists(dir) && !alive(keeper) && !slices.ContainsFunc(pids, alive)
			})
		})
	}
}

func isDaemon(pid int) bool {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && slices.Contains([]string{"munged", "slurmctld", "slurmd"}, strings.TrimSpace(string(name)))
}

// Clusters live side by side, and each is closed without the other noticing.
func TestSideBySide(t *testing.T) {
	a, b := New(t, Options{}), New(t, Options{})
	if a.Config() == b.Config() || a.ports == b.ports {
		t.Fatalf("two clusters share %s and %+v", a.Config(), a.ports)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if exists(a.dir) {
		t.Errorf("%s is still there", a.dir)
	}
	if out, err := b.Run(t.Context(), "sbatch", "--parsable", "--output=/dev/null", "--gres=gpu:4", "--wrap=true"); err != nil || out != "1\n" {
		t.Errorf("sbatch said %q, %v", out, err)
	}
}

func TestDaemons(t *testing.T) {
	c := New(t, Options{})
	ctx := t.Context()
	up := func() bool {
		out, err := c.Run(ctx, "scontrol", "ping")
		return err == nil && strings.Contains(out, "is UP")
	}
	for _, stop := range []func(Daemon) error{c.Stop, c.Kill} {
		if err := stop(Slurmctld); err != nil {
			t.Fatal(err)
		}
		if up() {
			t.Error("a controller that was stopped answers")
		}
		if err := stop(Slurmctld); err == nil || !strings.Contains(err.Error(), "not running") {
			t.Errorf("stopping it again: %v", err)
		}
		if err := c.Start(ctx, Slurmctld); err != nil {
			t.Fatal(err)
		}
		if !up() {
			t.Error("a controller that was started does not answer")
		}
		if err := c.Start(ctx, Slurmctld); err == nil || !strings.Contains(err.Error(), "running already") {
			t.Errorf("starting it again: %v", err)
		}
	}
	if err := c.Freeze(Slurmctld); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if out, err := c.Run(short, "squeue"); err == nil {
		t.Errorf("a frozen controller says %q", out)
	}
	if err := c.Thaw(Slurmctld); err != nil {
		t.Fatal(err)
	}
	if !up() {
		t.Error("a controller that was thawed does not answer")
	}
}

func TestUnavailable(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Start(t.Context(), Options{}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Start without programs: %v", err)
	}
}

// A configuration that slurmctld refuses is an error with its words, and nothing
// stays.
func TestBrokenConfig(t *testing.T) {
	if err := available(Options{}); err != nil {
		t.Skip(err)
	}
	c, err := Start(t.Context(), Options{Config: "SelectType=select/nonsense\nNoSuchOption=1\n"})
	if err == nil {
		t.Error(c.Close())
	}
	if !strings.Contains(fmt.Sprint(err), "slurmctld says:") {
		t.Errorf("Start: %v", err)
	}
}
