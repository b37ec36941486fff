package local

import (
	"syscall"

	"github.com/outerloop-go/outerloop/slurm"
)

// maxSpawns is how many shepherds may die before they own a task until the task
// is given up. One may well be killed by chance; five in a row means that the
// program does not work.
const maxSpawns = 5

// cancelSignal tells a shepherd to end its task. Not SIGTERM, which a machine
// that shuts down sends to everybody.
const cancelSignal = syscall.SIGUSR1

// settle finds out what became of the tasks that were running.
func (v *visit) settle(j *job) {
	for i := range j.Tasks {
		if j.Tasks[i].State != slurm.Running {
			continue
		}
		if err := v.settleTask(j, i); err != nil {
			// Not known is not gone: the task goes on running in the record.
			v.logger(j, i).Error("What became of a task could not be learnt", "err", err)
		}
	}
}

func (v *visit) settleTask(j *job, i int) error {
	if done, err := takeEnd(j, i); done || err != nil {
		return err
	}
	t := &j.Tasks[i]
	var start startRecord
	found, err := loadJSON(startPath(j.dir, i), &start)
	if err != nil {
		return err
	}
	if !found {
		return v.unowned(j, i)
	}
	if start.Void != "" {
		t.State, t.Ended, j.dirty = start.Void, start.At, true
		return nil
	}
	t.Started = start.At
	alive, err := start.Owner.alive()
	if err != nil {
		return err
	}
	if alive {
		if t.Cancel {
			// Sent at every visit: the one who asked for the cancellation may
			// have died before it got this far. The shepherd heeds the first.
			return start.Owner.signal(cancelSignal)
		}
		return nil
	}
	// It may have written its end and left since the look above.
	if done, err := takeEnd(j, i); done || err != nil {
		return err
	}
	v.logger(j, i).Warn("A shepherd vanished without a word; its task has ended", "pid", start.Owner.PID)
	if err := killSession(start.Owner); err != nil {
		v.logger(j, i).Error("What a task left behind could not be ended", "err", err)
	}
	// When it vanished nobody knows, so that its run time stays unknown.
	t.State, j.dirty = slurm.NodeFail, true
	return nil
}

// takeEnd takes over the shepherd's record of the end if there is one.
func takeEnd(j *job, i int) (done bool, err error) {
	var end endRecord
	found, err := loadJSON(endPath(j.dir, i), &end)
	if !found || err != nil {
		return false, err
	}
	var start startRecord
	if _, err := loadJSON(startPath(j.dir, i), &start); err != nil {
		return false, err
	}
	j.Tasks[i].Started = start.At
	j.Tasks[i].finish(end)
	j.dirty = true
	return true, nil
}

// unowned deals with a task that has its slot and no shepherd that owns it. As
// shepherds are started under the lock, whoever was to start this one has done
// it, or has died. A shepherd that is only slow may get a twin from here; one of
// the two will own the start, and the other leaves.
func (v *visit) unowned(j *job, i int) error {
	t := &j.Tasks[i]
	if t.Cancel {
		return v.void(j, i, slurm.Cancelled)
	}
	var shepherd identity
	// The file is not written with care, so that one that cannot be read counts
	// as none.
	if found, err := loadJSON(spawnPath(j.dir, i), &shepherd); found && err == nil {
		if alive, err := shepherd.alive(); alive || err != nil {
			return err
		}
	}
	if t.Spawns >= maxSpawns {
		v.logger(j, i).Error("No shepherd lives long enough to run the task; it is given up",
			"shepherd", j.Shepherd, "tries", t.Spawns)
		return v.void(j, i, slurm.NodeFail)
	}
	t.Spawns++
	t.spawn, j.dirty = true, true
	return nil
}

// void ends a task that nobody has begun, by owning its start. Where a shepherd
// was faster the task runs, and is settled as such.
func (v *visit) void(j *job, i int, state slurm.State) error {
	won, err := linkJSON(startPath(j.dir, i), startRecord{At: v.at, Void: state})
	if err != nil {
		return err
	}
	if !won {
		return v.settleTask(j, i)
	}
	t := &j.Tasks[i]
	t.State, t.Ended, j.dirty = state, v.at, true
	return nil
}
