package verbs

import (
	"errors"

	"github.com/outerloop-go/outerloop/channel"
)

// session opens the channel of the workspace that the environment names, else
// of the nearest directory upward that has one.
func (c *call) session() (*channel.Session, error) {
	const cure = "run it inside a session; only a kernel makes a channel"
	// The second is the name from before the project's renaming.
	for _, name := range [...]string{"OUTERLOOP_WORKSPACE", "AUTORESEARCH_WORKSPACE"} {
		workspace := c.getenv(name)
		if workspace == "" {
			continue
		}
		s, err := channel.FindSession(workspace, "")
		if errors.Is(err, channel.ErrNoChannel) {
			return nil, failed(cure, "no channel here: %s=%s has no %s directory", name, workspace, channel.DirName)
		}
		return s, err
	}
	here, err := c.getwd()
	if err != nil {
		return nil, failed("set OUTERLOOP_WORKSPACE to the workspace", "finding the working directory: %v", err)
	}
	s, err := channel.FindSession("", here)
	if errors.Is(err, channel.ErrNoChannel) {
		return nil, failed("set OUTERLOOP_WORKSPACE to the workspace, or "+cure,
			"no channel here: neither %s nor a directory above it has %s", here, channel.DirName)
	}
	return s, err
}

// withSession runs do on the call's channel.
func withSession(do func(*call, *channel.Session) error) func(*call) error {
	return func(c *call) error {
		if err := c.checkRole(); err != nil {
			return err
		}
		s, err := c.session()
		if err != nil {
			return err
		}
		defer s.Close()
		return do(c, s)
	}
}

// checkRole refuses what the kernel would refuse when the session has ended. Where no
// kernel says whose session this is, that one decides.
func (c *call) checkRole() error {
	role := c.getenv("OUTERLOOP_ROLE")
	switch {
	case c.verb.role == "" || role == "" || role == c.verb.role:
		return nil
	case role == judge:
		return failed("stage what you find with syscall-finding, then use syscall-conclude and end your session",
			"this session judges, and launches or submits nothing")
	}
	return failed("stage launches or a submit and use syscall-sleep",
		"a verdict is for a judge to give, and this session is an author's")
}

// unending is the context of every wait here. Nothing cancels a verb but the end
// of its process: whatever it changes it changes by one rename, and the lock
// that it may hold ends with it.
func unending() channel.Canceler { return never{} }

type never struct{}

func (never) Done() <-chan struct{} { return nil }
func (never) Err() error            { return nil }
