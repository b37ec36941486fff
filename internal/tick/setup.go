package tick

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/slurm/local"
)

// rootFlag adds --root to the command's flags.
func (c *call) rootFlag() *string {
	return c.flags.String("root", "", "`DIR` with all runs; OUTERLOOP_ROOT, else ~/.outerloop, where it is not given")
}

// root opens the state root.
func (c *call) root(flag string) (engine.Root, error) {
	path, err := c.rootPath(flag)
	if err != nil {
		return "", err
	}
	root, err := engine.OpenRoot(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", failed("outerloop-tick new makes one with its first run; --root or OUTERLOOP_ROOT names another",
			"%s is no state root", path)
	}
	return root, err
}

// rootPath is where the state root is: the flag's, the environment's, or the
// usual place.
func (c *call) rootPath(flag string) (string, error) {
	for _, path := range []string{flag, c.Getenv("OUTERLOOP_ROOT")} {
		if path != "" {
			return path, nil
		}
	}
	if home := c.Getenv("HOME"); home != "" {
		return filepath.Join(home, ".outerloop"), nil
	}
	return "", wrong("give --root DIR", "no state root: neither --root, OUTERLOOP_ROOT nor HOME is set")
}

// engine puts together what moves the runs of a state root.
func (c *call) engine(root engine.Root, verbs string, log *slog.Logger) (*engine.Engine, error) {
	program, err := c.program(root, verbs)
	if err != nil {
		return nil, err
	}
	slots, err := readSlots(root)
	if err != nil {
		return nil, err
	}
	backend, err := local.Open(local.Options{
		Dir:      root.LocalDir(),
		Shepherd: program.Command("shepherd"),
		CPUs:     slots.cpus,
		GPUs:     slots.gpus,
		Grace:    localGrace,
		Log:      log,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the local backend: %w", err)
	}
	return &engine.Engine{
		Root:    root,
		Backend: backend,
		Program: program,
		Env:     engine.JobEnvironment(c.Getenv),
		Job:     c.Getenv("OUTERLOOP_JOB_ID"),
		Now:     time.Now,
		Log:     log,
	}, nil
}

// localGrace is the time between SIGTERM and SIGKILL for a job of the local
// backend: that of Slurm (KillWait), and more than an author or a command gets
// from the leg or runner that has to seal or deliver after it.
const localGrace = 30 * time.Second

// program is the copy of this program and the verbs that jobs run. The verbs
// are looked for beside the program, as they are built and installed.
func (c *call) program(root engine.Root, verbs string) (engine.Program, error) {
	self, err := c.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return engine.Program{}, fmt.Errorf("finding this program: %w", err)
	}
	if verbs == "" {
		verbs = filepath.Dir(self)
	}
	return engine.InstallProgram(root, self, verbs)
}

// slots is what the machine has to hand out. It is kept in the state root, so
// that every process that starts jobs counts the same.
type slots struct{ cpus, gpus int }

const slotsFile = "slots"

func readSlots(root engine.Root) (slots, error) {
	raw, err := os.ReadFile(filepath.Join(root.Path(), slotsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return slots{0, -1}, nil
	}
	if err != nil {
		return slots{}, err
	}
	var s slots
	if _, err := fmt.Sscanf(string(raw), "cpus %d\ngpus %d\n", &s.cpus, &s.gpus); err != nil {
		return slots{}, failed("remove it, and give --slots or --gpus once more",
			"%s/%s cannot be read: %v", root.Path(), slotsFile, err)
	}
	return s, nil
}

// setSlots changes what is kept, where a flag says so.
func setSlots(root engine.Root, cpus, gpus string) error {
	if cpus == "" && gpus == "" {
		return nil
	}
	s, err := readSlots(root)
	if err != nil {
		return err
	}
	for _, set := range []struct {
		flag, value string
		into        *int
	}{{"--slots", cpus, &s.cpus}, {"--gpus", gpus, &s.gpus}} {
		if set.value == "" {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(set.value))
		if err != nil || n < 0 {
			return wrong("give a number, such as "+set.flag+" 2", "%s %q is no number of slots", set.flag, set.value)
		}
		*set.into = n
	}
	text := fmt.Sprintf("cpus %d\ngpus %d\n", s.cpus, s.gpus)
	return durable.WriteFile(filepath.Join(root.Path(), slotsFile), []byte(text))
}
