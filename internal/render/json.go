package render

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// JSON returns the same JSON with every character escaped that [Text] would
// remove, so that a document can be shown on a terminal as it is and still
// reads back to the very same values. The document has to be valid: only then
// does such a character stand in a string, but for white space between values,
// which stays.
func JSON(valid []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(valid))
	for len(valid) > 0 {
		r, n := utf8.DecodeRune(valid)
		switch {
		case r == '\r', r < ' ', !hidden(r) && r != '\u2028' && r != '\u2029':
			out.WriteRune(r)
		case r >= 0x10000:
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		valid = valid[n:]
	}
	return out.Bytes()
}
