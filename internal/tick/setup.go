package tick

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/settings"
)

// rootFlag adds --root to the command's flags.
func (c *call) rootFlag() *string {
	return c.flags.String("root", "", "the state root, `DIR` (default OUTERLOOP_ROOT, else ~/.outerloop)")
}

// root opens the state root.
func (c *call) root(flag string) (engine.Root, error) {
	at, err := c.rootPath(flag)
	if err != nil {
		return "", err
	}
	root, err := engine.OpenRoot(at.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return "", failed("outerloop-tick new makes one with its first run; --root or OUTERLOOP_ROOT names another",
			"%s is no state root%s", at.Text, named(at))
	}
	return root, refused(err, at)
}

// workRoot is root for a command that is going to write: it refuses a state root that
// could not be worked in.
func (c *call) workRoot(flag string) (engine.Root, error) {
	root, err := c.root(flag)
	if err != nil {
		return "", err
	}
	at, err := c.rootPath(flag)
	if err != nil {
		return "", err
	}
	return root, refused(engine.CheckRoot(root.Path()), at)
}

// createRoot is workRoot that makes the state root where it is missing.
func createRoot(at settings.Value) (engine.Root, error) {
	root, err := engine.CreateRoot(at.Text)
	return root, refused(err, at)
}

// rootPath is where the state root is: what the flag says, else the settings, else
// the usual place.
func (c *call) rootPath(flag string) (settings.Value, error) {
	set, err := c.settings()
	if err != nil {
		return settings.Value{}, err
	}
	at := set.Flag("--root", flag, "ROOT")
	if _, err := at.Line(); err != nil {
		return settings.Value{}, wrong("write it on one line", "%w", err)
	}
	if at.Text != "" {
		return at, nil
	}
	if home := c.Getenv("HOME"); home != "" {
		return settings.Value{Text: filepath.Join(home, ".outerloop")}, nil
	}
	return settings.Value{}, wrong("give --root DIR", "no state root: neither --root, OUTERLOOP_ROOT nor HOME is set")
}

// named says in brackets which setting a value comes from, where nobody can know it
// from the call.
func named(v settings.Value) string {
	if v.From == "" || strings.HasPrefix(v.From, "-") {
		return ""
	}
	return " (" + v.From + ")"
}

// refused adds to what is wrong with a state root where its path was read.
func refused(err error, at settings.Value) error {
	if from := named(at); err != nil && from != "" {
		return fmt.Errorf("%w%s", err, from)
	}
	return err
}

// engine puts together what moves the runs of a state root.
func (c *call) engine(root engine.Root, verbs string, log *slog.Logger) (*engine.Engine, error) {
	program, err := c.program(root, verbs)
	if err != nil {
		return nil, err
	}
	return c.engineOf(root, program, log)
}

// onlooker is an engine for those who start nothing: it needs no verbs, and leaves
// the state root's programs as they are.
func (c *call) onlooker(root engine.Root) (*engine.Engine, error) {
	self, err := c.self()
	if err != nil {
		return nil, err
	}
	return c.engineOf(root, engine.ProgramIn(filepath.Dir(self)), c.log())
}

func (c *call) engineOf(root engine.Root, program engine.Program, log *slog.Logger) (*engine.Engine, error) {
	compute, _, err := readCompute(root)
	if err != nil {
		return nil, err
	}
	backend, err := compute.backend(root, program, log)
	if err != nil {
		return nil, err
	}
	set, err := c.settings()
	if err != nil {
		return nil, err
	}
	return &engine.Engine{
		Root:    root,
		Backend: backend,
		Program: program,
		Env:     engine.JobEnvironment(c.Getenv),
		Author:  set.Author(),
		Keys:    set.AuthorKeys(),
		Place:   compute.Placement,
		Shares:  compute.Kind == kindSlurm,
		Job:     c.job(),
		Now:     time.Now,
		Log:     log,
	}, nil
}

// settings are the operator's.
func (c *call) settings() (*settings.Settings, error) {
	s, err := settings.Load(c.Getenv("HOME"), c.LookupEnv)
	if err != nil {
		return nil, failed("", "reading the settings: %w", err)
	}
	return s, nil
}

// job is the id of the job that this process runs as, "" for none.
func (c *call) job() string {
	for _, name := range []string{"OUTERLOOP_JOB_ID", "SLURM_JOB_ID"} {
		if id := c.Getenv(name); id != "" {
			return id
		}
	}
	return ""
}

// program is the copy of this program and the verbs that jobs run. The verbs
// are looked for beside the program, as they are built and installed.
func (c *call) program(root engine.Root, verbs string) (engine.Program, error) {
	self, err := c.self()
	if err != nil {
		return engine.Program{}, err
	}
	if verbs == "" {
		verbs = filepath.Dir(self)
	}
	return engine.InstallProgram(root, self, verbs)
}

// self is where this program lies.
func (c *call) self() (string, error) {
	self, err := c.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	return self, nil
}
