package seal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// LeftOut is a path that a seal does not hold although no rule of the author's
// leaves it out.
type LeftOut struct {
	UntrustedPath string // a directory ends in "/"
	Why           string
}

// String is for messages: the path is quoted where it could disturb a line.
func (l LeftOut) String() string { return printable(l.UntrustedPath) + ": " + l.Why }

// entry is a name in a directory with what stood there when it was looked at.
type entry struct {
	untrustedName string
	stat          dirfd.Stat
}

// file is something that belongs into the seal.
type file struct {
	untrustedDir  string // "" or ending in "/"
	untrustedName string
	link          bool
}

// walk collects what belongs into a seal, and reads nothing but .gitignore
// files: bounds are checked, and a refusal can say where the weight lies, before
// a byte is copied.
type walk struct {
	ctx    context.Context
	limits Limits
	rules  *rules

	files   []file // those of one directory stand together
	bytes   int64
	entries int
	ignored int // paths at which a rule stopped the walk
	leftOut leftOutList

	names, sizes weights // for refusals
}

func walkTree(ctx context.Context, root *dirfd.Dir, limits Limits, r *rules) (*walk, error) {
	w := &walk{ctx: ctx, limits: limits, rules: r, names: weights{}, sizes: weights{}}
	if err := w.dir(root, "", 0); err != nil {
		return nil, err
	}
	if len(w.files) > limits.Files {
		return nil, &LimitError{
			Cause:   fmt.Sprintf("the workspace holds %d files, more than the %d that a seal may hold", len(w.files), limits.Files),
			Cure:    cureIgnore,
			Biggest: w.fileCounts().biggest(filesText),
		}
	}
	if w.bytes > limits.TotalBytes {
		return nil, w.tooManyBytes(w.bytes)
	}
	return w, nil
}

func (w *walk) tooManyBytes(found int64) error {
	return &LimitError{
		Cause:   fmt.Sprintf("the workspace holds %s, more than the %s that a seal may hold", bytesText(found), bytesText(w.limits.TotalBytes)),
		Cure:    cureIgnore,
		Biggest: w.sizes.biggest(bytesText),
	}
}

func fileTooLarge(limits Limits, untrustedPath string, size int64) error {
	return &LimitError{
		Cause: fmt.Sprintf("the file %s has %s, more than the %s that a file in a seal may have",
			printable(untrustedPath), bytesText(size), bytesText(limits.FileBytes)),
		Cure: cureIgnore,
	}
}

func filesText(n int64) string { return fmt.Sprintf("%d files", n) }

func (w *walk) fileCounts() weights {
	counts := weights{}
	for _, f := range w.files {
		counts.add(f.untrustedDir, 1)
	}
	return counts
}

