package slurm

import (
	"slices"
	"strings"
)

// doubtful are words, in lower case, of errors that do not come from the
// controller's judgment of a job: the connection failed before or after it, or
// it could not judge just now. They are from slurm_strerror(3), slurm/slurm_errno.h,
// and from the C library's strerror(3).
func doubtful() []string {
	return []string{
		"unable to contact", "timed out", "timeout", "connection", "communication", "socket", "message", "zero bytes",
		"transport endpoint", "broken pipe", "no route to host", "host", "interrupted", "temporarily", "try again",
		"authentication", "credential", "munge", "standby mode", "header lengths", "incompatible versions",
		"protocol version", "input/output error", "i/o error", "cannot allocate memory", "no space left",
		"presently disabled", "database", "slurmdbd", "configuration source",
	}
}

// refusal reads what a failed sbatch printed on standard error, and returns the
// words with which the controller turned the job down, if it clearly did. sbatch
// itself refuses options that it cannot read, before it asks anybody.
func refusal(words string) (reason string, ok bool) {
	const verdict = "Batch job submission failed: "
	var said []string
	for _, line := range strings.Split(words, "sbatch: ") { // they were folded into one line
		line = strings.TrimPrefix(strings.TrimSpace(line), "error: ")
		text, judged := strings.CutPrefix(line, verdict)
		if judged || sbatchRefuses(line) {
			lower := strings.ToLower(text)
			ok = !slices.ContainsFunc(doubtful(), func(w string) bool { return strings.Contains(lower, w) })
		}
		if text != "" {
			said = append(said, text)
		}
	}
	if !ok {
		return "", false
	}
	return strings.Join(said, "; "), true
}

// sbatchRefuses says whether a line is one with which sbatch itself turns down what
// it was called with.
func sbatchRefuses(line string) bool {
	for _, start := range []string{"Invalid ", "invalid option", "unrecognized option", "Batch script "} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}
