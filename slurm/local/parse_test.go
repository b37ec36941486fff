package local

import (
	"slices"
	"testing"
)

func TestParseID(t *testing.T) {
	for _, tt := range []struct {
		in       string
		id, task int
		ok       bool
	}{
		{"1", 1, -1, true},
		{"12_0", 12, 0, true},
		{"12_34", 12, 34, true},
		{"", 0, 0, false},
		{"0", 0, 0, false},
		{"01", 0, 0, false},
		{"+1", 0, 0, false},
		{"-1", 0, 0, false},
		{"1_", 1, 0, false},
		{"1_01", 1, 0, false},
		{"1_-1", 1, 0, false},
		{"1_2_3", 1, 0, false},
		{"_1", 0, 0, false},
		{"1 ", 0, 0, false},
		{"99999999999999999999", 0, 0, false},
		{"../1", 0, 0, false},
	} {
		id, task, ok := parseID(tt.in)
		if ok != tt.ok || ok && (id != tt.id || task != tt.task) {
			t.Errorf("parseID(%q) = %d, %d, %v; want %d, %d, %v", tt.in, id, task, ok, tt.id, tt.task, tt.ok)
		}
	}
}

func TestExpandOutput(t *testing.T) {
	for pattern, want := range map[string]string{
		"plain":      "plain",
		"%j-%a":      "7-3",
		"%%j%%%a":    "%j%3",
		"100%":       "100%",
		"%x%J":       "%x%J",
		"a%a/b%j/%a": "a3/b7/3",
	} {
		if got := expandOutput(pattern, "7", 3); got != want {
			t.Errorf("expandOutput(%q) = %q, want %q", pattern, got, want)
		}
	}
}

func TestParseGPUList(t *testing.T) {
	const two = `GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6)
  MIG 1g.5gb      Device  0: (UUID: MIG-c6d4f1ef)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-0beb28cb)
`
	for in, want := range map[string]int{two: 2, "": 0, "No devices were found\n": 0} {
		if got := parseGPUList([]byte(in)); got != want {
			t.Errorf("parseGPUList(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	j := &job{ID: 7, Tasks: []task{{}, {GPUs: []int{2, 5}}}}
	j.Spec.Array = 2
	j.Spec.Env = []string{"A=1", "SWEEP_INDEX=8", "SWEEP_INDEX_2=kept", "OUTERLOOP_JOB_ID"}
	got := environment(j, 1)
	want := []string{"A=1", "SWEEP_INDEX_2=kept", "OUTERLOOP_JOB_ID=7_1", "CUDA_VISIBLE_DEVICES=2,5", "SWEEP_INDEX=1"}
	if !slices.Equal(got, want) {
		t.Errorf("environment is %q, want %q", got, want)
	}
	if len(j.Spec.Env) != 4 || j.Spec.Env[1] != "SWEEP_INDEX=8" {
		t.Errorf("the spec was changed to %q", j.Spec.Env)
	}
}
