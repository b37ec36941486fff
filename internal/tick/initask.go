package tick

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/render"
	"github.com/outerloop-go/outerloop/internal/sandbox"
	"github.com/outerloop-go/outerloop/internal/settings"
	"github.com/outerloop-go/outerloop/slurm"
)

// compute settles where jobs run.
func (s *setUp) compute(ctx context.Context) (onSlurm bool, err error) {
	q := question{setting: "COMPUTE", flag: "compute", text: "Where jobs run: local or slurm", usual: kindLocal, check: func(text string) (string, error) {
		switch {
		case text != kindLocal && text != kindSlurm:
			return "", wrong("write local or slurm", "there is no compute %q", text)
		case text == kindSlurm && !s.client.Installed():
			return "", failed("put Slurm's programs on the PATH, or choose local", "there is no sbatch on the PATH")
		}
		return text, nil
	}}
	if s.client.Installed() {
		q.usual = kindSlurm
	}
	err = s.settle(ctx, q)
	return s.setting("COMPUTE") == kindSlurm, err
}

func (s *setUp) rootQuestion(onSlurm bool) question {
	q := question{setting: "ROOT", flag: "root", text: "State root, a directory", usual: filepath.Join(s.Getenv("HOME"), ".outerloop")}
	if onSlurm {
		q.text, q.usual = "State root, a directory that all nodes share", ""
	}
	q.check = func(text string) (string, error) {
		if text == "" {
			return "", wrong("give --root DIR, one that all nodes share, or --compute local for this machine alone", "a cluster needs the state root on a filesystem that its nodes share, and none is set")
		}
		path, err := s.path(text)
		if err != nil {
			return "", err
		}
		if err := engine.CheckRoot(path); err != nil {
			return "", err
		}
		if _, err := engine.OpenRoot(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		return path, nil
	}
	return q
}

// path is a path in full: settings are read in any directory, and not by a shell.
func (s *setUp) path(text string) (string, error) {
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		text = filepath.Join(s.Getenv("HOME"), rest)
	}
	return filepath.Abs(text)
}

// onCluster settles account and partition, and shows what the cluster offers. One that
// cannot be asked is no reason to refuse: an operator may know better.
func (s *setUp) onCluster(ctx context.Context) error {
	accounts, err := s.client.Accounts(ctx)
	if err != nil {
		fmt.Fprintf(s.Stderr, "outerloop-tick: warning: accounts cannot be checked: %v\n", err)
	} else {
		fmt.Fprintf(s.Stderr, "accounts: %s\n", strings.Join(accounts, ", "))
	}
	q := question{setting: "ACCOUNT", flag: "account", text: "Account that jobs are billed to", check: func(text string) (string, error) {
		switch {
		case text == "":
			return "", wrong("give --account ACCOUNT", "no account is set, by which clusters bill")
		case len(accounts) > 0 && !slices.Contains(accounts, text):
			return "", failed("use one of "+strings.Join(accounts, ", "), "sacctmgr knows no account %q of yours", text)
		}
		return text, nil
	}}
	if len(accounts) > 0 {
		q.usual = accounts[0]
	}
	if err := s.settle(ctx, q); err != nil {
		return err
	}
	partitions, err := s.client.Partitions(ctx)
	if err != nil {
		fmt.Fprintf(s.Stderr, "outerloop-tick: warning: partitions cannot be checked: %v\n", err)
	}
	listPartitions(s.Stderr, partitions)
	q = question{setting: "PARTITION", flag: "partition", text: "Partition of legs and jobs, or a list with commas", check: func(text string) (string, error) {
		return text, knownPartitions(text, partitions)
	}}
	for _, p := range partitions {
		if p.Default {
			q.usual = p.Name
		}
	}
	return s.settle(ctx, q)
}

func listPartitions(out io.Writer, partitions []slurm.Partition) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range partitions {
		state := "down"
		if p.Up {
			state = "up"
		}
		if p.Default {
			state += ", default"
		}
		fmt.Fprintf(w, "partition %s\t%s\tup to %s\t%s\n", p.Name, render.Count(p.Nodes, "node"), p.Limit, state)
	}
	w.Flush()
}

func knownPartitions(list string, partitions []slurm.Partition) error {
	if list == "" || len(partitions) == 0 {
		return nil
	}
	var names []string
	for _, p := range partitions {
		names = append(names, p.Name)
	}
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(names, name) {
			return failed("use one of "+strings.Join(names, ", "), "sinfo knows no partition %q", name)
		}
	}
	return nil
}

func (s *setUp) sandboxQuestion(ctx context.Context) question {
	return question{setting: "SANDBOX", flag: "sandbox", text: "Sandbox of authors and jobs: bwrap or none", usual: string(sandbox.Bwrap), check: func(text string) (string, error) {
		switch text {
		case string(sandbox.None):
			return text, nil
		case string(sandbox.Bwrap):
			if _, err := sandbox.Detect(ctx); err != nil {
				return "", failed("install or allow it, or accept the risk with --sandbox none: authors then have all your rights", "%w", err)
			}
			return text, nil
		}
		return "", wrong("write bwrap or none", "there is no sandbox %q", text)
	}}
}

// keySetting names the file with the key of the author's program.
func (s *setUp) keySetting() string {
	if s.agent == "codex" {
		return "CODEX_KEY_FILE"
	}
	return "HARNESS_KEY_FILE"
}

