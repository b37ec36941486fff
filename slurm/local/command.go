package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// defaultPath is where programs are looked for when the environment of the job
// has no PATH. It is the PATH of a shepherd as well.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// environment is the job's list and the few names that only the backend can know.
// CUDA_VISIBLE_DEVICES is set for every job: without it a program would see the
// GPUs that belong to others.
func environment(j *job, i int) []string {
	gpus := make([]string, len(j.Tasks[i].GPUs))
	for k, g := range j.Tasks[i].GPUs {
		gpus[k] = strconv.Itoa(g)
	}
	ours := []string{
		"OUTERLOOP_JOB_ID=" + j.taskID(i),
		"CUDA_VISIBLE_DEVICES=" + strings.Join(gpus, ","),
	}
	if j.Spec.Array > 0 {
		ours = append(ours, "SWEEP_INDEX="+strconv.Itoa(i))
	}
	// Of a name that is there twice, some programs take the first and some the
	// last.
	env := slices.DeleteFunc(slices.Clone(j.Spec.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(ours, func(our string) bool { return strings.HasPrefix(our, name+"=") })
	})
	return append(env, ours...)
}

// lookPath finds a program as the job would, by the PATH of its environment and
// not by the shepherd's.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path := defaultPath
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // relative to a directory that a session may write to
		}
		program := filepath.Join(dir, name)
		if info, err := os.Stat(program); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return program, nil
		}
	}
	return "", fmt.Errorf("program %q: %w in %s", name, fs.ErrNotExist, path)
}

// sealDescriptors keeps from the command what the shepherd itself was handed. The
// program that submitted the job may have been started, by a cron or a terminal,
// with descriptors that nobody meant for a job.
func sealDescriptors() error {
	d, err := os.Open(descriptorDir)
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

func workDir(j *job) string {
	if j.Spec.Dir == "" {
		return "/"
	}
	return j.Spec.Dir
}

// openOutput opens the file that takes what the task prints. It is appended to:
// tasks that were given one file for all write into it side by side.
func openOutput(j *job, i int) (*os.File, error) {
	if j.Spec.Output == "" {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	path := expandOutput(j.Spec.Output, j.name(), i)
	if !filepath.IsAbs(path) {
		path = filepath.Join(workDir(j), path)
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// expandOutput fills in %j, the job's id, and %a, the index of the task, as
// sbatch(1) does in a filename pattern; %% is a percent sign. Anything else after
// a percent sign stays as it is.
func expandOutput(pattern, id string, i int) string {
	return strings.NewReplacer("%%", "%", "%j", id, "%a", strconv.Itoa(i)).Replace(pattern)
}

// checkText refuses what the record or exec(3) could not pass on unchanged. JSON
// would replace bytes that are not UTF-8 without a word.
func checkText(s string) error {
	switch {
	case strings.ContainsRune(s, 0):
		return errors.New("holds a zero byte")
	case strings.ToValidUTF8(s, "") != s:
		return errors.New("is not UTF-8")
	}
	return nil
}
