package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Spec is all there is inside. Paths are absolute, clean, and the same inside
// and outside, so that what a command prints means the same to both.
//
// Workspace and Home are written by the command and by others before it. They
// are mounted by path, and a path that leads through one of them could have
// been bent with a link. Therefore nothing is ever mounted from or onto a place
// inside them: Home, Temp and Verbs may not lie there, and a Read tree that does
// is left as it is, readable already. The check is of the paths as they are
// written; whoever lists trees knows where the links among them lead.
type Spec struct {
	Workspace string   // writable, and the working directory
	Home      string   // writable, kept from one command to the next; "" for none
	Temp      string   // becomes /tmp, must be empty, goes unused by None; "" gives a /tmp in memory
	Verbs     string   // the directory of the syscall-* programs, read-only; "" for none
	Read      []string // further trees and files, read-only

	Network bool     // the host's network, and the few files of /etc that name lookups and TLS need
	GPUs    bool     // the device nodes of NVIDIA GPUs, as far as there are any
	Env     []string // the whole environment, see [Environment]; PWD is added

	// Shim is the argv prefix of a program that hands the remaining arguments
	// to [Shim]. [Bwrap] needs it. The program is mounted into the sandbox: it
	// has to be static, or to need nothing but /usr.
	Shim []string
}

// check refuses what could not be mounted, or could be bent by the session.
func (s *Spec) check() error {
	if s.Workspace == "" {
		return errors.New("no workspace")
	}
	for _, path := range slices.Concat([]string{s.Workspace, s.Home, s.Temp, s.Verbs}, s.Read) {
		if path == "" {
			continue
		}
		if err := checkPath(path); err != nil {
			return err
		}
	}
	written := []string{s.Workspace, s.Home}
	for _, path := range []string{s.Workspace, s.Home, s.Temp, s.Verbs} {
		for _, tree := range written {
			if path != "" && tree != "" && path != tree && within(path, tree) {
				return fmt.Errorf("%s lies inside %s, which the session can write; place it elsewhere", path, tree)
			}
		}
	}
	// bwrap makes the mount points below /tmp itself, and would follow a link
	// that an earlier command has left on the way to one.
	if s.Temp != "" {
		if entries, err := os.ReadDir(s.Temp); err != nil || len(entries) > 0 {
			return errors.Join(fmt.Errorf("%s is to become /tmp and is not an empty directory", s.Temp), err)
		}
	}
	if s.Verbs != "" && slices.Contains(written, s.Verbs) {
		return fmt.Errorf("the verbs' directory %s is one that the session can write; place it elsewhere", s.Verbs)
	}
	for _, entry := range s.Env {
		if key, _, ok := strings.Cut(entry, "="); !ok || key == "" || strings.ContainsRune(entry, 0) {
			return fmt.Errorf("environment entry %q is not of the form KEY=value", entry)
		}
	}
	return nil
}

func checkPath(path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("path %q is not absolute and clean", path)
	}
	switch path {
	case "/", "/dev", "/etc", "/proc", "/run", "/sys", "/tmp":
		return fmt.Errorf("%s cannot be given whole; name the directories in it that are needed", path)
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	return nil
}

// within says whether path is tree or lies below it.
func within(path, tree string) bool {
	return path == tree || strings.HasPrefix(path, strings.TrimSuffix(tree, "/")+"/")
}
