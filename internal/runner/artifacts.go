package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// Artifact is what became of one declared file: one line of artifacts.log, as
// JSON, since a path may hold any character.
type Artifact struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	Skipped string `json:"skipped,omitempty"` // why it was not brought out
}

const artifactsLog = "artifacts.log"

// ReadArtifacts reads artifacts.log in a job's directory. Where there is none
// yet the error is fs.ErrNotExist.
func ReadArtifacts(jobDir string) ([]Artifact, error) {
	data, err := os.ReadFile(filepath.Join(jobDir, artifactsLog))
	if err != nil {
		return nil, err
	}
	var all []Artifact
	for decoder := json.NewDecoder(bytes.NewReader(data)); decoder.More(); {
		var a Artifact
		if err := decoder.Decode(&a); err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", artifactsLog, jobDir, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// bringOut copies the declared files from the tree in which the command worked
// into artifacts/ of the job's directory, and writes the log. Only a failure to
// write there is an error; a file that cannot be had is one line of the log.
func bringOut(tree, jobDir *dirfd.Dir, untrustedPaths []string) error {
	var log bytes.Buffer
	out, err := jobDir.Mkdir("artifacts")
	if err != nil {
		return err
	}
	defer out.Close()
	for _, untrustedPath := range untrustedPaths {
		a := Artifact{Path: untrustedPath}
		size, err := copyOut(tree, out, untrustedPath)
		if err == nil {
			a.Bytes = size
		} else {
			a.Skipped = reason(err)
		}
		line, err := json.Marshal(a)
		if err != nil {
			return err
		}
		log.Write(append(line, '\n'))
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return jobDir.Publish(artifactsLog, log.Bytes(), dirfd.Durable)
}

// copyOut copies one file. The command may have put anything under the path and
// in place of the directories on the way: a link to a file of the operator's, a
// FIFO that blocks who opens it, a hard link, a file that grows as it is read.
// Each part is opened by itself, relative to the one before, following nothing.
func copyOut(tree, out *dirfd.Dir, untrustedPath string) (int64, error) {
	untrustedDir, untrustedName := path.Split(untrustedPath)
	untrustedDir = strings.TrimSuffix(untrustedDir, "/")
	from, err := tree.SubPath(untrustedDir, false)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	f, stat, err := from.OpenRegular(untrustedName)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if stat.Links != 1 {
		return 0, dirfd.ErrNotRegular
	}
	if stat.Size > channel.MaxArtifactBytes {
		return 0, dirfd.ErrTooLarge
	}
	to, err := out.SubPath(untrustedDir, true)
	if err != nil {
		return 0, err
	}
	defer to.Close()
	return to.PublishFrom(untrustedName, f, channel.MaxArtifactBytes, 0o600, dirfd.Settled)
}

// reason words an error for the author, who knows neither where the tree was
// nor what a descriptor is.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the command did not leave it"
	case errors.Is(err, dirfd.ErrNotRegular):
		return "it is, or lies behind, a link or something else that is no plain file"
	case errors.Is(err, dirfd.ErrTooLarge):
		return fmt.Sprintf("it is larger than %d bytes", channel.MaxArtifactBytes)
	case errors.Is(err, dirfd.ErrBadName):
		return "its path is not one of plain names"
	case errors.Is(err, fs.ErrPermission):
		return "the command left it unreadable"
	}
	return "it could not be copied"
}
