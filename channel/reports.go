package channel

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

const (
	// MaxReports is how many reports a session is shown, and a kernel leaves.
	MaxReports = 200
	// maxReportBytes bounds what is read of one: [MaxReportChars] of four bytes each,
	// and a kernel's own words around it.
	maxReportBytes = 64 << 10
	// maxReportNames bounds the names that are looked through for the newest: what a kernel
	// has left over many legs, and its temporary files.
	maxReportNames = 50_000
	reportSuffix   = ".md"
)

// Report is one report of a past attempt, as the kernel left it at this leg's start.
type Report struct {
	Name    string `json:"name"`
	Summary string `json:"summary"` // see [ReportSummary]
	Text    string `json:"text,omitempty"`
}

// Reports returns the reports of past attempts, names in falling order: kernels begin
// them with the day, so that the newest comes first. There are none where the kernel left
// none.
func (s *Session) Reports() ([]Report, error) {
	dir, err := s.dir.Sub(ReportsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the reports: %w", err)
	}
	defer dir.Close()
	names, _, err := dir.List(maxReportNames)
	if err != nil {
		return nil, fmt.Errorf("reading the reports: %w", err)
	}
	slices.Sort(names)
	slices.Reverse(names)
	var all []Report
	for _, file := range names {
		name, isReport := strings.CutSuffix(file, reportSuffix)
		if !isReport || name == "" || name[0] == '.' || len(all) == MaxReports {
			continue
		}
		text, err := dir.ReadSmall(file, maxReportBytes)
		if err != nil {
			// One that was spoiled hides no other.
			all = append(all, Report{Name: name, Summary: "it cannot be read: " + err.Error()})
			continue
		}
		all = append(all, Report{Name: name, Summary: ReportSummary(string(text)), Text: string(text)})
	}
	return all, nil
}

// ReportSummary is what stands for a report in a list: its line that starts with
// "Outcome:", else its first line of prose, else "". The texts are an author's: whoever
// shows them takes control characters out.
func ReportSummary(untrustedText string) string {
	prose := ""
	for line := range strings.Lines(untrustedText) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Outcome:") {
			return line
		}
		if prose == "" && line != "" && line[0] != '#' && line[0] != '|' && !strings.HasPrefix(line, "---") {
			prose = line
		}
	}
	return prose
}
