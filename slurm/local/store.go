package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"
)

// store is the state directory:
//
//	lock            held by the one visitor
//	capacity.json   how many CPUs and GPUs there are to hand out
//	last-id         the highest id that was ever given to a job
//	tokens/<hash>   a link that reads as the id of the job with that token
//	new/            a job that is being written
//	live/<id>/      jobs that wait or run
//	ended/<id>/     jobs of which all tasks have ended
//
// A job's directory holds job.json and, for task i, i.spawn, i.start and i.end,
// and shepherd.log with whatever its shepherds had to say.
type store struct {
	dir string
	log *slog.Logger
	now func() time.Time

	reported sync.Map // what is wrong with the record of which job, as it was last logged
}

// capacity is what there is to hand out. It belongs to the directory and not to
// a program that uses it, so that all visitors count alike.
type capacity struct {
	CPUs int `json:"cpus"`
	GPUs int `json:"gpus"`
}

func (s *store) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

func (s *store) liveDir(id int) string  { return s.path("live", strconv.Itoa(id)) }
func (s *store) endedDir(id int) string { return s.path("ended", strconv.Itoa(id)) }

// create makes the directories where they are missing.
func (s *store) create() error {
	for _, dir := range []string{s.dir, s.path("tokens"), s.path("live"), s.path("ended")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return syncDir(s.dir)
}

// tidy removes what visitors that were killed have left. Under the lock there is no
// other.
func (s *store) tidy() error {
	return errors.Join(tidy(s.dir), tidy(s.path("tokens")), os.RemoveAll(s.path("new")))
}

func (s *store) readCapacity() (capacity, error) {
	var c capacity
	found, err := loadJSON(s.path("capacity.json"), &c)
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", s.path("capacity.json"), fs.ErrNotExist)
	}
	return c, err
}

// readJob returns nil where there is no such job.
func readJob(dir string, id int) (*job, error) {
	j := &job{dir: dir}
	path := filepath.Join(dir, "job.json")
	found, err := loadJSON(path, j)
	if err != nil {
		return nil, err
	}
	if !found {
		// A directory gets its final name with the record in it, so that one
		// without was tampered with. That is unlike no directory at all.
		if _, err := os.Lstat(dir); err == nil {
			return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
		return nil, nil
	}
	if err := j.check(id); err != nil {
		return nil, fmt.Errorf("%s cannot be used: %w", path, err)
	}
	return j, nil
}

func (j *job) save() error {
	if err := saveJSON(filepath.Join(j.dir, "job.json"), j); err != nil {
		return err
	}
	j.dirty = false
	return nil
}

// ids lists the jobs in a directory, oldest first. Names that are no ids are
// nobody's business here.
func (s *store) ids(dir string) ([]int, error) {
	f, err := os.Open(s.path(dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var ids []int
	for _, name := range names {
		if id, task, ok := parseID(name); ok && task < 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// lastID is 0 before the first job. Where somebody removed the counter, the jobs
// that are still known have to do.
func (s *store) lastID() (int, error) {
	data, err := os.ReadFile(s.path("last-id"))
	if errors.Is(err, fs.ErrNotExist) {
		live, err1 := s.ids("live")
		ended, err2 := s.ids("ended")
		return slices.Max(slices.Concat([]int{0}, live, ended)), errors.Join(err1, err2)
	}
	if err != nil {
		return 0, err
	}
	id, ok := parseNumber(strings.TrimSpace(string(data)))
	if !ok {
		return 0, fmt.Errorf("%s holds %q, which is no id; write the highest id that was ever used into it", s.path("last-id"), data)
	}
	return id, nil
}

// findToken returns the id of the job with the token, 0 for none. It has to be
// called under the lock, or a submission that is half way in would be missed.
func (s *store) findToken(token string) (int, error) {
	if token == "" {
		return 0, nil
	}
	target, err := os.Readlink(s.tokenPath(token))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	id, ok := parseNumber(target)
	if !ok {
		return 0, fmt.Errorf("%s reads %q, which is no id", s.tokenPath(token), target)
	}
	for _, dir := range []string{s.liveDir(id), s.endedDir(id)} {
		_, err := os.Lstat(dir)
		if err == nil {
			return id, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	// The submission died between its token and its job, or the job has been
	// forgotten since. Either way the id belongs to nobody else.
	return 0, nil
}

// tokenPath hashes because a token may hold any bytes and be of any length.
func (s *store) tokenPath(token string) string {
	sum := sha256.Sum256([]byte(token))
	return s.path("tokens", hex.EncodeToString(sum[:]))
}

// add puts a new job in under the next id. The job is there, with its token, from
// the last rename on and not before; whatever a crash leaves of an earlier step
// is harmless: an id that nobody has, a token that leads nowhere, and the
// directory new/, which the next submission starts over or the next Open removes.
func (s *store) add(j *job) error {
	last, err := s.lastID()
	if err != nil {
		return err
	}
	j.ID = last + 1
	err = renameio.WriteFile(s.path("last-id"), []byte(j.name()+"\n"), 0o600, renameio.WithTempDir(s.dir))
	if err != nil {
		return err
	}
	j.dir = s.path("new")
	if err := os.RemoveAll(j.dir); err != nil {
		return err
	}
	if err := os.Mkdir(j.dir, 0o700); err != nil {
		return err
	}
	if err := j.save(); err != nil {
		return err
	}
	if err := syncDir(j.dir); err != nil {
		return err
	}
	if j.Spec.Token != "" {
		if err := renameio.Symlink(j.name(), s.tokenPath(j.Spec.Token)); err != nil {
			return err
		}
		// Durable before the job is: a job that outlived its token would be
		// submitted a second time.
		if err := syncDir(s.path("tokens")); err != nil {
			return err
		}
	}
	// The same holds for the counter: behind its job, it would give the id away
	// once more.
	if err := syncDir(s.dir); err != nil {
		return err
	}
	if err := os.Rename(j.dir, s.liveDir(j.ID)); err != nil {
		return err
	}
	j.dir = s.liveDir(j.ID)
	return syncDir(s.path("live"))
}
