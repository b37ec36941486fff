package local

import (
	"os"
	"slices"
	"strconv"
	"syscall"
)

// killTask kills everything in the session of a shepherd but the shepherd.
func (r *rig) killTask(shepherd identity) {
	for _, p := range r.session(shepherd.PID) {
		if p.pid != shepherd.PID {
			p.signal(syscall.SIGKILL)
		}
	}
}

func (r *rig) session(id int) []proc {
	r.t.Helper()
	procs, err := listProcs()
	if err != nil {
		r.t.Fatal(err)
	}
	return slices.DeleteFunc(procs, func(p proc) bool { return p.session != id || p.dead() })
}

func (r *rig) dead(id identity) bool {
	r.t.Helper()
	alive, err := id.alive()
	if err != nil {
		r.t.Fatal(err)
	}
	return !alive
}

// owner is the shepherd of a task, once it has one.
func (r *rig) owner(job string, i int) identity {
	r.t.Helper()
	var start startRecord
	r.eventually("job "+job+" has a shepherd", func() bool {
		found, err := loadJSON(startPath(r.store.path("live", job), i), &start)
		if err != nil {
			r.t.Fatal(err)
		}
		return found
	})
	return start.Owner
}

func (r *rig) kill(id identity) {
	r.t.Helper()
	if err := id.signal(os.Kill); err != nil {
		r.t.Fatal(err)
	}
}

// processes are those that work in the directory of the jobs.
func (r *rig) processes() []int {
	r.t.Helper()
	procs, err := listProcs()
	if err != nil {
		r.t.Fatal(err)
	}
	var pids []int
	for _, p := range procs {
		dir, err := os.Readlink("/proc/" + strconv.Itoa(p.pid) + "/cwd")
		if err == nil && dir == r.work && !p.dead() {
			pids = append(pids, p.pid)
		}
	}
	return pids
}
