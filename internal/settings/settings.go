// Package settings reads what an operator has set: in the environment, and in
// ~/.config/outerloop/.env.
//
// A setting is OUTERLOOP_<NAME>. AUTORESEARCH_<NAME>, its name before the
// project was renamed, is read where the new name is not set in the same place.
// The environment comes before the file. A setting that is there and empty is
// set: that is how something is switched off.
package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Prefixes of the names of settings.
const (
	prefix       = "OUTERLOOP_"
	formerPrefix = "AUTORESEARCH_"
)

// Settings is what is set, and where.
type Settings struct {
	lookup func(string) (string, bool) // the environment
	file   map[string]assignment
	path   string // of the file, "" for none
	text   string // of the file
}

// maxFileBytes bounds the file. It is a page of assignments.
const maxFileBytes = 1 << 20

// Load reads the file in the home directory, if there is one. The environment
// is looked up when a setting is asked for.
func Load(home string, lookup func(string) (string, bool)) (*Settings, error) {
	s := &Settings{lookup: lookup, file: map[string]assignment{}}
	if home == "" {
		return s, nil
	}
	for _, dir := range []string{"outerloop", "autoresearch"} {
		path := filepath.Join(home, ".config", dir, ".env")
		text, err := readTrusted(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s.path, s.text, s.file = path, string(text), parse(text)
		return s, nil
	}
	return s, nil
}

// UntrustedError says that the file could have been written by somebody else.
// What is in it decides what the operator's programs run, so it is not read.
type UntrustedError struct{ Path, Why string }

func (e *UntrustedError) Error() string {
	return fmt.Sprintf("refusing to read %s: %s; it must be owned by you and writable by you alone (chmod 600)", e.Path, e.Why)
}

// readTrusted reads a file that belongs to the caller and that nobody else can
// write. The checks are on what was opened.
func readTrusted(path string) ([]byte, error) {
	// Without O_NONBLOCK the open of a FIFO would wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch sys, _ := st.Sys().(*syscall.Stat_t); {
	case !st.Mode().IsRegular():
		return nil, &UntrustedError{path, "it is no regular file"}
	case sys == nil || int(sys.Uid) != os.Getuid():
		return nil, &UntrustedError{path, "it is not owned by you"}
	case st.Mode().Perm()&0o022 != 0:
		return nil, &UntrustedError{path, "others may write it"}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(text) > maxFileBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFileBytes)
	}
	return text, err
}

// parse reads assignments, one a line. The last one of a name wins. A line that
// is no assignment, or a comment, is passed over, as a shell's "export " is: the
// file may be one that shells read too.
func parse(text []byte) map[string]assignment {
	values := make(map[string]assignment)
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if name, value, ok := assigned(line); ok {
			values[name] = assignment{value, number}
		}
	}
	return values
}

// assigned reads one line, and says whether it assigns anything.
func assigned(line string) (name, value string, ok bool) {
	line = strings.TrimSpace(strings.TrimRight(line, "\r\n"))
	name, value, ok = strings.Cut(line, "=")
	if !ok || strings.HasPrefix(line, "#") {
		return "", "", false
	}
	name = strings.TrimSpace(strings.TrimPrefix(name, "export "))
	value = strings.TrimSpace(value)
	if n := len(value); n >= 2 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
		value = value[1 : n-1]
	}
	return name, value, true
}

// assignment is one line of the file; of two for the same name the last counts.
type assignment struct {
	text string
	line int
}

// Value is a setting and where it comes from.
type Value struct {
	Text string
	Set  bool
	From string // "--root", "OUTERLOOP_ROOT in the environment", "OUTERLOOP_ROOT in <file>:<line>"; "" where it is not set
}

// Flag is Get with a flag of the command line before all else. An empty flag is
// one that was not given.
func (s *Settings) Flag(flag, text, name string) Value {
	if text != "" {
		return Value{text, true, flag}
	}
	return s.Get(name)
}

// Get returns the setting OUTERLOOP_<name>.
func (s *Settings) Get(name string) Value {
	for _, p := range []string{prefix, formerPrefix} {
		if text, ok := s.lookup(p + name); ok {
			return Value{text, true, p + name + " in the environment"}
		}
	}
	for _, p := range []string{prefix, formerPrefix} {
		if a, ok := s.file[p+name]; ok {
			return Value{a.text, true, fmt.Sprintf("%s in %s:%d", p+name, s.path, a.line)}
		}
	}
	return Value{}
}

// Int reads a whole number of at least min. Where the setting is not set, or
// switched off, it is absent.
func (v Value) Int(min, absent int) (int, error) {
	if v.Text == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(v.Text))
	if err != nil || n < min {
		return 0, fmt.Errorf("%s must be a whole number from %d, got %q", v.From, min, v.Text)
	}
	return n, nil
}

// Line refuses a value with a line break in it, which would end up as one in an
// argument or in the environment of a job.
func (v Value) Line() (string, error) {
	if strings.ContainsAny(v.Text, "\r\n\x00") {
		return "", fmt.Errorf("%s is %q, and cannot contain a newline", v.From, v.Text)
	}
	return v.Text, nil
}
