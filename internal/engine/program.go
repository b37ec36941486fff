package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/outerloop-go/outerloop/internal/durable"
)

// Program is the program that jobs run: this very one, from a copy in the state
// root whose directory is named by the hash of what is in it. An operator may
// put another one in place of the original at any time; a job that was queued
// before still runs what queued it.
type Program struct {
	dir string // <root>/bin/<hash>
}

// Names in the copy, whatever the originals' are.
const (
	programName = "outerloop-tick"
	verbsDir    = "verbs" // by themselves, since a session gets to see them

	copyPrefix = ".copy-" // of a copy that is not whole yet
)

// InstallProgram copies the executable and the syscall-* programs in the
// directory verbs into the state root, unless that copy is there already.
func InstallProgram(root Root, executable, verbs string) (Program, error) {
	bin := root.join("bin")
	// A process that runs from a copy hands on the same copy. The executable's path
	// has no links in it, the state root's may.
	if real, err := filepath.EvalSymlinks(bin); err == nil && filepath.Dir(filepath.Dir(executable)) == real {
		return Program{filepath.Join(bin, filepath.Base(filepath.Dir(executable)))}, nil
	}
	found, err := verbPrograms(verbs)
	if err != nil {
		return Program{}, fmt.Errorf("looking for the syscall programs: %w", err)
	}
	if len(found) == 0 {
		return Program{}, fmt.Errorf("no syscall-* programs in %s: an author could ask for nothing; name their directory with --verbs", verbs)
	}
	files := []programFile{{from: executable, to: programName}}
	for _, name := range found {
		files = append(files, programFile{from: filepath.Join(verbs, name), to: filepath.Join(verbsDir, name)})
	}
	hash, err := hashFiles(files)
	if err != nil {
		return Program{}, fmt.Errorf("reading the programs: %w", err)
	}
	p := Program{filepath.Join(bin, hash)}
	if _, err := os.Stat(p.dir); err == nil {
		return p, nil
	}
	if err := copyProgram(root, files, p.dir); err != nil {
		return Program{}, fmt.Errorf("copying the programs into the state root: %w", err)
	}
	return p, nil
}

// verbPrograms are the names of the verb programs in a directory, in order.
func verbPrograms(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "syscall-") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// programFile is one file of the copy.
type programFile struct {
	from, to string // to is below the copy's directory
	hash     string // of its content
}

// hashFiles fills in the hash of each file and returns one of them all, names
// included. The files are in the order of their names.
func hashFiles(files []programFile) (string, error) {
	all := sha256.New()
	for i := range files {
		f, err := os.Open(files[i].from)
		if err != nil {
			return "", err
		}
		one := sha256.New()
		_, err = io.Copy(one, f)
		f.Close()
		if err != nil {
			return "", err
		}
		files[i].hash = hex.EncodeToString(one.Sum(nil))
		fmt.Fprintf(all, "%s %s\n", files[i].to, files[i].hash)
	}
	return hex.EncodeToString(all.Sum(nil))[:32], nil
}

func copyProgram(root Root, files []programFile, dir string) error {
	unlock, locked, err := root.making("bin", makeWait)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return nil // by the process that had the lock
	}
	if locked {
		if err := sweepCopies(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), copyPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.Mkdir(filepath.Join(temp, verbsDir), 0o755); err != nil {
		return err
	}
	// Programs may be one file under many names, as in a multi-call binary.
	copies := make(map[string]string)
	for _, f := range files {
		to := filepath.Join(temp, f.to)
		if same, ok := copies[f.hash]; ok {
			err = os.Link(same, to)
		} else {
			copies[f.hash] = to
			err = copyFile(f.from, to)
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(os.Chmod(temp, 0o755), durable.SyncDir(filepath.Join(temp, verbsDir)), durable.SyncDir(temp)); err != nil {
		return err
	}
	// Whoever comes second finds a directory with files in it, which cannot be
	// renamed onto, and its content is the same.
	if err := os.Rename(temp, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncDir(filepath.Dir(dir))
}

// sweepCopies removes copies whose maker was killed. The caller has the lock of their
// directory.
func sweepCopies(bin string) error {
	left, err := filepath.Glob(filepath.Join(bin, copyPrefix+"*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range left {
		errs = append(errs, os.RemoveAll(path))
	}
	return errors.Join(errs...)
}

// copyFile copies and never links: an operator who writes a new program over
// the old file would otherwise change what jobs that are queued will run.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Sync()
}

// ProgramIn is the program in a directory that has it already.
func ProgramIn(dir string) Program { return Program{dir} }

// Dir is where the copy lies.
func (p Program) Dir() string { return p.dir }

// Verbs is the directory with the verb programs and nothing else.
func (p Program) Verbs() string { return filepath.Join(p.dir, verbsDir) }

// Command is the argv of one of the program's inner commands.
func (p Program) Command(args ...string) []string {
	return append([]string{filepath.Join(p.dir, programName)}, args...)
}

// JobEnvironment is the environment of the kernel's own processes that run as
// jobs: built up from a list, so that nothing a scheduler or an operator's shell
// has set reaches them. PATH is where they find git, bwrap and the scheduler's
// programs, and SLURM_CONF names the cluster that a leg submits to.
func JobEnvironment(getenv func(string) string) []string {
	env := []string{"LANG=C.UTF-8"}
	for _, key := range []string{"PATH", "HOME", "USER", "TMPDIR", "TZ", "SLURM_CONF"} {
		if v := getenv(key); v != "" && utf8.ValidString(v) {
			env = append(env, key+"="+v)
		}
	}
	return env
}
