package tick

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/page"
)

func pageCommand() command {
	return command{
		name: "page", use: "[--root DIR] [--output FILE]",
		what: "write an HTML page that shows all runs",
		detail: strings.TrimSpace(`
Writes one HTML file that shows the runs with their legs and launches on a time line,
budgets and reports. The file needs nothing else and loads nothing. It is replaced as a
whole, so that it can lie where a web server serves it. No scheduler is asked.

Examples:
  outerloop-tick page --output runs.html
  outerloop-tick page > runs.html`),
		run: runPage,
	}
}

func runPage(_ context.Context, c *call, args []string) error {
	rootFlag := c.rootFlag()
	output := c.flags.String("output", "", "write to `FILE`; standard output where it is not given")
	rest, err := c.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return wrong("outerloop-tick page --help shows what it takes", "%q is not expected: page takes flags only", rest[0])
	}
	root, err := c.root(*rootFlag)
	if err != nil {
		return err
	}
	if *output != "" {
		return writePage(root, *output, time.Now())
	}
	html, err := drawPage(root, time.Now())
	if err != nil {
		return err
	}
	_, err = c.Stdout.Write(html)
	return err
}

// writePage replaces a page. Others may read it, as a web server does: that is what it
// is for. Its directory is the operator's, and no session can write there.
func writePage(root engine.Root, file string, now time.Time) error {
	html, err := drawPage(root, now)
	if err != nil {
		return err
	}
	return publish(file, html)
}

// publish replaces a file that others may read. It is made anew from what is in the
// state root, so it need not survive a power cut.
func publish(file string, content []byte) error {
	err := renameio.WriteFile(file, content, 0o644, renameio.IgnoreUmask(), renameio.WithTempDir(filepath.Dir(file)))
	if errors.Is(err, fs.ErrNotExist) {
		return failed("make its directory, or name another file", "writing %s: %w", file, err)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

func drawPage(root engine.Root, now time.Time) ([]byte, error) {
	ids, err := root.Runs()
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	site := page.Site{Title: strings.TrimSpace("Runs on " + host), At: now, Paused: paused(root)}
	for _, id := range ids {
		story, err := root.Story(id)
		if err != nil {
			site.Broken = append(site.Broken, engine.Status{Run: id, Broken: err.Error()})
			continue
		}
		site.Stories = append(site.Stories, story)
	}
	return page.Render(site)
}
