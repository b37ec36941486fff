package slurm

import (
	"fmt"
	"path/filepath"
	"strings"
)

// allocated names what a job gets from Slurm: which job and task it is, which
// devices are its own, and how to reach the cluster, for a kernel that runs as a
// job submits jobs itself.
func allocated() []string {
	return []string{
		"SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_RESTART_COUNT",
		"SLURM_JOB_PARTITION", "SLURM_CPUS_ON_NODE", "SLURM_MEM_PER_NODE", "SLURM_JOB_GPUS", "SLURM_TMPDIR",
		"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK",
		"SLURM_CONF", "SLURM_CONF_SERVER",
	}
}

// script writes the batch script of a job. It goes to sbatch by standard input, so
// that neither the command line of a process nor "scontrol show job" shows what is
// in the job's environment, which may be secret.
//
// The job is to see exactly the environment it was given and what [allocated]
// names. Slurm's own means do not do: --export=NONE and --export=NIL start a login
// shell on the node, whose profile adds what it likes, and takes its time. So sbatch
// copies its own environment, which is clean, and the script starts a second shell
// with an empty one. It reads the rest of the script from a descriptor; standard
// input stays /dev/null. The first line after the comments ends sbatch's search for
// #SBATCH options, which a value might hold.
func script(spec *JobSpec) string {
	var outer strings.Builder
	outer.WriteString("#!/bin/sh\nexec /usr/bin/env -i")
	for _, name := range allocated() {
		fmt.Fprintf(&outer, " ${%s+\"%s=$%[1]s\"}", name, name)
	}
	if spec.Array > 0 {
		outer.WriteString(" SWEEP_INDEX=\"$SLURM_ARRAY_TASK_ID\"")
	}
	fmt.Fprintf(&outer, " /bin/sh /dev/fd/3 3<<'END'\n%sEND\n", innerScript(spec))
	return outer.String()
}

// innerScript is what the second shell reads. The line end that words may hold is in
// $1: the first shell looks for END at the beginning of every line, before anybody
// looks at quotes, and Debian's loses bytes on the way if a line begins like it.
func innerScript(spec *JobSpec) string {
	var b strings.Builder
	b.WriteString("set -- '\n'\n")
	for _, kv := range spec.Env {
		if name, _, _ := strings.Cut(kv, "="); !schedulers(name) {
			fmt.Fprintf(&b, "export %s\n", shellQuote(kv))
		}
	}
	// What shells set by themselves.
	for _, name := range []string{"PWD", "OLDPWD", "SHLVL"} {
		if !sets(spec.Env, name) {
			fmt.Fprintf(&b, "unset %s\n", name)
		}
	}
	b.WriteString("exec")
	for _, word := range spec.Command {
		b.WriteString(" " + shellQuote(word))
	}
	b.WriteString(" 3<&-\n")
	return b.String()
}

// schedulers says whether a variable is for the scheduler alone to set.
func schedulers(name string) bool {
	switch name {
	case "SWEEP_INDEX", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK":
		return true
	}
	return strings.HasPrefix(name, "SLURM_")
}

func sets(env []string, name string) bool {
	for _, kv := range env {
		if strings.HasPrefix(kv, name+"=") {
			return true
		}
	}
	return false
}

// shellQuote spells a word so that a POSIX shell whose $1 is a line end reads it
// unchanged.
func shellQuote(s string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "\n", `'"$1"'`).Replace(s) + "'"
}

// outputPattern spells where output goes as sbatch(1) wants it, "FILENAME PATTERN".
// Of a task, %j is the id of the array here, and its own there.
func outputPattern(spec *JobSpec) string {
	if spec.Output == "" {
		return "/dev/null"
	}
	id, index := "%j", "0"
	if spec.Array > 0 {
		id, index = "%A", "%a"
	}
	pattern := strings.NewReplacer("%%", "%%", "%j", id, "%a", index, "%", "%%").Replace(spec.Output)
	if filepath.IsAbs(pattern) {
		return pattern
	}
	return filepath.Join(strings.ReplaceAll(workDir(spec), "%", "%%"), pattern)
}

func workDir(spec *JobSpec) string {
	if spec.Dir == "" {
		return "/"
	}
	return spec.Dir
}
