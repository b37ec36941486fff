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
		quoted[i] = quoteWord(w, i == 0)
	}
	return strings.Join(quoted, " ")
}

func quoteWord(w string, first bool) string {
	plain := w != ""
	for _, c := range []byte(w) {
		plain = plain && ('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.IndexByte("_-./:,+@%=", c) >= 0)
	}
	// The shell looks for assignments and reserved words before it removes
	// quotes, and sh itself for options before it runs the string.
	if first {
		plain = plain && !strings.Contains(w, "=") && w[0] != '-' && w[0] != '+' && !reserved(w)
	}
	if plain {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// reserved says whether a word begins a construct of the shell (POSIX, Shell
// Command Language, 2.4, and those that bash and ksh add) unless it is quoted.
func reserved(w string) bool {
	switch w {
	case "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "in", "then", "until", "while",
		"coproc", "function", "namespace", "select", "time":
		return true
	}
	return false
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
	return checkUTF8(field, text)
}

// checkUTF8 refuses what JSON can't carry: encoding/json would put U+FFFD in a
// bad byte's place, and a job would run with other words than were asked for.
func checkUTF8(field, text string) error {
	if !utf8.ValidString(text) {
		return refuse(field, "write it in UTF-8; give a file whose name is not UTF-8 another name",
			"it holds bytes that are not UTF-8")
	}
	return nil
}

func index(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
