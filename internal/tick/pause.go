package tick

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/engine"
)

// pausedLine says of a state root that is paused what that means and how it ends.
const pausedLine = "paused: no leg is started; outerloop-tick resume takes it back"

// paused says whether the operator has paused the state root.
func paused(root engine.Root) bool {
	_, err := os.Lstat(filepath.Join(root.Path(), pauseFile))
	return err == nil
}

func pauseCommand() command {
	return command{
		name: "pause", use: "[--root DIR]",
		what: "start nothing more; what is under way goes on",
		detail: strings.TrimSpace(`
Pauses the state root: no leg is started any more, and the resident tick ends with
its successor. Legs and jobs that are under way go on, and the wakes that are in
the queue. outerloop-tick resume takes it back.`),
		run: runPause,
	}
}

func runPause(_ context.Context, c *call, args []string) error {
	root, err := c.rootAlone(args)
	if err != nil {
		return err
	}
	if err := engine.CheckRoot(root.Path()); err != nil {
		return err
	}
	if paused(root) {
		fmt.Fprintf(c.Stdout, "%s was paused already; outerloop-tick resume takes it back\n", root.Path())
		return nil
	}
	if err := durable.WriteFile(filepath.Join(root.Path(), pauseFile), nil); err != nil {
		return fmt.Errorf("pausing: %w", err)
	}
	fmt.Fprintf(c.Stdout, "paused %s; what is under way goes on, and outerloop-tick resume takes it back\n", root.Path())
	return nil
}

func resumeCommand() command {
	return command{
		name: "resume", use: "[--root DIR]",
		what: "take a pause back",
		detail: strings.TrimSpace(`
Takes a pause back. On Slurm, outerloop-tick start then submits the resident tick
anew.`),
		run: runResume,
	}
}

func runResume(_ context.Context, c *call, args []string) error {
	root, err := c.rootAlone(args)
	if err != nil {
		return err
	}
	placed, _, err := readCompute(root)
	if err != nil {
		return err
	}
	err = os.Remove(filepath.Join(root.Path(), pauseFile))
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(c.Stdout, "%s was not paused\n", root.Path())
		return nil
	}
	if err != nil {
		return fmt.Errorf("resuming: %w", err)
	}
	next := "the next tick starts what is due"
	if placed.Kind == kindSlurm {
		next = "outerloop-tick start submits the resident tick anew"
	}
	fmt.Fprintf(c.Stdout, "resumed %s; %s\n", root.Path(), next)
	return nil
}

// rootAlone opens the state root for a command that takes nothing else.
func (c *call) rootAlone(args []string) (engine.Root, error) {
	rootFlag := c.rootFlag()
	rest, err := c.parse(args)
	if err != nil {
		return "", err
	}
	if len(rest) > 0 {
		return "", wrong(c.words()+" --help shows what it takes", "%q is not expected: %s takes flags only", rest[0], c.command.name)
	}
	return c.root(*rootFlag)
}
