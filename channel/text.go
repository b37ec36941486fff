package channel

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FoldLine makes one line of a text: runs of white space become one space, and
// those at the ends go.
func FoldLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Quote makes one string for sh -c of words, so that the shell passes on
// exactly these words (POSIX, Shell Command Language, 2.2.2 Single-Quotes).
func Quote(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quoteWord(w)
	}
	return strings.Join(quoted, " ")
}

func quoteWord(w string) string {
	plain := w != ""
	for _, c := range []byte(w) {
		plain = plain && ('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.IndexByte("_-./:,+@%=", c) >= 0)
	}
	// A first word with '=' would be an assignment, so it is quoted; the shell
	// looks for assignments before it removes quotes.
	if plain && !strings.Contains(w, "=") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// quoteShort shows an untrusted string in a message: on one line, without
// control characters, and never more than a little of it.
func quoteShort(untrusted string) string {
	const most = 60
	if len(untrusted) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(untrusted[cut]) {
			cut--
		}
		return strconv.Quote(untrusted[:cut]) + "…"
	}
	return strconv.Quote(untrusted)
}

func tooLong(field string, n, most int, cure string) error {
	return refuse(field, cure, "%d characters, at most %d are allowed", n, most)
}

func checkChars(field, text string, most int, cure string) error {
	if n := utf8.RuneCountInString(text); n > most {
		return tooLong(field, n, most, cure)
	}
	return nil
}

func index(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
