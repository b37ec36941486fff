package render

import (
	"bytes"
	"fmt"

	"github.com/outerloop-go/outerloop/channel"
)

// maxSummary is how much of a text stands for it in a list.
const maxSummary = 200

// Siblings shows the other agents' runs, a paragraph each.
func Siblings(list []channel.Sibling) []byte {
	var out bytes.Buffer
	if len(list) == 0 {
		return []byte("No other run as of this leg's start.\n")
	}
	fmt.Fprintf(&out, "%s of others as of this leg's start.\n", Count(len(list), "run"))
	for _, s := range list {
		fmt.Fprintf(&out, "\n%s: %s", Line(s.Agent, maxName), Line(s.State, maxName))
		if s.Phase != "" {
			fmt.Fprintf(&out, ", %s", Line(s.Phase, maxSummary))
		}
		out.WriteByte('\n')
		if s.Direction != "" {
			fmt.Fprintf(&out, "  %s\n", Line(s.Direction, maxSummary))
		}
	}
	return out.Bytes()
}

// Reports lists reports of past attempts, newest first.
func Reports(list []channel.Report) []byte {
	var out bytes.Buffer
	if len(list) == 0 {
		return []byte("No report as of this leg's start.\n")
	}
	fmt.Fprintf(&out, "%s, newest first; syscall-reports NAME prints one.\n\n", Count(len(list), "report"))
	for _, r := range list {
		fmt.Fprintf(&out, "%s\n  %s\n", Line(r.Name, maxSummary), or(Line(r.Summary, maxSummary), "(no summary)"))
	}
	return out.Bytes()
}

// Report shows one report whole. Its end is marked, since the next one may follow.
func Report(r channel.Report) []byte {
	return fmt.Appendf(nil, "==> %s <==\n%s\n", Line(r.Name, maxSummary), Text(r.Text, len(r.Text)))
}
