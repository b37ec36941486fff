package tick

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/engine"
)

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
		run: func(_ context.Context, c *call, args []string) error {
			return c.setPause(args, func(path string) error { return durable.WriteFile(path, nil) })
		},
	}
}

func resumeCommand() command {
	return command{
		name: "resume", use: "[--root DIR]",
		what: "take a pause back",
		detail: strings.TrimSpace(`
Takes a pause back. On Slurm, outerloop-tick start then submits the resident tick
anew.`),
		run: func(_ context.Context, c *call, args []string) error {
			return c.setPause(args, func(path string) error {
				if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				return nil
			})
		},
	}
}

func (c *call) setPause(args []string, set func(path string) error) error {
	rootFlag := c.rootFlag()
	if rest, err := c.parse(args); err != nil {
		return err
	} else if len(rest) > 0 {
		return wrong("outerloop-tick "+c.command.name+" --help shows what it takes", "%s takes no arguments", c.command.name)
	}
	root, err := c.root(*rootFlag)
	if err != nil {
		return err
	}
	return set(filepath.Join(root.Path(), pauseFile))
}
