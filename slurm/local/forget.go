package local

import (
	"os"
	"time"
)

// What is kept of ended jobs: the newest keepJobs, and of the others those that
// ended within keepFor. A kernel has asked for an outcome long before.
const (
	keepJobs = 1000
	keepFor  = 7 * 24 * time.Hour
	// Only submissions make the directory grow, so that a look at every so many
	// of them bounds it and costs the visits nothing.
	forgetEvery = 64
)

// forget removes ended jobs that are neither new nor young. It is called with the
// id of a job that was just submitted.
func (v *visit) forget(id int) {
	if id%forgetEvery != 0 {
		return
	}
	ids, err := v.ids("ended")
	if err != nil {
		v.log.Error("Ended jobs cannot be listed", "err", err)
		return
	}
	for _, old := range ids[:max(len(ids)-keepJobs, 0)] {
		dir := v.endedDir(old)
		// The directory changed last when the job's last record was written.
		if info, err := os.Stat(dir); err != nil || v.at.Sub(info.ModTime()) < keepFor {
			continue
		}
		if err := v.remove(old, dir); err != nil {
			v.log.Error("An ended job cannot be removed", "job", old, "err", err)
		}
	}
}

// remove forgets one job. The token goes last: as long as the job can be found it
// is not submitted again, and a token that leads to no job is harmless.
func (v *visit) remove(id int, dir string) error {
	j, _ := readJob(dir, id) // a record that cannot be read goes as well
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if j == nil || j.Spec.Token == "" {
		return nil
	}
	path := v.tokenPath(j.Spec.Token)
	if target, err := os.Readlink(path); err != nil || target != j.name() {
		return err // used again for a younger job
	}
	return os.Remove(path)
}
