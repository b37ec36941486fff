package channel

import (
	"fmt"
	"strings"
)

// Launch is one job that an author asks for; with Array above 1 it is a sweep.
type Launch struct {
	Name        string   `json:"name"`
	Command     string   `json:"command"` // for sh -c
	Minutes     int      `json:"minutes"` // walltime of each task
	Artifacts   []string `json:"artifacts"`
	Array       int      `json:"array"`                 // tasks, which see SWEEP_INDEX=0…Array-1
	Why         string   `json:"why,omitempty"`         // one line for everybody who looks at the queue
	Concurrency int      `json:"concurrency,omitempty"` // tasks at a time, 0 for all
}

// CheckLaunch returns the launch as it will run: walltime, width and
// concurrency clamped, why folded to one line. What is against a bound is a
// *[RefusedError] whose Field is the key in the committed file.
//
// Verbs call it when they stage and the kernel when it reads, so a launch that
// could be staged is never refused later for what is in it.
func CheckLaunch(l Launch) (Launch, error) {
	if err := CheckName(l.Name); err != nil {
		return Launch{}, err
	}
	if err := checkCommand(l.Command); err != nil {
		return Launch{}, err
	}
	if l.Minutes < 1 {
		return Launch{}, refuse("minutes", fmt.Sprintf("give 1 to %d minutes", MaxMinutes),
			"a walltime of %d minutes is below 1", l.Minutes)
	}
	l.Minutes = min(l.Minutes, MaxMinutes)
	if l.Array < 1 {
		return Launch{}, refuse("array", fmt.Sprintf("give 1 to %d tasks", MaxArray),
			"a sweep of %d tasks is below 1", l.Array)
	}
	l.Array = min(l.Array, MaxArray)
	if l.Concurrency < 0 {
		return Launch{}, refuse("concurrency", "give 0 for all tasks at once, or how many may run at a time",
			"%d tasks at a time is below 0", l.Concurrency)
	}
	l.Concurrency = min(l.Concurrency, l.Array)
	if l.Array == 1 {
		l.Concurrency = 0
	}
	l.Why = FoldLine(l.Why)
	if err := checkChars("why", l.Why, MaxWhyChars, "say it in one line; details belong in the note"); err != nil {
		return Launch{}, err
	}
	if err := checkArtifacts(l.Artifacts); err != nil {
		return Launch{}, err
	}
	if l.Artifacts == nil {
		l.Artifacts = []string{} // the file holds a list, never null
	}
	return l, nil
}

// CheckName refuses what cannot name a launch: the name must match
// ^[a-z0-9][a-z0-9-]{0,31}$ as a whole. It becomes part of directory names.
func CheckName(name string) error {
	ok := name != "" && len(name) <= MaxNameBytes && name[0] != '-'
	for _, c := range []byte(name) {
		ok = ok && ('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-')
	}
	if !ok {
		return refuse("name", "use 1 to 32 of a-z, 0-9 and '-', beginning with a letter or a digit",
			"%s cannot name a launch", quoteShort(name))
	}
	return nil
}

func checkCommand(command string) error {
	const cure = "give the command after --, as in: -- python train.py --lr 3e-4"
	if strings.TrimSpace(command) == "" {
		return refuse("command", cure, "the command is blank")
	}
	if strings.ContainsRune(command, 0) {
		return refuse("command", "remove it", "the command holds a NUL, which no program can be given")
	}
	return checkChars("command", command, MaxCommandChars, "put the long part into a script in the workspace and launch that")
}

func checkArtifacts(paths []string) error {
	if len(paths) > MaxArtifacts {
		return refuse("artifacts", "have the job pack them into fewer files",
			"%d artifacts, at most %d are allowed", len(paths), MaxArtifacts)
	}
	for i, p := range paths {
		if err := CheckArtifact(p); err != nil {
			return within(index("artifacts", i), err)
		}
	}
	return nil
}

// CheckArtifact refuses a path that is not a plain relative one: at most 500
// characters, no part that is empty, "." or "..", no leading '/' or '~', no
// backslash and no NUL, all in UTF-8. The checks are on words only; whoever opens the path
// does it part by part and follows no link.
func CheckArtifact(untrustedPath string) error {
	const cure = "name a file by its path below the workspace, such as out/metrics.json"
	bad := func(cause string) error {
		return refuse("", cure, "%s %s", quoteShort(untrustedPath), cause)
	}
	if err := checkChars("", untrustedPath, MaxPathChars, cure); err != nil {
		return err
	}
	switch {
	case untrustedPath == "":
		return bad("is empty")
	case untrustedPath[0] == '/' || untrustedPath[0] == '~':
		return bad("is not relative to the workspace")
	case strings.ContainsAny(untrustedPath, "\\\x00"):
		return bad("holds a backslash or a NUL")
	}
	for part := range strings.SplitSeq(untrustedPath, "/") {
		if part == "" || part == "." || part == ".." {
			return bad(`has an empty part, "." or ".."`)
		}
	}
	return nil
}
