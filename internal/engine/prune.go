package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// Pruned is one thing that a prune has removed, or would.
type Pruned struct {
	What  string // "workspace of run r", as an operator reads it
	Bytes int64  // of disk
}

// Prune removes what ended before a time and is not needed to know what happened:
// of ended runs the workspaces that the state root made, the authors' homes and the
// seals, and, while no run can move and no job is queued, programs that were copied in
// for jobs. Ledgers, records, reports, and workspaces that the operator named stay. With dry nothing is
// removed. each is told of everything; an error concerns what it names, and the rest
// is pruned. idle is asked whether the scheduler has no job, after the runs: to ask
// may take room on the disk that they must give first.
func Prune(ctx context.Context, root Root, before time.Time, dry bool, idle func() (bool, error), each func(Pruned)) error {
	ids, err := root.Runs()
	if err != nil {
		return err
	}
	p := &pruner{root: root, before: before, dry: dry, idle: idle, each: each}
	var old []Record
	for _, id := range ids {
		rec, err := loadRecord(root.RunDir(id), id)
		switch {
		case err != nil:
			p.failed = append(p.failed, err)
			p.moving = true // as far as can be known
		case rec.endedBefore(before):
			old = append(old, rec)
		default:
			p.kept = append(p.kept, rec.Workspace)
			p.moving = p.moving || rec.State != Ended
		}
	}
	for i := range old {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.run(ctx, old[i].ID); err != nil && !errors.Is(err, ErrBusy) {
			p.failed = append(p.failed, fmt.Errorf("pruning run %s: %w", old[i].ID, err))
		}
	}
	if err := p.programs(); err != nil {
		p.failed = append(p.failed, fmt.Errorf("pruning the programs: %w", err))
	}
	return errors.Join(p.failed...)
}

func (rec *Record) endedBefore(at time.Time) bool {
	return rec.State == Ended && rec.EndedAt != nil && rec.EndedAt.Before(at)
}

// pruner is one prune.
type pruner struct {
	root   Root
	before time.Time
	dry    bool
	idle   func() (bool, error)
	each   func(Pruned)
	kept   []string // workspaces of runs that are not pruned
	moving bool     // a run has not ended
	failed []error
}

// run prunes one run, under its lock, since it may be retried at any time.
func (p *pruner) run(ctx context.Context, id string) error {
	r, err := openRun(ctx, p.root, id, 0, operator)
	if err != nil {
		return err
	}
	defer r.Close()
	if !r.endedBefore(p.before) {
		return nil
	}
	root := p.root
	// A run that was given a directory may have been given one in here.
	made := filepath.Join(root.real(), "workspaces", id)
	used := slices.ContainsFunc(p.kept, func(w string) bool { return under(w, made) || under(made, w) })
	if r.Workspace == made && !used {
		if err := p.tree(root.join("workspaces"), id, "workspace of run "+id); err != nil {
			return err
		}
	}
	// An agent's program fills its home with caches, and leaves its key or login there.
	if err := p.tree(r.dir, homeDir, "home of run "+id); err != nil {
		return err
	}
	return p.tree(r.dir, filepath.Base(r.sealPath()), "seals of run "+id)
}

// tree removes what stands under a name in a directory of the state root's.
func (p *pruner) tree(dir, name, what string) error {
	d, err := dirfd.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if _, err := d.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	walk := d.RemoveTree
	if p.dry {
		walk = d.MeasureTree
	}
	freed, err := walk(name)
	if err != nil {
		return fmt.Errorf("removing the %s: %w", what, err)
	}
	p.each(Pruned{what, freed})
	return nil
}

// copyAge is how long a copy of the programs may take to be made, with plenty over.
const copyAge = time.Hour

// programs removes copies of the programs that nothing can refer to any more: every
// process of a run hands the copy that it runs from on to the jobs that it submits,
// so while a run moves or a job is queued, none is sure to be unused. The youngest
// stays, for it is the one that a tick is about to use.
func (p *pruner) programs() error {
	bin := p.root.join("bin")
	entries, err := os.ReadDir(bin)
	if err != nil {
		return err
	}
	var copies []fs.FileInfo
	for _, entry := range entries {
		info, err := entry.Info()
		switch {
		case err != nil:
			return err
		case !strings.HasPrefix(entry.Name(), "."):
			copies = append(copies, info)
		case strings.HasPrefix(entry.Name(), copyPrefix) && time.Since(info.ModTime()) > copyAge:
			if err := p.tree(bin, entry.Name(), "unfinished copy bin/"+entry.Name()); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(copies, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	if p.moving || len(copies) < 2 {
		return nil
	}
	if idle, err := p.idle(); !idle || err != nil {
		return err
	}
	for _, old := range copies[1:] {
		if !old.ModTime().Before(p.before) {
			continue
		}
		if err := p.tree(bin, old.Name(), "programs bin/"+old.Name()); err != nil {
			return err
		}
	}
	return nil
}
