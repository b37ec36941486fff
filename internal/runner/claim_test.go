package runner_test

import (
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/outerloop-go/outerloop/internal/runner"
	"github.com/outerloop-go/outerloop/internal/sandbox"
)

func TestTwin(t *testing.T) {
	b := newBench(t, sandbox.None)
	if code := b.run(t, "echo first; exit 4"); code != 4 {
		t.Fatalf("exit status %d, want 4", code)
	}
	if code := b.runAs(t, "echo twin", runner.Allocation{ID: "2", Task: -1}); code != 0 {
		t.Errorf("a twin exits with %d, want 0", code)
	}
	if code := b.runAs(t, "echo again", runner.Allocation{ID: "1", Task: -1}); code != 4 {
		t.Errorf("a job that had ended exits with %d, want what it returned, 4", code)
	}
	if got := read(t, filepath.Join(b.dir, "stdout")); got != "first\n" {
		t.Errorf("stdout %q", got)
	}
}

// TestClaimRace: of many jobs that start in one directory one runs.
func TestClaimRace(t *testing.T) {
	b := newBench(t, sandbox.None)
	ran := filepath.Join(t.TempDir(), "ran")
	b.Command = "echo x >>" + ran
	if err := runner.WriteJob(b.dir, b.Job); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 16 {
		r := b.runner
		all.Go(func() {
			if _, err := r.Run(t.Context(), b.dir, runner.Allocation{ID: strconv.Itoa(i), Task: -1}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := read(t, ran); got != "x\n" {
		t.Errorf("the command ran as often as %q has lines", got)
	}
	if left, _ := filepath.Glob(b.dir + "/.claim-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestReadAllocation(t *testing.T) {
	devices := "3"
	none := ""
	cases := []struct {
		name string
		env  map[string]string
		want runner.Allocation
		bad  bool
	}{
		{"local", map[string]string{"OUTERLOOP_JOB_ID": "5"}, runner.Allocation{ID: "5", Task: -1}, false},
		{
			"local task",
			map[string]string{"OUTERLOOP_JOB_ID": "5_2", "SWEEP_INDEX": "2", "CUDA_VISIBLE_DEVICES": "3"},
			runner.Allocation{ID: "5_2", Task: 2, Devices: &devices},
			false,
		},
		{
			"no devices",
			map[string]string{"OUTERLOOP_JOB_ID": "5", "CUDA_VISIBLE_DEVICES": ""},
			runner.Allocation{ID: "5", Task: -1, Devices: &none},
			false,
		},
		{"slurm", map[string]string{"SLURM_JOB_ID": "5"}, runner.Allocation{ID: "5", Task: -1}, false},
		{
			"slurm task",
			map[string]string{"SLURM_JOB_ID": "9", "SLURM_ARRAY_JOB_ID": "5", "SLURM_ARRAY_TASK_ID": "2"},
			runner.Allocation{ID: "5_2", Task: 2},
			false,
		},
		{
			"local within slurm",
			map[string]string{"OUTERLOOP_JOB_ID": "5", "SLURM_JOB_ID": "9", "SLURM_ARRAY_TASK_ID": "2"},
			runner.Allocation{ID: "5", Task: -1},
			false,
		},
		{"nothing", nil, runner.Allocation{}, true},
		{"not a number", map[string]string{"OUTERLOOP_JOB_ID": "5", "SWEEP_INDEX": "x"}, runner.Allocation{}, true},
		{"negative", map[string]string{"OUTERLOOP_JOB_ID": "5", "SWEEP_INDEX": "-1"}, runner.Allocation{}, true},
	}
	for _, c := range cases {
		got, err := runner.ReadAllocation(func(key string) (string, bool) { v, ok := c.env[key]; return v, ok })
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != c.bad {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
}
