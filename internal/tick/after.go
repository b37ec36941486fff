package tick

import (
	"context"
	"errors"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/metrics"
	"github.com/outerloop-go/outerloop/internal/settings"
)

// after is what a pass writes when it is done, for those who want to look.
// The zero value writes nothing.
type after struct {
	page, metrics string // files, "" for none
	counter       *metrics.Counter
}

func (c *call) afterFlags() *after {
	a := &after{}
	c.flags.StringVar(&a.page, "page", "", "write an HTML page that shows all runs to `FILE` afterwards (default OUTERLOOP_PAGE); see outerloop-tick page")
	c.flags.StringVar(&a.metrics, "metrics", "", "write figures in Prometheus' text format to `FILE` afterwards (default OUTERLOOP_METRICS)")
	return a
}

// settle takes what no flag says from the settings, so that also the ticks that the
// resident one starts write what is wanted.
func (a *after) settle(s *settings.Settings) (err error) {
	if a.page, err = s.Flag("--page", a.page, "PAGE").Line(); err != nil {
		return wrong("write it on one line", "%w", err)
	}
	if a.metrics, err = s.Flag("--metrics", a.metrics, "METRICS").Line(); err != nil {
		return wrong("write it on one line", "%w", err)
	}
	return nil
}

// watch has what the engine asks its scheduler counted, where that is wanted.
func (a *after) watch(e *engine.Engine) {
	if a.metrics != "" {
		a.counter = &metrics.Counter{Backend: e.Backend}
		e.Backend = a.counter
	}
}

// write does so also for a pass that was told to end: the context is not the pass's.
func (a *after) write(e *engine.Engine, now time.Time) (err error) {
	if a.page != "" {
		err = writePage(e.Root, a.page, now)
	}
	if a.metrics != "" {
		err = errors.Join(err, a.writeMetrics(e, now))
	}
	return err
}

func (a *after) writeMetrics(e *engine.Engine, now time.Time) error {
	fresh := a.counter.Fresh()
	text, err := metrics.Collect(context.Background(), e.Root, now, fresh)
	if err != nil {
		a.counter.Return(fresh)
		return err
	}
	return publish(a.metrics, text)
}
