package verbs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/dirfd"
)

var errTooLong = errors.New("too long")

// readChars reads a text and returns it without white space around it. It never
// reads a large one whole: a text of more bytes than max characters can have is
// errTooLong from there on. Bytes that are no UTF-8 become U+FFFD, one each.
func readChars(r io.Reader, max int) (string, error) {
	most := utf8.UTFMax * max
	raw, err := io.ReadAll(io.LimitReader(r, int64(most+1)))
	if err == nil && len(raw) > most {
		err = errTooLong
	}
	return strings.TrimSpace(validUTF8(string(raw))), err
}

func validUTF8(s string) string { return string([]rune(s)) }

// readReport reads the file that a submit claims its result with. Only a regular
// file is read: a FIFO would make the verb wait for a writer that never comes.
func readReport(s *channel.Session, path string) (string, error) {
	full := path
	if !strings.HasPrefix(path, "/") {
		full = s.Workspace() + "/" + path
	}
	report, err := readFile(full, channel.MaxReportChars)
	switch {
	case errors.Is(err, errTooLong):
		return "", wrongCall("shorten it; tables and logs can stay in the workspace",
			"--report: more than %d characters in %s", channel.MaxReportChars, full)
	case errors.Is(err, fs.ErrNotExist):
		return "", failed("a relative path is looked for below the workspace, "+s.Workspace(), "--report: there is no file %s", full)
	case errors.Is(err, dirfd.ErrNotRegular), errors.Is(err, dirfd.ErrBadName):
		return "", failed("write the report into a file and name that", "--report: %s is not a regular file", full)
	case err != nil:
		return "", failed("give a file that can be read", "--report: %v", err)
	}
	return report, nil
}

func readFile(path string, maxChars int) (string, error) {
	slash := strings.LastIndexByte(path, '/')
	dir, err := dirfd.Open(path[:slash+1])
	if err != nil {
		return "", err
	}
	defer dir.Close()
	f, _, err := dir.OpenRegular(path[slash+1:])
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := readChars(f, maxChars)
	if err != nil && !errors.Is(err, errTooLong) {
		err = fmt.Errorf("reading %s: %w", path, err)
	}
	return text, err
}
