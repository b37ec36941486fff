// Package page draws a state root as one HTML file that needs nothing else: no
// script, no font, no image, and it is told to the browser that it may load none.
//
// Nearly every text on it was chosen by an author, who may want to fool or attack
// whoever looks. Package html/template escapes it all, what could change the
// direction or order of what is read is removed, and every text is bounded. Behind
// that stands a content security policy that allows the one style sheet, by its hash.
package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"

	_ "embed"
)

//go:embed style.css
var style string

//go:embed page.tmpl
var markup string

// Bounds of what is on a page, so that one with hundreds of runs still opens on a
// phone. What is left out is said.
const (
	MaxDetailed = 200     // runs that are drawn; older ones are lines of a table
	maxBytes    = 8 << 20 // of all runs that are drawn
	maxLaunches = 60      // of one run, the latest
	maxLegs     = 200     // of one run, the latest
	maxWhy      = 400     // characters
	maxReason   = 600     // characters
)

// Site is what a page shows.
type Site struct {
	Title   string
	At      time.Time // of the page
	Paused  bool
	Stories []engine.Story
	Broken  []engine.Status // runs whose record cannot be read
}

// Render returns the page.
func Render(s Site) ([]byte, error) {
	sum := sha256.Sum256([]byte(style))
	t, err := template.New("page").Parse(markup)
	if err != nil {
		return nil, fmt.Errorf("the page's template: %w", err)
	}
	v := view{
		Title: line(s.Title, 100), At: s.At.UTC(), Paused: s.Paused,
		Style:  template.CSS(style),
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
	}
	if err := v.fill(t, s); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "page", v); err != nil {
		return nil, fmt.Errorf("drawing the page: %w", err)
	}
	return b.Bytes(), nil
}

// fill draws the runs, the latest first, until the page's bounds are reached.
func (v *view) fill(t *template.Template, s Site) error {
	judgedBy := judgments(s.Stories)
	for _, story := range latestFirst(s.Stories) {
		r := runView(story, s.At)
		r.JudgedBy = judgedBy[story.Run]
		v.count(r.State)
		if len(v.Runs) == MaxDetailed || v.size > maxBytes {
			v.Older = append(v.Older, r)
			continue
		}
		r.Open = len(v.Runs) < openRuns
		var b bytes.Buffer
		if err := t.ExecuteTemplate(&b, "run", r); err != nil {
			return fmt.Errorf("drawing run %s: %w", r.Name, err)
		}
		v.size += b.Len()
		// What the same template has just escaped.
		v.Runs = append(v.Runs, template.HTML(b.String()))
	}
	for _, r := range s.Broken {
		v.Broken = append(v.Broken, brokenView{r.Run, line(r.Broken, maxReason)})
		v.count(state{Word: "broken", Class: "bad", Mark: "!"})
	}
	return nil
}
