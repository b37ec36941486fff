package verbs

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// Launch stages a job.
func Launch() *Verb {
	v := &Verb{
		name:     "launch",
		role:     author,
		does:     "stages an experiment that runs outside the sandbox while you sleep",
		synopsis: "--name NAME [flags] -- COMMAND [ARGUMENT...]",
		details: `The launch runs once you have called syscall-sleep and ended your session, on the
workspace as it is then; its results are there when you wake. The command is
run by "sh -c" in the workspace's root, with exactly the words that follow "--".
For a pipe or any other shell syntax launch a shell: -- sh -c '...'.

With --array the command runs as a sweep of N tasks, which see SWEEP_INDEX=0 to
N-1 in their environment. A sweep is one launch of the budget, and takes N times
the GPU hours. Artifacts are files that the job leaves; they come back as
.outerloop/results/NAME/FILE, those of a sweep as results/NAME/INDEX/FILE.`,
		examples: [2]string{
			"--name baseline --minutes 20 --artifact out/metrics.json -- python train.py --lr 3e-4",
			`--name rates --array 8 --concurrency 2 --why "is a smaller rate steadier?" -- sh -c 'python train.py --rate-index "$SWEEP_INDEX"'`,
		},
		operands: commandOperands,
	}
	args := &launchArgs{
		launch: channel.Launch{Minutes: channel.DefaultMinutes, Array: 1},
	}
	args.addTo(&v.options)
	v.run = withSession(args.stage)
	return v
}

// launchArgs are the flags of a launch.
type launchArgs struct {
	launch channel.Launch
	named  *option
	asJSON bool
}

func (a *launchArgs) addTo(o *options) {
	l := &a.launch
	a.named = o.text(&l.Name, "name", "NAME", "what you call it: 1 to 32 of a-z, 0-9 and '-'; required")
	o.number(&l.Minutes, "minutes", "N",
		fmt.Sprintf("walltime of each task, 1 to %d (default %d)", channel.MaxMinutes, channel.DefaultMinutes))
	o.text(&l.Why, "why", "TEXT",
		fmt.Sprintf("one line on what it tests, at most %d characters, for every agent to see", channel.MaxWhyChars))
	o.number(&l.Array, "array", "N", fmt.Sprintf("run N tasks, 1 to %d (default 1)", channel.MaxArray))
	o.number(&l.Concurrency, "concurrency", "K", "run at most K tasks at a time (default all)")
	o.texts(&l.Artifacts, "artifact", "FILE",
		fmt.Sprintf("bring this file back, at most %d bytes; up to %d times", channel.MaxArtifactBytes, channel.MaxArtifacts))
	o.json(&a.asJSON)
}

func (a *launchArgs) stage(c *call, s *channel.Session) error {
	if !a.named.given {
		return wrongCall(usageCure(c.verb), "--name is missing")
	}
	asked := a.launch
	asked.Command = channel.Quote(c.args)
	launch, err := checkLaunch(asked)
	if err != nil {
		return asWrongCall(err)
	}
	staged, err := c.stageLaunch(s, launch)
	if err != nil {
		return err
	}
	for _, doubt := range doubts(c.args, launch) {
		c.hint(doubt)
	}
	if a.asJSON {
		return c.sayJSON(launch)
	}
	c.sayLaunch(asked, launch)
	c.sayCost(s, staged)
	c.say("%s staged. Stage more, or run syscall-sleep and then end your session.", render.Count(len(staged), "launch"))
	c.say("%s", budgetLine(s))
	return nil
}

// checkLaunch adds to the protocol's bounds what JSON cannot carry: bytes that
// are no UTF-8 would arrive as other ones.
func checkLaunch(l channel.Launch) (channel.Launch, error) {
	for _, text := range append([]string{l.Command, l.Why}, l.Artifacts...) {
		if !utf8.ValidString(text) {
			return l, wrongCall("put such bytes into a script or file of the workspace", "%s is not valid UTF-8", render.Line(text, 80))
		}
	}
	for i, path := range l.Artifacts {
		if slices.Contains(l.Artifacts[:i], path) {
			return l, wrongCall("name each file once", "--artifact %s is given twice", render.Line(path, 80))
		}
	}
	return channel.CheckLaunch(l)
}

// stageLaunch adds a launch to what is staged and returns all that are. What
// the kernel would refuse for what is staged already is refused here: it refuses
// the whole request then.
func (c *call) stageLaunch(s *channel.Session, l channel.Launch) (staged []channel.Launch, err error) {
	err = s.Stage(unending(), func(all *channel.Staged) error {
		for i := range all.Launches {
			if all.Launches[i].Name == l.Name {
				return failed("give it another --name; syscall-status shows what is staged, syscall-cancel discards it",
					"a launch %q is staged already", l.Name)
			}
		}
		if len(all.Launches)+1 > channel.MaxLaunches {
			return failed("run what is staged with syscall-sleep, or make one sweep of several with --array",
				"%d launches are staged already, the most that fit in one sleep", channel.MaxLaunches)
		}
		all.Launches = append(all.Launches, l)
		staged = all.Launches
		return c.checkBudget(s, staged)
	})
	return staged, err
}

// sayLaunch tells what was staged, and where that is not what was asked for.
func (c *call) sayLaunch(asked, l channel.Launch) {
	index := ""
	if l.Array > 1 {
		index = fmt.Sprintf("; SWEEP_INDEX is 0 to %d", l.Array-1)
	}
	c.say("Staged launch %s: %s%s.", l.Name, render.Shape(l), index)
	var changes []string
	clamped := func(flag string, asked, got int) {
		if asked != got {
			changes = append(changes, fmt.Sprintf("--%s %d became %d, the most there is", flag, asked, got))
		}
	}
	clamped("minutes", asked.Minutes, l.Minutes)
	clamped("array", asked.Array, l.Array)
	if l.Array == 1 && asked.Concurrency > 0 {
		changes = append(changes, "--concurrency was dropped, since it goes with --array only")
	} else {
		clamped("concurrency", asked.Concurrency, l.Concurrency)
	}
	if len(changes) > 0 {
		c.say("Note: %s.", strings.Join(changes, "; "))
	}
}
