package slurm

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestTaskIDs(t *testing.T) {
	for n, want := range map[int][]string{
		-1: {"7"},
		0:  {"7"},
		1:  {"7_0"},
		3:  {"7_0", "7_1", "7_2"},
	} {
		if got := TaskIDs("7", n); !slices.Equal(got, want) {
			t.Errorf("TaskIDs(7, %d) = %q, want %q", n, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	good := JobSpec{Name: "j", Command: []string{"true"}, Minutes: 1}
	if err := good.Check(); err != nil {
		t.Errorf("a good job: %v", err)
	}
	for _, tt := range []struct {
		says   string
		change func(*JobSpec)
	}{
		{"no name", func(s *JobSpec) { s.Name = "" }},
		{"no command", func(s *JobSpec) { s.Command = nil }},
		{"no command", func(s *JobSpec) { s.Command = []string{""} }},
		{"0 minutes", func(s *JobSpec) { s.Minutes = 0 }},
		{"minutes", func(s *JobSpec) { s.Minutes = maxMinutes + 1 }},
		{"-1 CPUs", func(s *JobSpec) { s.CPUs = -1 }},
		{"-1 MB", func(s *JobSpec) { s.MemoryMB = -1 }},
		{"-1 GPUs", func(s *JobSpec) { s.GPUs = -1 }},
		{"-1 tasks", func(s *JobSpec) { s.Array = -1 }},
		{"100001 tasks", func(s *JobSpec) { s.Array = maxTasks + 1 }},
		{"-1 tasks at a time", func(s *JobSpec) { s.Throttle = -1 }},
	} {
		spec := good
		tt.change(&spec)
		err := spec.Check()
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Job != spec.Name || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("Check: %v; want a refusal that says %q", err, tt.says)
		}
	}
}

// The names are on people's disks.
func TestJobSpecJSON(t *testing.T) {
	data, err := json.Marshal(JobSpec{Name: "j", Command: []string{"true"}, Minutes: 1})
	if want := `{"name":"j","command":["true"],"minutes":1}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v; want %s", data, err, want)
	}
}
