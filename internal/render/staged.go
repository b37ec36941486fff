package render

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/outerloop-go/outerloop/channel"
)

// Staged shows all that is staged, and says so where that is nothing.
func Staged(s channel.Staged) []byte {
	var out bytes.Buffer
	if s.Empty() {
		out.WriteString("Nothing is staged.\n")
		return out.Bytes()
	}
	out.WriteString("Staged, not committed:\n")
	content(&out, s, len(s.Findings) > 0 || s.Notes != "")
	return out.Bytes()
}

// Committed shows all that a committed request holds.
func Committed(r channel.Committed) []byte {
	var out bytes.Buffer
	out.WriteString("Committed:\n")
	content(&out, r.Staged, r.Type == "verdict")
	return out.Bytes()
}

func content(out *bytes.Buffer, s channel.Staged, verdict bool) {
	for i := range s.Launches {
		launch(out, &s.Launches[i])
	}
	if s.Submit {
		fmt.Fprintf(out, "  submit with a report of %s", Count(utf8.RuneCountInString(s.Report), "character"))
		if s.EvalMinutes != nil {
			fmt.Fprintf(out, ", %s for its gate", Count(*s.EvalMinutes, "minute"))
		}
		out.WriteByte('\n')
	}
	if s.Note != "" {
		fmt.Fprintf(out, "  note: %s\n", indent(Text(s.Note, channel.MaxNoteChars)))
	}
	if verdict {
		fmt.Fprintf(out, "  verdict with %s\n", findings(s.Findings))
		for i := range s.Findings {
			finding(out, &s.Findings[i], "    ")
		}
	}
	if s.Notes != "" {
		fmt.Fprintf(out, "    notes: %s\n", indent(Text(s.Notes, channel.MaxFindingChars)))
	}
}

func launch(out *bytes.Buffer, l *channel.Launch) {
	fmt.Fprintf(out, "  launch %s: %s\n", Line(l.Name, maxName), Shape(*l))
	if l.Why != "" {
		fmt.Fprintf(out, "    why: %s\n", Line(l.Why, channel.MaxWhyChars))
	}
	fmt.Fprintf(out, "    command: %s\n", indent(Text(l.Command, channel.MaxCommandChars)))
	if len(l.Artifacts) > 0 {
		paths := make([]string, len(l.Artifacts))
		for i, p := range l.Artifacts {
			paths[i] = Line(p, channel.MaxPathChars)
		}
		fmt.Fprintf(out, "    artifacts: %s\n", strings.Join(paths, ", "))
	}
}

// indent sets the further lines of a text below the first.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n      ") }
