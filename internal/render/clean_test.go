package render

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a b\tc\nd", "a b\tc\nd"},
		{"letters of all kinds", "naïve Ω 漢字 👩\u200d🔬", "naïve Ω 漢字 👩\u200d🔬"},
		{"color", "\x1b[1;31mred\x1b[0m", "red"},
		{"color in C1", "\u009b31mred\u009b0m", "red"},
		{"cursor, with an intermediate", "a\x1b[2 qb", "ab"},
		{"window title ended by BEL", "a\x1b]0;title\ab", "ab"},
		{"window title ended by ST", "a\x1b]0;title\x1b\\b", "ab"},
		{"link in C1", "a\u009d8;;http://x\u009cb", "ab"},
		{"device control", "a\x1bP1$tx\x1b\\b", "ab"},
		{"two characters", "a\x1bcb\x1b(Bc", "abc"},
		{"string without an end", "a\x1b]0;title\nnext\ab", "a0;title\nnextb"},
		{"nested introducers", "\x1b\x1b[31mx\x1b[\x1b[mx", "xx"},
		{"cut off at the end", "a\x1b", "a"},
		{"cut off in parameters", "a\x1b[31", "a"},
		{"C0 and DEL", "a\x00\a\b\x7fb", "ab"},
		{"line ends", "a\r\nb\rc\u0085d\u2028e\u2029f", "a\nb\nc\nd\ne\nf"},
		{"direction", "\u202eabc\u202c\u2066x\u2069\u200f\u061c", "abcx"},
		{"hidden", "\ufeffa\u200bb\u2060c\u00add\U000e0041\U000e007f\U000e0100", "abcd"},
		{"no UTF-8", "a\xffb\xc3", "a\ufffdb\ufffd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Text(tt.in, 1000); got != tt.want {
				t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestLine(t *testing.T) {
	tests := []struct {
		in   string
		max  int
		want string
	}{
		{" a\n\tb\u00a0\u2003c ", 9, "a b c"},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"ééé", 3, "ééé"},
		{"éééé", 3, "éé…"},
		{"a bcd", 3, "a…"},
		{"\x1b[31m\n\u2028", 3, ""},
		{"abc", 1, "…"},
		{"abc", 0, ""},
	}
	for _, tt := range tests {
		if got := Line(tt.in, tt.max); got != tt.want {
			t.Errorf("Line(%q, %d) = %q, want %q", tt.in, tt.max, got, tt.want)
		}
	}
}

// No text comes out with anything in it that is to be removed, and one that is
// clean stays as it is.
func FuzzText(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb", "\x1b]0;t\a", "\u009d\u009c", "a\r\nb", "\xff\x1b\xc2", "\u202e👩\u200d🔬"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, max int) {
		max = int(uint16(max))
		text := Text(s, max)
		if n := utf8.RuneCountInString(text); n > max {
			t.Errorf("%d characters, at most %d are wanted", n, max)
		}
		for _, r := range text {
			if hidden(r) || r == '\r' || r == '\u2028' || r == '\u2029' {
				t.Errorf("%q is in %q", r, text)
			}
		}
		if !utf8.ValidString(text) {
			t.Errorf("%q is not UTF-8", text)
		}
		if again := Text(text, max); again != text {
			t.Errorf("%q becomes %q the second time", text, again)
		}
		line := Line(s, max)
		if strings.ContainsAny(line, "\n\t") || Line(line, max) != line {
			t.Errorf("Line gives %q", line)
		}
	})
}

// JSON stays the same document.
func FuzzJSON(f *testing.F) {
	f.Add("{\"a\u009b\": \"\u202e\U000e0041é\\u0007\", \"b\": [1, null]}\r\n")
	f.Add("\"\xff\"")
	f.Fuzz(func(t *testing.T, s string) {
		var want, got any
		if json.Unmarshal([]byte(s), &want) != nil {
			return
		}
		shown := JSON([]byte(s))
		if err := json.Unmarshal(shown, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q becomes %q: %v", s, shown, err)
		}
		for _, r := range string(shown) {
			if hidden(r) && r != '\r' {
				t.Errorf("%q is in %q", r, shown)
			}
		}
	})
}