func (s *setUp) authorQuestion() question {
	return question{setting: "AUTHOR", flag: "author", text: "Author: claude, codex, or a command for sh -c; empty to name one with each run", check: func(text string) (string, error) {
		if text != "claude" && text != "codex" {
			if strings.Contains(text, "/codex.sh") {
				s.agent = "codex"
			}
			// What another author needed is not for this one.
			if was := s.now.Get("AUTHOR"); was.Set && was.Text != text {
				s.keep("AUTHOR_READ", "")
				s.keep("AUTHOR_NETWORK", "")
			}
			return text, nil
		}
		if onPath(text) == "" {
			return "", failed("install it there, or give a command that starts it", "%s is not on the session's PATH (%s)", text, systemPath())
		}
		script, err := s.script(text)
		if err != nil {
			return "", err
		}
		s.agent = text
		s.keep("AUTHOR_READ", filepath.Dir(script))
		s.keep("AUTHOR_NETWORK", "yes")
		return channel.Quote([]string{"sh", script}), nil
	}}
}

// script is where an agent's script lies: where it was installed, or in the checkout
// that the program was built in.
func (s *setUp) script(agent string) (string, error) {
	self, err := s.self()
	if err != nil {
		return "", err
	}
	for _, dir := range []string{"share/outerloop/authors", "examples/claude"} {
		path := filepath.Join(filepath.Dir(filepath.Dir(self)), dir, agent+".sh")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", failed("give the command itself, such as sh /path/to/"+agent+".sh", "the script for %s was not installed beside %s", agent, self)
}

// keyFile settles the file with the key. One that is not there is written, if there is
// a key to write.
func (s *setUp) keyFile(ctx context.Context, keyHere bool) error {
	if s.setting("AUTHOR") == "" && !s.given["key-file"] && !keyHere {
		return nil
	}
	missing := ""
	q := question{setting: s.keySetting(), flag: "key-file", text: "File with the author's key; empty for none, where its program is logged in otherwise"}
	if s.talk != nil || keyHere {
		q.usual = filepath.Join(settings.Dir(s.Getenv("HOME")), "key")
	}
	q.check = func(text string) (string, error) {
		missing = ""
		if text == "" || text == "none" {
			return "", nil
		}
		path, err := s.path(text)
		if err != nil {
			return "", err
		}
		err = settings.CheckSecret(path)
		if errors.Is(err, fs.ErrNotExist) && (keyHere || s.talk != nil) || err != nil && keyHere {
			missing = path
			return path, nil
		}
		if err != nil {
			return "", failed("name a file that only you can read (chmod 600), or give the key to --key-stdin", "%w", err)
		}
		return path, nil
	}
	if err := s.settle(ctx, q); err != nil {
		return err
	}
	switch {
	case keyHere:
		raw, err := io.ReadAll(io.LimitReader(s.Stdin, maxKeyBytes+1))
		return s.takeKey(string(raw), err)
	case missing != "":
		text, err := s.talk.askSecret(ctx, missing+" is not there. Its key, not shown")
		if err != nil {
			return err
		}
		return s.takeKey(text, nil)
	}
	return nil
}

// maxKeyBytes bounds a key; those of the services have a few hundred bytes.
const maxKeyBytes = 64 << 10

func (s *setUp) takeKey(text string, err error) error {
	text = strings.TrimSpace(text)
	switch {
	case err != nil:
		return failed("", "reading the key: %w", err)
	case text == "" || text == "none":
		return failed("leave the key file empty where there is none", "no key was given; nothing was written")
	case len(text) > maxKeyBytes:
		return failed("", "a key of more than %d bytes is none", maxKeyBytes)
	}
	s.key = []byte(text + "\n")
	return nil
}

// show says what is set and where, and what is wrong with it.
func (s *setUp) show(ctx context.Context) error {
	onSlurm := s.now.Get("COMPUTE").Text == kindSlurm
	checks := []question{s.rootQuestion(onSlurm), s.sandboxQuestion(ctx)}
	if onSlurm {
		partitions, err := s.client.Partitions(ctx)
		if err != nil {
			fmt.Fprintf(s.Stderr, "outerloop-tick: warning: partitions cannot be checked: %v\n", err)
		}
		checks = append(checks, question{setting: "PARTITION", check: func(text string) (string, error) { return text, knownPartitions(text, partitions) }})
	}
	secret := func(text string) (string, error) { return text, settings.CheckSecret(text) }
	checks = append(checks, question{setting: "HARNESS_KEY_FILE", check: secret}, question{setting: "CODEX_KEY_FILE", check: secret})
	w := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
	for _, name := range []string{"COMPUTE", "ROOT", "ACCOUNT", "PARTITION", "SANDBOX", "AUTHOR", "AUTHOR_READ", "AUTHOR_NETWORK", "HARNESS_KEY_FILE", "CODEX_KEY_FILE"} {
		v := s.now.Get(name)
		if !v.Set {
			continue
		}
		fmt.Fprintf(w, "%s\t%s\n", v.From, render.Line(v.Text, 200))
		for _, q := range checks {
			if q.setting != name || v.Text == "" {
				continue
			}
			if _, err := q.check(v.Text); err != nil {
				s.status = exitFailed
				fmt.Fprintf(s.Stderr, "outerloop-tick: error: %s: %v\n", v.From, err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(s.Stderr, "outerloop-tick: outerloop-tick init --force changes it")
	return nil
}
