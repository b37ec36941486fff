package tick

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/settings"
	"github.com/outerloop-go/outerloop/slurm"
)

func initCommand() command {
	return command{
		name: "init", use: "[flags]",
		what: "set up this account: ask, check, and write the settings file",
		detail: strings.TrimSpace(`
Writes ~/.config/outerloop/.env: where jobs run, the state root, the sandbox, and the
author that outerloop-tick new starts where it is told no other. In a terminal it asks
for what no flag says, and shows what the cluster offers. Elsewhere, or with --yes, it
takes what is set or usual. Each answer is checked before anything is written.

Called again it shows what is set and checks that. It changes settings that are there
only with --force; other lines of the file stay.

Examples:
  outerloop-tick init
  outerloop-tick init --yes --compute local --author claude --key-file ~/.config/outerloop/key
  outerloop-tick init --yes --root /shared/me/outerloop --account abc123 --partition cpu_short`),
		run: runInit,
	}
}

// setUp is one set-up under way.
type setUp struct {
	*call
	now    *settings.Settings // what is set
	given  map[string]bool    // flags
	talk   *talk              // nil where nobody is asked
	client *slurm.Client
	agent  string // claude or codex, where the author is one of them

	set []settings.Setting
	key []byte // to be written to the key file, nil for nothing
}

// question is a setting, by the flag of the same meaning and by what a person is asked.
// An answer that its check refuses is asked for again.
type question struct {
	setting, flag string
	text          string
	usual         string
	check         func(text string) (string, error)
}

func runInit(ctx context.Context, c *call, args []string) error {
	s := &setUp{call: c, given: make(map[string]bool), client: slurm.New(slurm.Options{})}
	f := c.flags
	f.String("compute", "", "`KIND` of machine that jobs run on: local or slurm")
	f.String("root", "", "the state root, `DIR`; on a cluster, one that all nodes share")
	f.String("account", "", "Slurm `ACCOUNT` of all jobs")
	f.String("partition", "", "Slurm `PARTITION`, or a list, of legs and jobs")
	f.String("sandbox", "", "`KIND`: bwrap or none")
	f.String("author", "", "`COMMAND` of the author: claude, codex, or any other for sh -c")
	f.String("key-file", "", "`FILE` with the key of the author's program, of mode 0600")
	keyHere := f.Bool("key-stdin", false, "read the key from standard input and write it to the key file")
	force := f.Bool("force", false, "change settings and keys that are there")
	yes := f.Bool("yes", false, "ask nothing")
	rest, err := c.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return wrong("outerloop-tick init --help shows what it takes", "%q is not expected: init takes flags only", rest[0])
	}
	f.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	home := c.Getenv("HOME")
	if home == "" {
		return wrong("set HOME", "HOME is not set, and the settings file lies below it")
	}
	if err := settings.CheckDir(settings.Dir(home)); err != nil {
		return failed("chmod 700 "+settings.Dir(home), "%w", err)
	}
	if s.now, err = c.settings(); err != nil {
		return err
	}
	if s.now.Path() != "" && !*force {
		if s.asksChange() {
			return failed("add --force to change it; outerloop-tick init shows what is set", "%s is there already", s.now.Path())
		}
		return s.show(ctx)
	}
	if _, terminal := terminalOf(c.Stdin); terminal && !*yes && !*keyHere {
		s.talk = newTalk(c.Stdin.(*os.File), c.Stderr)
	}
	if s.talk == nil && len(s.given) == 0 {
		return wrong("give flags, or --yes to take what is usual", "init asks in a terminal, and there is none")
	}
	if err := s.settleAll(ctx, *keyHere); err != nil {
		return err
	}
	return s.write(ctx, home, *force)
}

// asksChange says whether a flag names a setting.
func (s *setUp) asksChange() bool {
	for name := range s.given {
		if name != "yes" {
			return true
		}
	}
	return false
}

// settleAll settles every setting, in the order in which they depend on one another.
func (s *setUp) settleAll(ctx context.Context, keyHere bool) error {
	onSlurm, err := s.compute(ctx)
	if err != nil {
		return err
	}
	if err := s.settle(ctx, s.rootQuestion(onSlurm)); err != nil {
		return err
	}
	if onSlurm {
		if err := s.onCluster(ctx); err != nil {
			return err
		}
	}
	for _, q := range []question{s.sandboxQuestion(ctx), s.authorQuestion()} {
		if err := s.settle(ctx, q); err != nil {
			return err
		}
	}
	return s.keyFile(ctx, keyHere)
}

// settle takes a flag, an answer, or what is set or usual, and checks it.
func (s *setUp) settle(ctx context.Context, q question) error {
	usual := q.usual
	was := s.now.Get(q.setting)
	if was.Set {
		usual = was.Text
	}
	f := s.flags.Lookup(q.flag)
	if s.given[q.flag] || s.talk == nil {
		text, from := usual, was.From
		if s.given[q.flag] {
			text, from = f.Value.String(), "--"+q.flag
		}
		text, err := q.checked(text)
		if err != nil && from != "" {
			return fmt.Errorf("%s: %w", from, err)
		}
		if err == nil {
			s.keep(q.setting, text)
		}
		return err
	}
	for {
		text, err := s.talk.ask(ctx, q.text, usual)
		if err != nil {
			return err
		}
		if text, err = q.checked(text); err == nil {
			s.keep(q.setting, text)
			return nil
		}
		s.talk.refuse(err)
	}
}

