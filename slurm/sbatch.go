package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Submit puts a job in the queue, by sbatch. Jobs are requeued when their node
// fails, under the same id: a command that must not run twice has to see to it
// itself.
//
// sbatch may fail or be cut off after the controller has taken the job. Unless the
// controller clearly said no, Submit looks for the job's token before it returns an
// error, and that error leaves the job in doubt: ask [Client.Find], and go on asking
// until it has an answer, before the job is submitted again.
func (c *Client) Submit(ctx context.Context, spec JobSpec) (string, error) {
	c.fill(&spec)
	if err := checkForSlurm(&spec); err != nil {
		return "", err
	}
	defer c.forget()
	out, err := c.caller.call(ctx, 2*c.opt.Timeout, script(&spec), "sbatch", sbatchArgs(&spec, c.opt.Now())...)
	if err == nil {
		if id, ok := parseSubmitted(out); ok {
			return id, nil
		}
		err = fmt.Errorf("sbatch printed no job id: %.200q", out)
	}
	if call, ok := errors.AsType[*callError](err); ok && call.exited() {
		if reason, ok := refusal(call.words); ok {
			return "", &RefusedError{Job: spec.Name, Reason: reason}
		}
	}
	if spec.Token == "" {
		return "", fmt.Errorf("submit job %s: %w", spec.Name, err)
	}
	l, lookErr := c.list(ctx)
	if lookErr != nil {
		return "", fmt.Errorf("submit job %s: %w; whether it was taken is not known: %w", spec.Name, err, lookErr)
	}
	if id := l.byToken(spec.Token); id != "" {
		c.opt.Log.Warn("a submission failed and the job is in the queue all the same", "job", spec.Name, "id", id, "error", err)
		return id, nil
	}
	return "", fmt.Errorf("submit job %s: %w; it is not in the queue yet", spec.Name, err)
}

// Command is how Submit would call sbatch for a job: its arguments, and the script
// that it gets on standard input. It is for showing.
func (c *Client) Command(spec JobSpec) (argv []string, input string) {
	c.fill(&spec)
	return append([]string{"sbatch"}, sbatchArgs(&spec, c.opt.Now())...), script(&spec)
}

// fill gives the job what it does not say itself.
func (c *Client) fill(spec *JobSpec) {
	spec.Account = cmp.Or(spec.Account, c.opt.Account)
	spec.Partition = cmp.Or(spec.Partition, c.opt.Partition)
	spec.QOS = cmp.Or(spec.QOS, c.opt.QOS)
}

// sbatchArgs spells a job as options of sbatch(1). Every option that the caller's
// environment or the site's defaults could set otherwise is given.
func sbatchArgs(spec *JobSpec, now time.Time) []string {
	args := []string{
		"--parsable",
		"--job-name=" + spec.Name,
		"--comment=" + comment(spec),
		"--chdir=" + workDir(spec),
		"--output=" + outputPattern(spec),
		"--open-mode=append",
		"--export=ALL", // of an environment that is clean; see script
		"--requeue",
		"--nodes=1", "--ntasks=1",
		"--time=" + strconv.Itoa(spec.Minutes),
	}
	add := func(option, value string) {
		if value != "" {
			args = append(args, option+"="+value)
		}
	}
	number := func(option string, n int, unit string) {
		if n != 0 {
			args = append(args, option+"="+strconv.Itoa(n)+unit)
		}
	}
	add("--account", spec.Account)
	add("--partition", spec.Partition)
	add("--qos", spec.QOS)
	number("--nice", spec.Nice, "")
	number("--cpus-per-task", spec.CPUs, "")
	number("--mem", spec.MemoryMB, "M")
	if spec.GPUs > 0 {
		add("--gres", "gpu:"+strconv.Itoa(spec.GPUs))
	}
	var after []string
	if len(spec.After) > 0 {
		after = append(after, "afterany:"+strings.Join(spec.After, ":"))
	}
	if spec.Singleton {
		after = append(after, "singleton")
	}
	add("--dependency", strings.Join(after, ","))
	// Relative: an absolute time is read in the time zone of whoever reads it.
	if wait := spec.Begin.Sub(now); !spec.Begin.IsZero() && wait > 0 {
		add("--begin", fmt.Sprintf("now+%d", (wait+time.Second-1)/time.Second))
	}
	if spec.Array > 0 {
		tasks := "0-" + strconv.Itoa(spec.Array-1)
		if spec.Throttle > 0 {
			tasks += "%" + strconv.Itoa(spec.Throttle)
		}
		add("--array", tasks)
	}
	return args
}

