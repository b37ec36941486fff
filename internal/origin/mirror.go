package origin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/outerloop-go/outerloop/internal/git"
)

// Mirror is the kernel's copy of one repository's branches. Processes may use one
// directory at the same time: one fetches, the others wait for it.
type Mirror struct {
	git git.Repo
	url string
	log *slog.Logger
}

// CheckURL refuses what cannot be fetched from, and addresses that hold a password:
// records and process lists would show it.
func CheckURL(address string) error {
	if address == "" || strings.HasPrefix(address, "-") || !utf8.ValidString(address) ||
		strings.ContainsFunc(address, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%q is no address of a repository", address)
	}
	if u, err := url.Parse(address); err == nil && u.User != nil {
		if _, secret := u.User.Password(); secret {
			return errors.New("the address holds a password; leave it out, and set a credential helper or an SSH key for git")
		}
	}
	return nil
}

// Open opens the mirror of an address, and makes it first where nothing is. The
// directory above must exist, and no session may be able to write there.
func Open(ctx context.Context, dir, address string, log *slog.Logger) (*Mirror, error) {
	if err := CheckURL(address); err != nil {
		return nil, err
	}
	program, err := git.Find()
	if err != nil {
		return nil, err
	}
	m := &Mirror{url: address, log: log, git: git.Repo{
		Program: program, Dir: dir, Env: asOperator(),
		Settings: []string{
			"fetch.unpackLimit=1", // what is fetched stays a pack, complete in itself
			"gc.auto=0",
			"maintenance.auto=false",
		},
	}}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		err = m.git.Create(ctx, "main")
		if err != nil {
			return nil, fmt.Errorf("make a mirror at %s: %w", dir, err)
		}
	} else if err != nil {
		return nil, err
	}
	return m, nil
}

// asOperator lets git have what it needs to get at a repository that is not public: the
// operator's own configuration, with a credential helper or proxy in it, and keys for
// SSH. It runs on the kernel's repository and nobody else's.
func asOperator() []string {
	home := os.Getenv("HOME")
	return []string{"HOME=" + home, "GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig")}
}

// maxPacks is how many packs there may be before they become few: each fetch that finds
// something adds one.
const maxPacks = 50

// fetch brings the mirror up to date. The caller holds its lock, which no git process of
// an earlier holder has any more, so every lock file of git's there is stale.
func (m *Mirror) fetch(ctx context.Context) error {
	if err := m.tidy(); err != nil {
		return err
	}
	cmd, said := m.git.Command(ctx, "fetch", "--quiet", "--prune", "--force", "--no-tags", "--no-write-fetch-head",
		"--no-recurse-submodules", "--end-of-options", m.url, "+refs/heads/*:refs/heads/*")
	// A connection is held by a process of git's own, which would go on, and keep the
	// lock, when only git is killed. Without a terminal nothing asks for a password.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Run(); err != nil {
		return said.Fail(ctx, "fetch", err)
	}
	packs, err := filepath.Glob(filepath.Join(m.git.Dir, "objects/pack/*.pack"))
	if err == nil && len(packs) > maxPacks {
		if _, err := m.git.Output(ctx, "repack", "--geometric=2", "-d", "--quiet"); err != nil {
			m.log.Warn("the mirror's packs stay many", "mirror", m.git.Dir, "error", err)
		}
	}
	return err
}

// tidy removes what a git that was killed has left.
func (m *Mirror) tidy() error {
	for _, sub := range []string{"", "refs", "objects/pack"} {
		err := filepath.WalkDir(filepath.Join(m.git.Dir, sub), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && sub == "" && path != m.git.Dir:
				return fs.SkipDir
			case strings.HasSuffix(path, ".lock"), strings.HasPrefix(entry.Name(), "tmp_"):
				return os.Remove(path)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("tidy the mirror: %w", err)
		}
	}
	return nil
}

// maxBranches bounds the files that are made in a workspace.
const maxBranches = 10_000

// branches are the commits of the mirror's branches.
func (m *Mirror) branches(ctx context.Context) (map[string]string, error) {
	out, err := m.git.Output(ctx, "for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads/")
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		commit, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all[name] = commit
	}
	if len(all) > maxBranches {
		return nil, fmt.Errorf("the repository has %d branches; at most %d are brought", len(all), maxBranches)
	}
	return all, nil
}
