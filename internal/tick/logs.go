package tick

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/render"
)

func logsCommand() command {
	return command{
		name: "logs", use: "[--root DIR] [--leg N | --job NAME | --kernel] [-f] RUN",
		what: "show what legs, jobs or the kernel of a run printed",
		detail: strings.TrimSpace(`
Shows what the author printed in the run's last leg, in leg N, what a job printed, or
what the kernel and the runners of jobs said of the run. A sweep's name shows all of its
tasks, NAME.3 its task 3. Of launches with the same name it is the latest. With -f it goes
on with what is printed from then on, from leg to leg, until what is shown has ended.

After what a judge printed comes its verdict, once it has concluded.

A terminal gets the texts without control sequences, a file or a pipe gets their bytes.

Examples:
  outerloop-tick logs -f first
  outerloop-tick logs --job orders.3 first`),
		run: runLogs,
	}
}

// logsOf is which logs of a run are wanted.
type logsOf struct {
	root   engine.Root
	run    string
	leg    int // -1 for the last, and then those after it
	first  int // the leg that was the last at first, where none was asked for
	job    string
	kernel bool
}

func runLogs(ctx context.Context, c *call, args []string) error {
	w := logsOf{first: -1}
	rootFlag := c.rootFlag()
	c.flags.IntVar(&w.leg, "leg", -1, "of leg `N`")
	c.flags.StringVar(&w.job, "job", "", "of the launch `NAME`, or of the task NAME.I of a sweep")
	c.flags.BoolVar(&w.kernel, "kernel", false, "of the kernel's own processes")
	follow := c.flags.Bool("follow", false, "go on with what is printed from now on")
	c.flags.BoolVar(follow, "f", false, "the same as --follow")
	rest, err := c.parse(args)
	if err == nil && len(rest) > 0 {
		// The name may come first, as other programs' log commands have it.
		w.run = rest[0]
		rest, err = c.parse(rest[1:])
	}
	if err != nil {
		return err
	}
	if w.run == "" || len(rest) > 0 {
		return wrong("usage: outerloop-tick logs [flags] RUN; outerloop-tick status lists the runs", "logs takes the name of one run")
	}
	chosen := 0
	for _, given := range []bool{w.leg >= 0, w.job != "", w.kernel} {
		if given {
			chosen++
		}
	}
	if chosen > 1 {
		return wrong("leave all but one of them out", "--leg, --job and --kernel do not go together")
	}
	if w.root, err = c.root(*rootFlag); err != nil {
		return err
	}
	if err := known(w.root, w.run); err != nil {
		return err
	}
	return w.show(ctx, c, *follow)
}

// logPoll is how often a log is looked at that is followed.
const logPoll = 200 * time.Millisecond

func (w *logsOf) show(ctx context.Context, c *call, follow bool) error {
	_, terminal := terminalOf(c.Stdout)
	p := &printer{out: c.Stdout, clean: terminal, files: make(map[string]*printed)}
	for {
		// Whether it is over is asked before it is read: then nothing is missed.
		sources, over, err := w.sources()
		if err != nil {
			return err
		}
		news, err := p.print(sources)
		if err != nil {
			return err
		}
		if over || !follow || ctx.Err() != nil {
			if err := p.flush(); err != nil {
				return err
			}
			return w.verdict(p)
		}
		if !news {
			if err := p.flush(); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(logPoll):
		}
	}
}

// verdict shows what a judge's run came to, where no other part of its logs was asked for.
func (w *logsOf) verdict(p *printer) error {
	if w.kernel || w.job != "" || w.leg >= 0 {
		return nil
	}
	story, err := w.root.Story(w.run)
	if err != nil || story.FullVerdict == nil {
		return err
	}
	v := channel.Verdict{Findings: story.FullVerdict.Findings, Notes: story.FullVerdict.Notes}
	return p.put(&printed{title: "verdict"}, render.Verdict(v))
}

// logFile is one file of what was printed.
type logFile struct{ title, path string }

// sources lists the files that are wanted, and says whether nothing more can come.
func (w *logsOf) sources() (all []logFile, over bool, err error) {
	story, err := w.root.Story(w.run)
	if err != nil {
		return nil, false, err
	}
	over = story.State == engine.Ended
	dir := w.root.RunDir(w.run)
	switch {
	case w.kernel:
		return []logFile{{"kernel", filepath.Join(dir, "kernel.log")}, {"jobs", filepath.Join(dir, "jobs.log")}}, over, nil
	case w.job != "":
		return w.jobSources(&story, over)
	case w.leg < 0:
		if n := len(story.Legs); n > 0 && w.first < 0 {
			w.first = story.Legs[n-1].Number
		}
		return w.legSources(&story, func(n int) bool { return n >= w.first }), over, nil
	}
	all = w.legSources(&story, func(n int) bool { return n == w.leg })
	if len(all) == 0 {
		return nil, false, failed("outerloop-tick status shows the leg that runs or ran last", "run %s has had no leg %d", w.run, w.leg)
	}
	for _, leg := range story.Legs {
		over = over || leg.Number == w.leg && !leg.Ended.IsZero()
	}
	return all, over, nil
}

func (w *logsOf) legSources(story *engine.Story, wanted func(leg int) bool) (all []logFile) {
	for _, leg := range story.Legs {
		if wanted(leg.Number) {
			n := strconv.Itoa(leg.Number)
			at := filepath.Join(w.root.RunDir(w.run), "legs", n)
			all = append(all, logFile{"leg " + n, filepath.Join(at, "stdout")}, logFile{"leg " + n + ", stderr", filepath.Join(at, "stderr")})
		}
	}
	return all
}

func (w *logsOf) jobSources(story *engine.Story, over bool) (all []logFile, ended bool, err error) {
	name, task, isTask := cutTask(w.job)
	for i := len(story.Launches) - 1; i >= 0; i-- {
		l := &story.Launches[i]
		if l.Name != name {
			continue
		}
		ended = true
		for _, j := range l.Jobs {
			if isTask && j.Task != task {
				continue
			}
			title := name
			if j.Task >= 0 {
				title += "." + strconv.Itoa(j.Task)
			}
			ended = ended && (!j.Ended.IsZero() || over)
			all = append(all, logFile{title, filepath.Join(j.Dir, "stdout")}, logFile{title + ", stderr", filepath.Join(j.Dir, "stderr")})
		}
		break
	}
	if len(all) == 0 {
		return nil, false, failed("outerloop-tick page shows the launches of every run", "run %s has had no launch %s", w.run, channel.Quote([]string{w.job}))
	}
	return all, ended, nil
}

func cutTask(job string) (name string, task int, isTask bool) {
	name, number, found := strings.Cut(job, ".")
	task, err := strconv.Atoi(number)
	if !found || err != nil {
		return job, 0, false
	}
	return name, task, true
}

// terminalOf is the width of a terminal, and false for what is none.
func terminalOf(out any) (columns int, ok bool) {
	f, isFile := out.(*os.File)
	if !isFile {
		return 0, false
	}
	columns, _, ok = dirfd.TerminalSize(f)
	return columns, ok
}
