package slurm

import (
	"strings"
	"testing"
)

func TestGPUs(t *testing.T) {
	for in, want := range map[string]int{
		"":                           0,
		"N/A":                        0,
		"(null)":                     0,
		"gpu":                        1,
		"gpu:2":                      2,
		"gpu:a100":                   1,
		"gpu:a100:2":                 2,
		"gres/gpu:2":                 2,
		"gres/gpu=2":                 2,
		"gres/gpu:a100=2":            2,
		"gpu:2(S:0-1)":               2,
		"gpu:2(IDX:0,1)":             2,
		"gpu:a100:2(IDX:0,1),tmpfs:": 2,
		"gpu:a100:1,gpu:v100:2":      3,
		"gres/gpu=2,gres/gpu:a100=2": 2,
		"billing=2,cpu=2,gres/gpu=4,gres/gpu:a100=4,mem=8G,node=1": 4,
		"gpu:a100:2(S:0),shard:8":                                  2,
		"gpumem:80":                                                0,
		"gres/gpumem=80G":                                          0,
		"mps:100,gpu:1":                                            1,
		"gpu:-1":                                                   0,
		"gpu:99999999999999999999":                                 1, // no number, so the name of a type
		"gpu:9223372036854775807,gpu:9223372036854775807": 0,
		"a)b,gpu:2": 2,
		"a(b,gpu:2": 0,
		",,gpu:1,,": 1,
	} {
		if got := GPUs(in); got != want {
			t.Errorf("GPUs(%q) = %d, want %d", in, got, want)
		}
	}
}

func FuzzGPUs(f *testing.F) {
	for _, s := range []string{"gpu:2", "gres/gpu=2,gres/gpu:a100=2", "gpu:a100:2(IDX:0,1),x", "gpu:9223372036854775807", "((,", "))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := GPUs(s)
		if n < 0 || n > maxGPUs {
			t.Errorf("GPUs(%q) = %d", s, n)
		}
		// No other resource changes the count, wherever the list has it. One
		// with an open bracket would swallow what follows.
		if got := GPUs("cpu=4," + s); got != n {
			t.Errorf("GPUs(%q) = %d, and %d behind another resource", s, n, got)
		}
		if got := GPUs(s + ",cpu=4"); got != n && strings.Count(s, "(") == 0 {
			t.Errorf("GPUs(%q) = %d, and %d before another resource", s, n, got)
		}
	})
}
