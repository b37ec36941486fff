//go:build linux

package local

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/outerloop-go/outerloop/slurm"
)

func TestHowACommandEnds(t *testing.T) {
	code := func(n int) *int { return &n }
	for _, tt := range []struct {
		name, script string
		state        slurm.State
		code         *int
	}{
		{"success", "exit 0", slurm.Completed, code(0)},
		{"failure", "exit 3", slurm.Failed, code(3)},
		{"a code that looks like a signal", "exit 137", slurm.Failed, code(137)},
		{"a signal", "kill -KILL $$", slurm.Failed, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			out := r.wait(r.submit(tt.script), tt.state)
			if diff := cmp.Diff(tt.code, out.ExitCode); diff != "" {
				t.Errorf("exit code (-want +got):\n%s", diff)
			}
			if !out.Elapsed.Known || out.Elapsed.Duration < 0 || out.Elapsed.Duration > patience {
				t.Errorf("elapsed is %+v", out.Elapsed)
			}
		})
	}
}

func TestCommandThatCannotStart(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*slurm.JobSpec)
		says   string
	}{
		{"no such program", func(s *slurm.JobSpec) { s.Command = []string{"no-such-program"} }, "no-such-program"},
		{"no such path", func(s *slurm.JobSpec) { s.Command = []string{"/no/such/program"} }, "/no/such/program"},
		{"no such directory", func(s *slurm.JobSpec) { s.Output, s.Dir = s.Dir+"/out", "/no/such/dir" }, "/no/such/dir"},
		{"output in no directory", func(s *slurm.JobSpec) { s.Output = "/no/such/dir/out" }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			out := r.wait(r.submit("exit 0", tt.change), slurm.Failed)
			if out.ExitCode != nil {
				t.Errorf("exit code is %d, want none", *out.ExitCode)
			}
			if got := r.read("out"); !strings.Contains(got, tt.says) {
				t.Errorf("the output is %q, want it to name %q", got, tt.says)
			}
		})
	}
}

func TestEnvironmentIsExactlyTheList(t *testing.T) {
	r := newRig(t, func(o *Options) { o.GPUs = 3 })
	// No shell, which would add to what it prints.
	env := func(env ...string) func(*slurm.JobSpec) {
		return func(s *slurm.JobSpec) { s.Command, s.Env = []string{"env"}, env }
	}
	for _, tt := range []struct {
		name   string
		change func(*slurm.JobSpec)
		want   []string
	}{
		{"nothing", env(), []string{"CUDA_VISIBLE_DEVICES=", "OUTERLOOP_JOB_ID=1"}},
		{
			"names of ours", env("A=1", "SWEEP_INDEX=kept", "OUTERLOOP_JOB_ID=9", "CUDA_VISIBLE_DEVICES=7"),
			[]string{"A=1", "CUDA_VISIBLE_DEVICES=", "OUTERLOOP_JOB_ID=2", "SWEEP_INDEX=kept"},
		},
		{"a task with GPUs", func(s *slurm.JobSpec) {
			env("A=two words\nand a line", "SWEEP_INDEX=9")(s)
			s.Array, s.GPUs = 1, 2
		}, []string{"A=two words\nand a line", "CUDA_VISIBLE_DEVICES=0,1", "OUTERLOOP_JOB_ID=3_0", "SWEEP_INDEX=0"}},
	} {
		id := r.submit("", tt.change, func(s *slurm.JobSpec) { s.Output = tt.name })
		r.wait(id, slurm.Completed)
		want := strings.Join(tt.want, "\n") + "\n"
		got := strings.Split(strings.TrimSuffix(r.read(tt.name), "\n"), "\n")
		// The order is nobody's promise.
		if diff := cmp.Diff(slices.Sorted(strings.Lines(want)), slices.Sorted(strings.Lines(strings.Join(got, "\n")+"\n"))); diff != "" {
			t.Errorf("%s: environment (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestProgramIsFoundByTheJobsPath(t *testing.T) {
	r := newRig(t)
	bin := filepath.Join(r.work, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "own"), []byte("#!/bin/sh\necho found\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	own := func(path string) func(*slurm.JobSpec) {
		return func(s *slurm.JobSpec) { s.Command, s.Env = []string{"own"}, []string{"PATH=" + path} }
	}
	r.wait(r.submit("", own(bin)), slurm.Completed)
	// A relative part would lead into the working directory.
	r.wait(r.submit("", own("bin:.:/usr/bin")), slurm.Failed)
	if got := r.read("out"); !strings.HasPrefix(got, "found\n") {
		t.Errorf("the output is %q", got)
	}
}

func TestOutputPatterns(t *testing.T) {
	r := newRig(t)
	output := func(s string) func(*slurm.JobSpec) { return func(spec *slurm.JobSpec) { spec.Output = s } }
	array := func(s *slurm.JobSpec) { s.Array = 2 }
	abs := filepath.Join(r.work, "abs")
	for _, id := range []string{
		r.submit("echo $SWEEP_INDEX; echo err >&2", array, output("%j.%a.100%%.%x")),
		r.submit("echo one", output(abs)),
		r.submit("echo lost", output("")),
	} {
		r.wait(id, slurm.Completed)
	}
	// Appended to, not replaced.
	r.wait(r.submit("echo two", output(abs)), slurm.Completed)
	got := map[string]string{}
	entries, err := os.ReadDir(r.work)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got[e.Name()] = r.read(e.Name())
		if info, err := e.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
	want := map[string]string{"1.0.100%.%x": "0\nerr\n", "1.1.100%.%x": "1\nerr\n", "abs": "one\ntwo\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// A command starts with no descriptor but the three streams, no input, no
// terminal, and a process group that it leads.
func TestCommandIsDetached(t *testing.T) {
	r := newRig(t)
	id := r.submit(`cat; ls -l /proc/self/fd | sed -n 's/.* \([0-9]*\) -> \(.*\)/\1 \2/p' >fds; cut -d' ' -f5 /proc/$$/stat >pgrp; echo $$ >pid; (exec </dev/tty) 2>/dev/null && echo tty; true`)
	r.wait(id, slurm.Completed)
	if got := r.read("out"); got != "" {
		t.Errorf("the command printed %q", got)
	}
	if r.read("pgrp") != r.read("pid") {
		t.Errorf("process group is %s of process %s", r.read("pgrp"), r.read("pid"))
	}
	fds := map[string]string{}
	for line := range strings.Lines(r.read("fds")) {
		fd, target, _ := strings.Cut(strings.TrimSpace(line), " ")
		fds[fd] = target
	}
	// ls has its own pipe at 1 and the directory that it reads at 3.
	if got := slices.Sorted(maps.Keys(fds)); !slices.Equal(got, []string{"0", "1", "2", "3"}) || fds["0"] != os.DevNull {
		t.Errorf("descriptors are %v", fds)
	}
}
