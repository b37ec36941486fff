package slurm

import (
	"strings"
	"testing"
)

func TestJobRuns(t *testing.T) {
	everyKind(t, func(r *rig) {
		spec := r.shell("echo hello; exit 3")
		id := r.submit(spec)
		o := r.ended(id)
		if o.State != Failed || o.ExitCode == nil || *o.ExitCode != 3 || !o.Elapsed.Known {
			r.t.Errorf("it ended as %+v", o)
		}
		if got := r.read("out"); got != "hello\n" {
			r.t.Errorf("it printed %q", got)
		}
		if found, err := r.Find(r.t.Context(), spec.Token); found != id || err != nil {
			r.t.Errorf("Find = %q, %v; want %q", found, err, id)
		}
		if found, err := r.Find(r.t.Context(), spec.Token+"x"); found != "" || err != nil {
			r.t.Errorf("Find of what was never submitted = %q, %v", found, err)
		}
	})
}

// A job sees the environment that it was given, whatever is in it, and where and
// what it is, and nothing else.
func TestEnvironment(t *testing.T) {
	everyKind(t, func(r *rig) {
		values := []string{
			"PATH=/usr/bin:/bin", "PLAIN=1", "EMPTY=", "SPACES=  a  b ", "QUOTES='\"$HOME`id`\\",
			"LINES=a\n#SBATCH --time=1\nEND\nEND-END\nb\n", "UTF8=größer",
			"CUDA_VISIBLE_DEVICES=7", "SLURM_JOB_ID=1", "SLURM_CPU_BIND=none", "SWEEP_INDEX=9",
		}
		spec := r.shell("")
		spec.Command = []string{"/usr/bin/env", "--null"}
		spec.Env = values
		spec.GPUs = 1
		id := r.submit(spec)
		r.ended(id)
		want := map[string]bool{"_=/usr/bin/env": true}
		for _, kv := range values[:7] {
			want[kv] = true
		}
		for kv := range strings.SplitSeq(strings.TrimSuffix(r.read("out"), "\x00"), "\x00") {
			name, value, _ := strings.Cut(kv, "=")
			switch {
			case want[kv]:
				delete(want, kv)
			case name == "SLURM_JOB_ID" && value == id, name == "CUDA_VISIBLE_DEVICES" && len(value) == 1 && value < "4":
			case name == "SLURM_CONF" && value == r.cluster.Config():
			case name != "SLURM_CPU_BIND" && strings.HasPrefix(name, "SLURM_") && strings.Contains(script(&spec), name):
			default:
				r.t.Errorf("the job sees %q", kv)
			}
		}
		delete(want, "_=/usr/bin/env") // some shells set it
		if len(want) > 0 {
			r.t.Errorf("the job does not see %v", want)
		}
		if shown := r.run("scontrol", "show", "job", id); strings.Contains(shown, "größer") {
			r.t.Errorf("scontrol shows the job's environment: %s", shown)
		}
	})
}