// dir takes the entries of one directory, then goes down. The descriptors of
// the directories above stay open, which Limits.Depth bounds.
func (w *walk) dir(d *dirfd.Dir, untrustedDir string, depth int) error {
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	if depth > w.limits.Depth {
		return &LimitError{
			Cause: fmt.Sprintf("the directory %s lies deeper than the %d levels that a seal may have", printable(untrustedDir), w.limits.Depth),
			Cure:  cureFlatten,
		}
	}
	entries, err := w.list(d, untrustedDir)
	if err != nil {
		return err
	}
	if err := w.addRules(d, untrustedDir, entries); err != nil {
		return err
	}
	ignored, err := w.rules.ignored(w.ctx, untrustedDir, entries)
	if err != nil {
		return err
	}
	var below []string
	for i, e := range entries {
		switch mode := e.stat.Mode; {
		case ignored[i]:
			w.ignored++
		case mode.IsDir():
			below = append(below, e.untrustedName)
		case mode.IsRegular() || mode&fs.ModeSymlink != 0:
			if err := w.take(untrustedDir, e); err != nil {
				return err
			}
		default:
			w.leftOut.add(untrustedDir+e.untrustedName, kind(mode))
		}
	}
	for _, untrustedName := range below {
		sub, err := d.Sub(untrustedName)
		if err != nil {
			w.leftOut.add(untrustedDir+untrustedName+"/", whyNot(err))
			continue
		}
		err = w.dir(sub, untrustedDir+untrustedName+"/", depth+1)
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// list gives the names of a directory in order, without those that never belong
// into a seal, and what stands under each.
func (w *walk) list(d *dirfd.Dir, untrustedDir string) ([]entry, error) {
	untrustedNames, more, err := d.List(w.limits.Entries - w.entries)
	if err != nil {
		if untrustedDir == "" {
			return nil, err
		}
		w.leftOut.add(untrustedDir, whyNot(err))
		return nil, nil
	}
	w.entries += len(untrustedNames)
	w.names.add(untrustedDir, int64(len(untrustedNames)))
	if more {
		return nil, &LimitError{
			Cause:   fmt.Sprintf("the workspace has more than %d names to look at", w.limits.Entries),
			Cure:    "Ignore the directory itself in .gitignore, not the files in it, or delete it.",
			Biggest: w.names.biggest(func(n int64) string { return fmt.Sprintf("%d names", n) }),
		}
	}
	// A directory that is changed while it is read may give a name twice.
	slices.Sort(untrustedNames)
	untrustedNames = slices.Compact(untrustedNames)
	entries := make([]entry, 0, len(untrustedNames))
	for _, untrustedName := range untrustedNames {
		untrustedPath := untrustedDir + untrustedName
		if len(untrustedPath) > maxPath {
			return nil, &LimitError{
				Cause: fmt.Sprintf("the path %s is longer than %d bytes", printable(untrustedPath), maxPath),
				Cure:  cureFlatten,
			}
		}
		if untrustedName == ".git" || untrustedDir == "" && isChannel(untrustedName) {
			continue
		}
		st, err := d.Lstat(untrustedName)
		if err != nil {
			w.leftOut.add(untrustedPath, whyNot(err))
			continue
		}
		if why := refusedByGit(untrustedName, st.Mode); why != "" {
			w.leftOut.add(untrustedPath, why)
			continue
		}
		entries = append(entries, entry{untrustedName, st})
	}
	return entries, nil
}

// isChannel: the channel, under its name of today or the older one, is how the
// session talks to the kernel and no part of its work.
func isChannel(untrustedName string) bool {
	return untrustedName == ".outerloop" || untrustedName == ".autoresearch"
}

// refusedByGit says why git would not take a name, or "". Git 2.39 takes these
// two from fast-import, newer ones end with an error, and a seal must not depend
// on the version.
func refusedByGit(untrustedName string, mode fs.FileMode) string {
	switch {
	case strings.EqualFold(untrustedName, ".git"):
		return "git reserves the name"
	case strings.EqualFold(untrustedName, ".gitmodules") && mode&fs.ModeSymlink != 0:
		return "git takes no link of that name"
	}
	return ""
}

// addRules hands a directory's .gitignore on. As with git, one that is a link or
// anything else but a file holds no rules; so does one that cannot be read.
func (w *walk) addRules(d *dirfd.Dir, untrustedDir string, entries []entry) error {
	const name = ".gitignore"
	i, found := slices.BinarySearchFunc(entries, name, func(e entry, s string) int {
		return strings.Compare(e.untrustedName, s)
	})
	if !found || !entries[i].stat.Mode.IsRegular() {
		return nil
	}
	f, st, err := d.OpenRegular(name)
	if err != nil {
		return nil // the file itself is reported when its turn comes
	}
	defer f.Close()
	if st.Size > w.limits.RulesBytes {
		return &LimitError{
			Cause: fmt.Sprintf("%s has %s, more than the %s that rules may have",
				printable(untrustedDir+name), bytesText(st.Size), bytesText(w.limits.RulesBytes)),
			Cure: cureRules,
		}
	}
	data := make([]byte, st.Size) // what is appended meanwhile is not read
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return w.rules.add(untrustedDir, data[:n])
}

// take notes a file or link for the seal. After Limits.Files the walk goes on,
// up to Limits.Entries, so that a refusal names where the files really are.
func (w *walk) take(untrustedDir string, e entry) error {
	untrustedPath := untrustedDir + e.untrustedName
	if e.stat.Size > w.limits.FileBytes {
		return fileTooLarge(w.limits, untrustedPath, e.stat.Size)
	}
	w.bytes += e.stat.Size
	w.sizes.add(untrustedPath, e.stat.Size)
	w.files = append(w.files, file{untrustedDir, e.untrustedName, e.stat.Mode&fs.ModeSymlink != 0})
	return nil
}

func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "neither a file nor a link"
}

// whyNot words the error of an access to something that the session may have
// removed, replaced or locked away meanwhile. None of them fails a seal.
func whyNot(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "vanished while it was looked at"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, dirfd.ErrNotRegular):
		return "replaced while it was looked at"
	}
	return "cannot be read: " + errText(err)
}

// errText drops the path from an error; the session chose it, and it is shown
// beside the reason already.
func errText(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// leftOutList keeps the first paths and counts the rest: a workspace of nothing
// but sockets makes no report of a hundred thousand lines.
type leftOutList struct {
	kept []LeftOut
	more int
}

func (l *leftOutList) add(untrustedPath, why string) {
	const max = 100
	if len(l.kept) == max {
		l.more++
		return
	}
	l.kept = append(l.kept, LeftOut{untrustedPath, why})
}