// checked refuses what the file cannot hold, and then what the question's check does.
func (q question) checked(text string) (string, error) {
	if _, err := (settings.Value{Text: text, From: "the answer"}).Line(); err != nil {
		return "", wrong("write it on one line", "%w", err)
	}
	return q.check(text)
}

func (s *setUp) keep(setting, text string) {
	s.set = append(s.set, settings.Setting{Name: setting, Text: text})
}

// write puts the key and then the settings in place: settings that name a key that is
// not there yet would be worse than a key that nothing names.
func (s *setUp) write(ctx context.Context, home string, force bool) error {
	file := settings.File(home)
	text, err := s.now.With(s.set)
	if err != nil {
		return wrong("write it on one line", "%w", err)
	}
	if s.talk != nil {
		fmt.Fprintf(s.Stderr, "\n%s", text)
		if yes, err := s.talk.ask(ctx, "Write this to "+file+"? yes or no", "yes"); err != nil {
			return err
		} else if yes != "yes" && yes != "y" {
			return failed("", "nothing was written")
		}
	}
	if err := durable.MkdirAll(settings.Dir(home)); err != nil {
		return failed("", "making the directory of the settings: %w", err)
	}
	if s.key != nil {
		path := s.setting(s.keySetting())
		if err := durable.MkdirAll(filepath.Dir(path)); err != nil {
			return failed("", "making the directory of the key: %w", err)
		}
		if _, err := os.Lstat(path); err == nil && !force {
			return failed("add --force to replace it, or leave --key-stdin out to use it", "the key file %s is there already", path)
		}
		if err := durable.WriteFile(path, s.key); err != nil {
			return failed("", "writing the key: %w", err)
		}
	}
	if err := durable.WriteFile(file, text); err != nil {
		return failed("", "writing the settings: %w", err)
	}
	fmt.Fprintf(s.Stdout, "wrote %s\n", file)
	for _, n := range s.set {
		if v := s.now.Get(n.Name); v.Set && strings.HasSuffix(v.From, "environment") && v.Text != n.Text {
			fmt.Fprintf(s.Stderr, "outerloop-tick: warning: %s is another, and goes before the file\n", v.From)
		}
	}
	next := "outerloop-tick new --prompt FILE"
	if s.setting("AUTHOR") == "" {
		next += " -- COMMAND"
	}
	fmt.Fprintf(s.Stderr, "outerloop-tick: next: %s\n", next)
	return nil
}

// setting is what a setting has been settled to.
func (s *setUp) setting(name string) string {
	for _, n := range s.set {
		if n.Name == name {
			return n.Text
		}
	}
	return ""
}

// talk asks a person at a terminal.
type talk struct {
	in    *os.File
	out   io.Writer
	lines chan string // closed at the end of the input
}

// newTalk reads lines beside whoever asks: a read of a terminal cannot be interrupted,
// and Ctrl-C must end the program all the same.
func newTalk(in *os.File, out io.Writer) *talk {
	t := &talk{in: in, out: out, lines: make(chan string)}
	go func() {
		defer close(t.lines)
		var line []byte
		for b := make([]byte, 1); ; {
			if n, err := in.Read(b); n == 0 || err != nil {
				return
			}
			if b[0] == '\n' {
				t.lines <- string(line)
				line = line[:0]
			} else if len(line) < 64<<10 {
				line = append(line, b[0])
			}
		}
	}()
	return t
}

// ask returns the answer, the usual one for an empty line.
func (t *talk) ask(ctx context.Context, text, usual string) (string, error) {
	fmt.Fprintf(t.out, "%s [%s]: ", text, usual)
	select {
	case <-ctx.Done():
		fmt.Fprintln(t.out)
		return "", failed("", "interrupted; nothing was written")
	case line, ok := <-t.lines:
		if !ok {
			fmt.Fprintln(t.out)
			return "", failed("", "the input ended; nothing was written")
		}
		if line = strings.TrimSpace(line); line == "" {
			return usual, nil
		}
		return line, nil
	}
}

// askSecret is ask without showing what is typed.
func (t *talk) askSecret(ctx context.Context, text string) (string, error) {
	restore, err := dirfd.HideInput(t.in)
	if err != nil {
		return "", fmt.Errorf("hiding what is typed: %w", err)
	}
	defer restore()
	return t.ask(ctx, text, "none")
}

func (t *talk) refuse(err error) {
	fmt.Fprintf(t.out, "  %v\n", err)
	if f, ok := errors.AsType[*failure](err); ok && f.cure != "" {
		fmt.Fprintf(t.out, "  %s\n", f.cure)
	} else if bad, ok := errors.AsType[*engine.SettingsError](err); ok && bad.Cure != "" {
		fmt.Fprintf(t.out, "  %s\n", bad.Cure)
	}
}
