package tick

import (
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
)

// after is what a pass writes when it is done, for those who want to look.
// The zero value writes nothing.
type after struct {
	page *string
}

func (c *call) afterFlags() *after {
	return &after{
		page: c.flags.String("page", "", "write an HTML page that shows all runs to `FILE` afterwards; see outerloop-tick page"),
	}
}

func (a *after) write(e *engine.Engine, now time.Time) error {
	if a.page == nil || *a.page == "" {
		return nil
	}
	return writePage(e.Root, *a.page, now)
}
