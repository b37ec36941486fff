package engine

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/outerloop-go/outerloop/channel"
)

// tail returns the last characters of a file in a job's directory, as many as a
// wake may quote, and whether there were more. Only the tail is ever read: a job
// may have printed gigabytes. A file that is missing has no tail.
func tail(dir, file string) (text string, cut bool) {
	f, err := os.Open(filepath.Join(dir, file))
	if err != nil {
		return "", false
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return "", false
	}
	const most = channel.MaxTailChars * utf8.UTFMax
	from := max(size-most, 0)
	raw := make([]byte, min(size, most))
	n, err := f.ReadAt(raw, from)
	if err != nil && err != io.EOF {
		return "", false
	}
	text = strings.ToValidUTF8(string(raw[:n]), "\uFFFD")
	chars := utf8.RuneCountInString(text)
	cut = from > 0 || chars > channel.MaxTailChars
	for ; chars > channel.MaxTailChars; chars-- {
		_, width := utf8.DecodeRuneInString(text)
		text = text[width:]
	}
	return text, cut
}
