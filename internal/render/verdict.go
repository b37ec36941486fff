package render

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
)

// Verdict shows what a judge concluded with, whole.
func Verdict(v channel.Verdict) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s.\n", findings(v.Findings))
	for i := range v.Findings {
		out.WriteByte('\n')
		finding(&out, &v.Findings[i], "")
	}
	if v.Notes != "" {
		fmt.Fprintf(&out, "\n%s\n", Text(v.Notes, channel.MaxFindingChars))
	}
	return out.Bytes()
}

// findings is how many there are and how many stand against the work.
func findings(list []channel.Finding) string {
	blocking := 0
	for i := range list {
		if list[i].Blocking {
			blocking++
		}
	}
	return Count(len(list), "finding") + ", " + strconv.Itoa(blocking) + " blocking"
}

// finding shows one: what it is about, the finding in a sentence, and what shows it.
func finding(out *bytes.Buffer, f *channel.Finding, margin string) {
	blocking := ""
	if f.Blocking {
		blocking = "blocking "
	}
	at := or(Line(f.File, maxCause), "?")
	if f.Line != nil {
		at += ":" + strconv.Itoa(*f.Line)
	}
	fmt.Fprintf(out, "%s%s%s, %s confidence, %s", margin, blocking, or(word(f.Kind), "?"), or(word(f.Confidence), "?"), at)
	if f.Category != nil {
		fmt.Fprintf(out, " (%s)", word(*f.Category))
	}
	out.WriteByte('\n')
	below := "\n" + margin + "  "
	for _, text := range []string{f.Summary, f.Detail} {
		if text != "" {
			out.WriteString(below[1:] + strings.ReplaceAll(Text(text, channel.MaxFindingChars), "\n", below) + "\n")
		}
	}
}
