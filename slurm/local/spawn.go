package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// spawn starts the shepherd of task i, detached from the caller in everything:
// session, terminal, working directory, streams and environment.
func spawn(stateDir string, j *job, i int) error {
	// What a shepherd says goes to a file of the job's, for the operator.
	out, err := os.OpenFile(filepath.Join(j.dir, "shepherd.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	args := append(j.Shepherd[1:len(j.Shepherd):len(j.Shepherd)],
		stateDir, j.name(), strconv.Itoa(i), j.Tasks[i].Nonce)
	cmd := exec.Command(j.Shepherd[0], args...)
	// Built up, not cut down: the caller may have been started with secrets.
	cmd.Env = []string{"PATH=" + defaultPath}
	cmd.Dir = "/" // keep no filesystem busy
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the shepherd %s: %w", j.Shepherd[0], err)
	}
	// Not waited for yet, so that the pid is surely still the shepherd's. Where
	// it has died already there is nothing to note, and the next visit sees to it.
	id, err := identify(cmd.Process.Pid)
	// The goroutine ends with the shepherd; without it a resident kernel would
	// gather a zombie for each task. Its result is in the task's files.
	go cmd.Wait()
	if errors.Is(err, errGone) {
		return nil
	}
	if err != nil {
		return err
	}
	data, err := json.Marshal(id)
	if err != nil {
		return err
	}
	return os.WriteFile(spawnPath(j.dir, i), data, 0o600)
}
