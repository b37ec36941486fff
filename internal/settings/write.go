package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Setting is one that is to be written, under its name without prefix.
type Setting struct{ Name, Text string }

// Dir is the directory of the settings file and of the operator's secrets.
func Dir(home string) string { return filepath.Join(home, ".config", "outerloop") }

// File is the path of the settings file, whether it is there or not.
func File(home string) string { return filepath.Join(Dir(home), ".env") }

// Path is the file that was read, "" for none. It may be the one from before the
// project was renamed.
func (s *Settings) Path() string { return s.path }

// With returns the text of the file that was read with these settings in it. Other
// lines stay as they are, comments too; of a setting that is there only the new value
// stays. A value that the file cannot hold is an error.
func (s *Settings) With(set []Setting) ([]byte, error) {
	var text strings.Builder
	for line := range strings.Lines(s.text) {
		name, _, ok := assigned(line)
		replaced := ok && slices.ContainsFunc(set, func(n Setting) bool { return name == prefix+n.Name || name == formerPrefix+n.Name })
		if !replaced {
			text.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	for _, n := range set {
		if _, err := (Value{Text: n.Text, From: prefix + n.Name}).Line(); err != nil {
			return nil, err
		}
		fmt.Fprintf(&text, "%s%s=%s\n", prefix, n.Name, quote(n.Text))
	}
	if text.Len() > maxFileBytes {
		return nil, fmt.Errorf("the settings would be larger than %d bytes", maxFileBytes)
	}
	return []byte(text.String()), nil
}

// quote writes a value so that [Load] reads that very value: it takes off one pair of
// quotes and nothing else. A shell reads the same, but for a value that has both an
// apostrophe and something that a shell expands between double quotes.
func quote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:,@%+-", r)
	}
	switch {
	case !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }):
		return text
	case !strings.Contains(text, "'"):
		return "'" + text + "'"
	}
	return `"` + text + `"`
}

// CheckDir refuses a directory of settings that somebody else could write in, for
// whoever writes there decides what the operator's programs run. One that is missing
// is right: it is made for its owner alone. The directories above it need no such
// check, since a file that another user has put in place is not read; see [Load].
func CheckDir(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	switch sys, _ := info.Sys().(*syscall.Stat_t); {
	case !info.IsDir():
		return &UntrustedError{dir, "it is no directory"}
	case sys == nil || int(sys.Uid) != os.Getuid():
		return &UntrustedError{dir, "it is not owned by you"}
	case info.Mode().Perm()&0o022 != 0:
		return &UntrustedError{dir, "others may write in it"}
	}
	return nil
}

// CheckSecret refuses a file with a key that others could read, or that is none.
func CheckSecret(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	switch sys, _ := info.Sys().(*syscall.Stat_t); {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", path)
	case sys == nil || int(sys.Uid) != os.Getuid():
		return fmt.Errorf("%s is not owned by you", path)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s has mode %04o, and a key must be for you alone", path, info.Mode().Perm())
	case info.Size() == 0:
		return fmt.Errorf("%s is empty", path)
	}
	return nil
}
