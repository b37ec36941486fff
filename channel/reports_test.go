package channel_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
)

func TestReportSummary(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "",
		"# Title\n\nFirst words.\nMore.\n":    "First words.",
		"# Title\n\nWords.\nOutcome: 3 %\n":   "Outcome: 3 %",
		"---\n| a | b |\n\n  In the end.  \n": "In the end.",
		"# Only\n## Titles\n":                 "",
	} {
		if got := channel.ReportSummary(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The newest comes first, and what is no report is passed over.
func TestReports(t *testing.T) {
	k, s, dir := open(t)
	if all, err := s.Reports(); err != nil || len(all) != 0 {
		t.Fatalf("without any: %v, %v", all, err)
	}
	for name, text := range map[string]string{"20260101-old": "Old.", "20260301-new": "# T\nOutcome: new", "20260201-mid": "Mid."} {
		if err := k.WriteReport(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(dir+"/reports/20260115-pipe.md", 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := s.Reports()
	if err == nil && len(all) == 4 && all[2].Text == "" && strings.HasPrefix(all[2].Summary, "it cannot be read") {
		all = append(all[:2], all[3])
	}
	if err != nil || len(all) != 3 || all[0].Name != "20260301-new" || all[0].Summary != "Outcome: new" || all[2].Text != "Old." {
		t.Errorf("%+v, %v", all, err)
	}
}