// comment is what the job carries for this package: its token, and the throttle
// of an array, which squeue prints nowhere that is safe to parse.
func comment(spec *JobSpec) string {
	if spec.Array > 0 && spec.Throttle > 0 {
		return spec.Token + "%" + strconv.Itoa(spec.Throttle)
	}
	return spec.Token
}

// parseComment reads what comment wrote. Other people's comments come out as
// tokens that nobody looks for.
func parseComment(s string) (token string, throttle int) {
	token, number, _ := strings.Cut(s, "%")
	throttle, err := strconv.Atoi(number)
	if err != nil || throttle < 0 || token == "(null)" {
		throttle = 0
	}
	if token == "(null)" { // Slurm's word for no comment
		token = ""
	}
	return token, throttle
}

// parseSubmitted finds the id in what sbatch --parsable printed: the last line that
// is "id" or "id;cluster". Sites wrap sbatch so that other lines come first. A line
// without an end was cut, and 15 may be what is left of 1534.
func parseSubmitted(out string) (id string, ok bool) {
	for line := range strings.Lines(out) {
		word, cluster, hasCluster := strings.Cut(strings.TrimSpace(line), ";")
		if strings.HasSuffix(line, "\n") && isNumber(word) && (!hasCluster || cluster != "" && !strings.ContainsAny(cluster, " ;")) {
			id, ok = word, true
		}
	}
	return id, ok
}

// isNumber says whether s is a job's id or an index: digits alone, in the range
// that Slurm has for them.
func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) <= 10
}

// isID says whether s is spelled as [Client.Submit] or [TaskID] spells ids.
func isID(s string) bool {
	id, task, isTask := strings.Cut(s, "_")
	return isNumber(id) && (!isTask || isNumber(task))
}

// checkForSlurm refuses what sbatch would read as something else.
func checkForSlurm(spec *JobSpec) error {
	if err := spec.Check(); err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		return &RefusedError{Job: spec.Name, Reason: fmt.Sprintf(format, args...)}
	}
	for _, word := range []struct{ name, text string }{
		{"token", spec.Token}, {"account", spec.Account}, {"partition", spec.Partition}, {"QOS", spec.QOS},
	} {
		if strings.ContainsFunc(word.text, func(r rune) bool { return r <= ' ' || r > '~' || r == '%' }) {
			return refuse("its %s %q is not one word of ASCII letters, digits and signs without %%; give another", word.name, word.text)
		}
	}
	for _, line := range []struct{ name, text string }{
		{"name", spec.Name}, {"directory", spec.Dir}, {"output file", spec.Output},
	} {
		if strings.ContainsFunc(line.text, unicode.IsControl) || !utf8.ValidString(line.text) {
			return refuse("its %s %q holds control characters or is not UTF-8; give another", line.name, line.text)
		}
	}
	if strings.Contains(spec.Output, `\`) {
		return refuse("its output file %q holds a backslash, with which sbatch expands no %%j; give another", spec.Output)
	}
	if !filepath.IsAbs(workDir(spec)) {
		return refuse("its directory %q is relative; give an absolute path", spec.Dir)
	}
	for _, id := range spec.After {
		if !isID(id) {
			return refuse("it has to run after job %q, which is no id of a job; leave it out", id)
		}
	}
	for _, kv := range spec.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || !isName(name) {
			// The text itself stays out of the message: it may be a secret.
			return refuse("a variable of its environment is not NAME=value with a name that a shell can set; rename it")
		}
	}
	for _, text := range [][]string{spec.Env, spec.Command} {
		for _, s := range text {
			if strings.Contains(s, "\x00") {
				return refuse("its command or environment holds a zero byte, which no program can be passed; use a file")
			}
		}
	}
	return nil
}

// isName says whether a shell can set a variable of this name.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
