package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// maxSiblings is how many other runs an author is told of, those that have not ended
// first and the latest before others.
const maxSiblings = 100

// maxDirection is how much of what another author is after is passed on.
const maxDirection = 200

// tellOthers leaves in the channel what the other runs of the state root are at, and what
// was reported. It is no part of the leg's own affairs: a record that cannot be read is
// left out, for the pass that finds it says so.
func (e *Engine) tellOthers(r *Run, k *channel.Kernel) error {
	ids, err := e.Root.Runs()
	if err != nil {
		e.Log.Warn("the author is not told of other runs", "run", r.ID, "error", err)
		return nil
	}
	var others []Record
	for _, id := range ids {
		// Judges are left out: an author that knew what is looked for could write for it.
		if rec, err := loadRecord(e.Root.RunDir(id), id); err == nil && id != r.ID && rec.Role() == Author {
			others = append(others, rec)
		}
	}
	slices.SortFunc(others, func(a, b Record) int {
		if a.State == Ended != (b.State == Ended) {
			if a.State == Ended {
				return 1
			}
			return -1
		}
		return latest(&b).Compare(latest(&a))
	})
	return errors.Join(e.tellSiblings(k, others), e.tellReports(k, others))
}

func (e *Engine) tellSiblings(k *channel.Kernel, others []Record) error {
	list := []channel.Sibling{}
	for _, rec := range others[:min(len(others), maxSiblings)] {
		s := channel.Sibling{Agent: rec.Agent, State: string(rec.State), Phase: phase(&rec)}
		if rec.State == Ended {
			s.State = string(rec.Outcome)
		}
		if rec.Sleep != nil {
			s.Direction = whys(rec.Sleep)
		}
		if s.Direction == "" {
			task, _ := readHead(filepath.Join(e.Root.RunDir(rec.ID), "task.md"), 4<<10)
			s.Direction = render.Line(channel.ReportSummary(task), maxDirection)
		}
		list = append(list, s)
	}
	return k.WriteSiblings(list)
}

// tellReports leaves the latest reports. Their names begin with the day of the run's end,
// so that they stand in its order.
func (e *Engine) tellReports(k *channel.Kernel, others []Record) error {
	left := channel.MaxReports
	for _, rec := range others {
		if left == 0 {
			return nil
		}
		if rec.Outcome != Submitted && rec.Outcome != Accepted || rec.EndedAt == nil {
			continue
		}
		report, err := readHead(filepath.Join(e.Root.RunDir(rec.ID), "report.md"), 4*channel.MaxReportChars)
		if err != nil || report == "" {
			continue // another run's files are no reason to keep this one from going on
		}
		name := rec.EndedAt.UTC().Format("20060102-150405-") + rec.ID
		if err := k.WriteReport(name, []byte(report)); err != nil {
			return err
		}
		left--
	}
	return nil
}

// whys is what the launches that are out are said to test.
func whys(s *Sleep) string {
	var all []string
	for _, l := range s.Launches {
		if l.Why != "" {
			all = append(all, l.Why)
		}
	}
	return render.Line(strings.Join(all, "; "), maxDirection)
}

// phase says where in its life a run is.
func phase(rec *Record) string {
	switch rec.State {
	case Ended:
		return "after " + render.Count(rec.Sleeps, "sleep")
	case Parked, Parking:
		if rec.Sleep != nil && rec.Sleep.Gate != nil {
			return fmt.Sprintf("sleep %d, its submit is measured", rec.Sleep.Number)
		}
		if rec.Sleep != nil {
			return fmt.Sprintf("sleep %d, waits for %s", rec.Sleep.Number, render.Count(len(rec.Sleep.Launches), "launch"))
		}
	}
	return fmt.Sprintf("leg %d", rec.Leg)
}

// latest is when a run ended, or else was made.
func latest(rec *Record) time.Time {
	if rec.EndedAt != nil {
		return *rec.EndedAt
	}
	return rec.Created
}
