//go:build linux

package local

import (
	"testing"

	"github.com/outerloop-go/outerloop/slurm"
)

// A leg is a task, and the kernel in it submits the launches and the wake. None
// of them may end with the leg, whether it ends by itself, is canceled (which goes
// the way of a task that is out of time), or loses its shepherd.
func TestJobsOfATaskOutliveIt(t *testing.T) {
	const submits = `"$SUBMIT" submit "$STATE" "$PWD" token '` +
		`: >inner; while [ ! -e go ]; do sleep 0.02; done; echo inner' && : >submitted; `
	for _, tt := range []struct {
		name, script string
		state        slurm.State
		end          func(r *rig, id string)
	}{
		{"by itself", submits, slurm.Completed, nil},
		{"canceled", submits + "exec sleep 600", slurm.Cancelled, func(r *rig, id string) {
			if err := r.Cancel(t.Context(), id); err != nil {
				r.t.Fatal(err)
			}
		}},
		{"killed", submits + "exec sleep 600", slurm.NodeFail, func(r *rig, id string) {
			r.kill(r.owner(id, 0))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			leg := r.submit(tt.script, func(s *slurm.JobSpec) {
				s.Env = append(s.Env, "SUBMIT="+r.opt.Shepherd[0], "STATE="+r.opt.Dir)
			})
			r.waitFile("submitted")
			r.waitFile("inner")
			if tt.end != nil {
				tt.end(r, leg)
			}
			r.wait(leg, tt.state)
			inner, err := r.Find(t.Context(), "token")
			if err != nil {
				t.Fatal(err)
			}
			if got := r.look(inner).State; got != slurm.Running {
				t.Errorf("the inner job is %s", got)
			}
			r.mark("go")
			r.wait(inner, slurm.Completed)
			r.wantNothingLeft()
		})
	}
}
