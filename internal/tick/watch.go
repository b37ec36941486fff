package tick

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/render"
)

// watchEvery is the pause between two looks. A cluster's queue is shared, and asked
// for less often than that.
const watchEvery = time.Second

// watchStatus shows how the runs stand until the context ends: in a terminal as a table
// that stays in place, else in a line for each change.
func (c *call) watchStatus(ctx context.Context, e *engine.Engine) error {
	if _, ok := terminalOf(c.Stdout); !ok {
		return c.watchLines(ctx, e)
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	// The screen that is beneath comes back at the end; no cursor, no wrapped lines.
	if _, err := io.WriteString(c.Stdout, "\x1b[?1049h\x1b[?25l\x1b[?7l"); err != nil {
		return err
	}
	defer io.WriteString(c.Stdout, "\x1b[?7h\x1b[?25h\x1b[?1049l")
	var runs []engine.Status
	for ctx.Err() == nil {
		latest, err := e.Status(ctx)
		if err == nil {
			runs = latest
		}
		if err := c.draw(watchTable(e.Root, runs, err, time.Now())); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-resized:
		case <-time.After(watchEvery):
		}
	}
	return nil
}

// watchLines is for a file or a pipe. Trouble with the scheduler passes, and is told once.
func (c *call) watchLines(ctx context.Context, e *engine.Engine) error {
	p := newProgress(c.Stdout, e.Now())
	trouble := ""
	for ctx.Err() == nil {
		runs, err := e.Status(ctx)
		now := ""
		if err != nil && ctx.Err() == nil {
			now = err.Error()
		}
		if now != "" && now != trouble {
			fmt.Fprintf(c.Stdout, "no answer: %s\n", render.Line(now, 300))
		}
		trouble = now
		p.show(runs)
		select {
		case <-ctx.Done():
		case <-time.After(watchEvery):
		}
	}
	return nil
}

// draw puts a table over the one before it. Each line's rest is cleared and then all
// that is below, in one write: nothing flickers, and nothing is left of a longer one.
func (c *call) draw(table []byte) error {
	columns, lines := 0, 0
	if f, ok := c.Stdout.(*os.File); ok {
		columns, lines, _ = dirfd.TerminalSize(f)
	}
	_, err := c.Stdout.Write([]byte(screen(string(table), columns, lines)))
	return err
}

// screen is what draws a table on so many columns and lines; 0 stands for no bound.
func screen(table string, columns, lines int) string {
	rows := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if lines > 1 && len(rows) > lines {
		hidden := len(rows) - lines + 1
		rows = append(rows[:lines-1], fmt.Sprintf("… and %s more", render.Count(hidden, "line")))
	}
	for i, row := range rows {
		if r := []rune(row); columns > 1 && len(r) > columns {
			rows[i] = string(r[:columns-1]) + "…"
		}
	}
	return "\x1b[H" + strings.Join(rows, "\x1b[K\r\n") + "\x1b[K\x1b[J"
}

// watchTable is what is under way in each run, and then all runs, the latest first.
func watchTable(root engine.Root, runs []engine.Status, trouble error, now time.Time) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s  %s  (Ctrl-C ends this, and no run)\n", now.Format(time.TimeOnly), tallyOf(runs))
	if trouble != nil {
		fmt.Fprintf(&b, "no answer, what follows may be old: %s\n", render.Line(trouble.Error(), 300))
	}
	b.WriteByte('\n')
	sorted := slices.Clone(runs)
	slices.SortStableFunc(sorted, func(a, b engine.Status) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), b.Ended.Compare(a.Ended), b.Created.Compare(a.Created))
	})
	var under bytes.Buffer
	w := tabwriter.NewWriter(&under, 0, 0, 2, ' ', 0)
	for _, r := range sorted {
		if r.Broken == "" && r.State != engine.Ended {
			if story, err := root.Story(r.Run); err == nil {
				underWay(w, &story, now)
			}
		}
	}
	w.Flush()
	if under.Len() > 0 {
		b.Write(under.Bytes())
		b.WriteByte('\n')
	}
	b.Write(statusTable(root, sorted, now))
	return b.Bytes()
}

func rank(r engine.Status) int {
	switch {
	case r.Broken != "":
		return 0
	case r.State != engine.Ended:
		return 1
	}
	return 2
}

func tallyOf(runs []engine.Status) string {
	ended := 0
	for _, r := range runs {
		if r.State == engine.Ended {
			ended++
		}
	}
	return fmt.Sprintf("%s, %d ended", render.Count(len(runs), "run"), ended)
}

// underWay writes a line for the leg that runs, or for each launch that is out.
func underWay(w io.Writer, s *engine.Story, now time.Time) {
	if n := len(s.Legs); s.State == engine.Running && n > 0 {
		leg := s.Legs[n-1]
		took := now.Sub(leg.Began)
		fmt.Fprintf(w, "%s\tleg %d\t%s\t\t%s of %s\n", s.Run, leg.Number, meter(int(took/time.Second), int(s.LegTime/time.Second)), age(took), span(s.LegTime.String()))
		return
	}
	if s.State != engine.Parked && s.State != engine.Parking {
		return
	}
	for i := range s.Launches {
		l := &s.Launches[i]
		if l.Sleep != s.Sleeps {
			continue
		}
		done, running := 0, 0
		var longest time.Duration
		for _, j := range l.Jobs {
			switch {
			case !j.Ended.IsZero():
				done++
			case !j.Began.IsZero():
				running++
				longest = max(longest, now.Sub(j.Began))
			}
		}
		time := ""
		if running > 0 {
			time = fmt.Sprintf("%s of %dm", age(longest), l.Minutes)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d of %d done, %d running\t%s\n", s.Run, render.Line(l.Name, 32), meter(done, len(l.Jobs)), done, len(l.Jobs), running, time)
	}
}

// meter draws a part of a whole.
func meter(part, whole int) string {
	const width = 12
	full := 0
	if whole > 0 {
		full = min(max(part, 0)*width/whole, width)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}
