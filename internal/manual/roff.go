package manual

import (
	"bytes"
	"fmt"
	"strings"
)

// Roff writes the page in the man(7) macros, for section 1. It holds no date: the
// same program gives the same bytes.
func (p *Page) Roff(version string, seeAlso []string) []byte {
	var b bytes.Buffer
	title := strings.ToUpper(strings.TrimSuffix(p.File(), ".1"))
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s\" \"outerloop\"\n", escape(title), escape(version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(strings.TrimSuffix(p.File(), ".1")), escape(p.Does))
	b.WriteString(".SH SYNOPSIS\n")
	for i, call := range p.Synopsis {
		if i > 0 {
			b.WriteString(".br\n")
		}
		fmt.Fprintf(&b, "%s\n", synopsis(p.Name, call))
	}
	b.WriteString(".SH DESCRIPTION\n")
	prose(&b, p.Details)
	if len(p.Commands) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range p.Commands {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", escape(c.Name), line(c.Does+"; see "+p.Name+"-"+c.Name+"(1)"))
		}
	}
	b.WriteString(".SH OPTIONS\n")
	for _, f := range p.Flags {
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR%s\n%s\n", escape("--"+f.Name), value(f.Value), line(f.Usage))
	}
	if len(p.Examples) > 0 {
		b.WriteString(".SH EXAMPLES\n")
		verbatim(&b, p.Examples)
	}
	if p.Notes != "" {
		b.WriteString(".SH NOTES\n")
		prose(&b, p.Notes)
	}
	if len(seeAlso) > 0 {
		b.WriteString(".SH SEE ALSO\n")
		for i, other := range seeAlso {
			end := ","
			if i == len(seeAlso)-1 {
				end = ""
			}
			fmt.Fprintf(&b, ".BR %s (1)%s\n", escape(other), end)
		}
	}
	return b.Bytes()
}

func value(name string) string {
	if name == "" {
		return ""
	}
	return " \\fI" + escape(name) + "\\fR"
}

// synopsis is one call with the name in bold.
func synopsis(name, call string) string {
	rest, found := strings.CutPrefix(call, name)
	if !found {
		return line(call)
	}
	return "\\fB" + escape(name) + "\\fR" + escape(rest)
}

// escape takes the meaning that roff would see in a text, and keeps it ASCII where
// troff would turn a sign into a typographic one: what is shown can be copied.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
}

// line is a text that stands alone on its line, where a full stop would begin a request.
func line(text string) string {
	if strings.HasPrefix(text, ".") {
		return `\&` + escape(text)
	}
	return escape(text)
}

// prose writes paragraphs, and lines that start with white space as they are.
func prose(b *bytes.Buffer, details string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(details), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		var quoted []string
		for l := range strings.Lines(paragraph) {
			l = strings.TrimRight(l, "\n")
			if strings.TrimLeft(l, " \t") != l {
				quoted = append(quoted, strings.TrimSpace(l))
				continue
			}
			verbatim(b, quoted)
			quoted = nil
			b.WriteString(line(l) + "\n")
		}
		verbatim(b, quoted)
	}
}

// verbatim writes lines that must not be filled, indented as examples are.
func verbatim(b *bytes.Buffer, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString(".RS 4\n.nf\n")
	for _, l := range lines {
		b.WriteString(line(l) + "\n")
	}
	b.WriteString(".fi\n.RE\n")
}
