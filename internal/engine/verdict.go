package engine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// Verdict is what a judge's run came to. Its texts are the judge's: data, like all that
// a session wrote.
type Verdict struct {
	Version  int               `json:"version"`
	Run      string            `json:"run"`    // the judge's
	Judges   []Judged          `json:"judges"` // what was judged
	At       time.Time         `json:"at"`
	Findings []channel.Finding `json:"findings"`
	Notes    string            `json:"notes"`
}

// VerdictCount is a verdict in figures.
type VerdictCount struct {
	Findings int `json:"findings"`
	Blocking int `json:"blocking"` // of these, that stand against the work
}

// String is the figures in words: "3 findings, 1 blocking".
func (c VerdictCount) String() string {
	return fmt.Sprintf("%s, %d blocking", render.Count(c.Findings, "finding"), c.Blocking)
}

// verdictFile holds the verdict of a judge's run, in the run's directory.
const verdictFile = "verdict.json"

// verdictVersion is the version of that file that this program writes and knows.
const verdictVersion = 1

// conclude keeps a verdict and ends the run with it. Whatever dies between the two, the
// request stands in the leg's directory, and the same verdict is kept once more.
func (e *Engine) conclude(r *Run, given channel.Verdict) error {
	now := e.Now().UTC()
	v := Verdict{
		Version: verdictVersion, Run: r.ID, Judges: r.Judges, At: now,
		Findings: append([]channel.Finding{}, given.Findings...), Notes: given.Notes,
	}
	if err := writeJSON(r.path(verdictFile), v); err != nil {
		return fmt.Errorf("keeping the verdict: %w", err)
	}
	r.Verdict = &VerdictCount{Findings: len(v.Findings)}
	for i := range v.Findings {
		if v.Findings[i].Blocking {
			r.Verdict.Blocking++
		}
	}
	return r.end(Concluded, now, "judged %s: %s", Subjects(r.Judges), r.Verdict)
}

// readVerdict reads what the run in that directory came to.
func readVerdict(dir string) (*Verdict, error) {
	path := filepath.Join(dir, verdictFile)
	var version struct {
		Version int `json:"version"`
	}
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &version)
	}
	if err != nil {
		return nil, fmt.Errorf("the verdict %s: %w", path, err)
	}
	if version.Version != verdictVersion {
		return nil, fmt.Errorf("the verdict %s is of version %d and this program knows %d", path, version.Version, verdictVersion)
	}
	var v Verdict
	if err := decode(raw, &v); err != nil {
		return nil, fmt.Errorf("the verdict %s: %w", path, err)
	}
	return &v, nil
}
