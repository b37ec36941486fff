package render

import (
	"strings"
	"unicode/utf8"
)

// Line makes one line of at most max characters of a text that somebody else
// wrote. White space of every kind becomes single spaces, and what [Text]
// removes is removed. What was cut shows as "…" at the end, which is one of the
// max characters.
func Line(untrusted string, max int) string {
	s := strip(untrusted)
	if !folded(s) {
		s = strings.Join(strings.Fields(s), " ")
	}
	return cut(s, max)
}

// Text makes at most max characters of several lines that somebody else wrote.
// Removed is everything that could make a terminal do more than show characters
// or make a reader see other text than is there: escape sequences, controls but
// for newline and tab, overrides of the writing direction, and characters that
// show nothing, with which instructions to a language model can be hidden.
// Every kind of line end becomes a newline.
func Text(untrusted string, max int) string { return cut(strip(untrusted), max) }

// folded says that a text is plain and has no white space but single spaces
// inside, so that nothing is to be folded.
func folded(s string) bool {
	space := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f || c == ' ' && space {
			return false
		}
		space = s[i] == ' '
	}
	return !space || s == ""
}

// cut bounds a text by characters.
func cut(s string, max int) string {
	if len(s) <= max || utf8.RuneCountInString(s) <= max {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == max {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return ""
}

// strip removes what Text says it removes. It works in one pass that never
// looks back: removing a sequence can not make a new one of what is around it,
// since its bytes are never looked at again as the start of one.
func strip(s string) string {
	if plain(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		rest := s[n:]
		switch {
		case r == '\x1b':
			rest = rest[escapeLen(rest):]
		case r == '\u009b': // CSI in one character
			rest = rest[controlLen(rest):]
		case r == '\u0090', r == '\u0098', r == '\u009d', r == '\u009e', r == '\u009f':
			rest = rest[stringLen(rest):]
		case r == '\r':
			// A lone one is how progress bars begin their line anew.
			if !strings.HasPrefix(rest, "\n") {
				out.WriteByte('\n')
			}
		case r == '\u0085', r == '\u2028', r == '\u2029':
			out.WriteByte('\n')
		case !hidden(r):
			out.WriteRune(r) // a byte that is no UTF-8 is U+FFFD from here on
		}
		s = rest
	}
	return out.String()
}

// plain says that strip would change nothing, as for nearly every text.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// hidden are the characters that show nothing themselves.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', 0x7f <= r && r <= 0x9f: // C0, DEL, C1
		return true
	case r == 0x00ad, r == 0x034f, r == 0x061c, r == 0x180e: // soft hyphen, joiner, marks
		return true
	case 0x200b <= r && r <= 0x200f && r != 0x200d: // zero widths and marks; 200D joins emoji
		return true
	case 0x202a <= r && r <= 0x202e, 0x2060 <= r && r <= 0x206f: // direction, invisible operators
		return true
	case r == 0xfeff, 0xfff9 <= r && r <= 0xfffb: // BOM, annotations
		return true
	case 0xe0000 <= r && r <= 0xe0fff: // tags and further variation selectors
		return true
	}
	return false
}

// The lengths of what follows the introducer of an escape sequence (ECMA-48,
// 5.3 to 5.6; xterm's ctlseqs for BEL at the end of a string).

func escapeLen(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '[':
		return 1 + controlLen(s[1:])
	case 'P', 'X', ']', '^', '_':
		return 1 + stringLen(s[1:])
	}
	n := span(s, ' ', '/')
	if n < len(s) && '0' <= s[n] && s[n] <= '~' {
		return n + 1
	}
	return n
}

// controlLen is for a control sequence: parameters, intermediates, a final byte.
func controlLen(s string) int {
	n := span(s, '0', '?')
	n += span(s[n:], ' ', '/')
	if n < len(s) && '@' <= s[n] && s[n] <= '~' {
		return n + 1
	}
	return n
}

// stringLen is for a control string, which ends at ST or BEL. One that does not
// end on its line is no string: only its introducer goes. Otherwise one stray
// byte in a job's output would swallow all that comes after it.
func stringLen(s string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\n' || s[i] == '\r':
			return 0
		case s[i] == '\a':
			return i + 1
		case strings.HasPrefix(s[i:], "\x1b\\"), strings.HasPrefix(s[i:], "\u009c"):
			return i + 2
		}
	}
	return 0
}

// span counts the leading bytes of s from lo to hi.
func span(s string, lo, hi byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] < lo || s[i] > hi {
			return i
		}
	}
	return len(s)
}
