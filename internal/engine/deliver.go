package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// delivery says what became of one declared artifact.
type delivery struct {
	artifact string
	path     string // below the channel, where it was brought back
	problem  string // why it was not
}

// deliver brings the artifacts of a launch's job into the channel. What an
// earlier launch of the same name has left there goes where this one brought
// nothing. It may be repeated.
func deliver(k *channel.Kernel, l *Launch, j *job) ([]delivery, error) {
	all := make([]delivery, len(l.Artifacts))
	for i, artifact := range l.Artifacts {
		d := &all[i]
		d.artifact = artifact
		result := channel.Result{Launch: l.Name, Task: j.task, Artifact: artifact}
		err := copyArtifact(k, j.dir, result)
		if err == nil {
			d.path = result.Path()
			continue
		}
		if passing(err) {
			return nil, err
		}
		if d.problem = skipped(j.dir, artifact); d.problem == "" {
			d.problem = problem(err)
		}
		// Where even that fails, the session has shut its own results away.
		if err := k.Withdraw(result); err != nil {
			d.problem += "; " + err.Error()
		}
	}
	return all, nil
}

// passing says that an error is the machine's and may be gone in a while. The
// artifact is still there, so it is brought back then. Everything else the
// session can have brought about, and it must not hold its own wake up for ever.
func passing(err error) bool {
	for _, errno := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.ESTALE, syscall.EROFS} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// copyArtifact takes an artifact from the job's directory. The runner has put
// it there through descriptors, but its name is the author's and its content
// was a job's, so the way back is no less careful.
func copyArtifact(k *channel.Kernel, jobDir string, result channel.Result) error {
	root, err := dirfd.Open(jobDir)
	if err != nil {
		return err
	}
	defer root.Close()
	dir, file := path.Split("artifacts/" + result.Artifact)
	sub, err := root.SubPath(strings.TrimSuffix(dir, "/"), false)
	if err != nil {
		return err
	}
	defer sub.Close()
	f, _, err := sub.OpenRegular(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return k.Deliver(result, f)
}

// problem is why an artifact did not come back, for the author.
func problem(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the job did not leave it"
	case errors.Is(err, dirfd.ErrTooLarge):
		return fmt.Sprintf("it is larger than %d bytes", channel.MaxArtifactBytes)
	case errors.Is(err, dirfd.ErrNotRegular):
		return "something else stands in its place"
	}
	return "it could not be copied"
}
