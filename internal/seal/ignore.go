package seal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/internal/git"
)

// rules answers which paths the .gitignore files of a tree leave out.
//
// Git finds those files by path and opens whatever stands there, so it must not
// look into the workspace. It looks into a shadow instead: a directory tree of
// the kernel's that holds nothing but empty directories and copies of the
// .gitignore files. Git reads the copies when it is first asked about a path in
// their directory, so one process serves a walk that goes from the root down.
type rules struct {
	git    git.Repo
	shadow *os.Root // by descriptor: an absolute path into it could exceed PATH_MAX
	limit  time.Duration
	left   time.Duration // of limit
	any    bool          // a .gitignore has been copied

	cmd    *exec.Cmd // nil until the first question
	stderr *git.Tail
	ctx    context.Context // of the process
	cancel context.CancelCauseFunc
	in     *bufio.Writer
	inPipe io.Closer
	out    *bufio.Reader
}

var errRulesTime = errors.New("applying the rules takes too long")

func newRules(g git.Repo, limit time.Duration) (*rules, error) {
	dir, err := os.MkdirTemp(g.Dir, "shadow-*")
	if err != nil {
		return nil, err
	}
	shadow, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	g.Held = nil // it only reads, and may take long to notice that we are gone
	return &rules{git: g, shadow: shadow, limit: limit, left: limit}, nil
}

// add copies the .gitignore of a directory, "" for the root, else ending in "/".
// It is called before ignored is, for that directory.
func (r *rules) add(untrustedDir string, data []byte) error {
	r.any = true
	if err := r.mkdir(untrustedDir); err != nil {
		return err
	}
	return r.shadow.WriteFile(untrustedDir+".gitignore", data, 0o600)
}

func (r *rules) mkdir(untrustedDir string) error {
	if untrustedDir == "" {
		return nil
	}
	return r.shadow.MkdirAll(strings.TrimSuffix(untrustedDir, "/"), 0o700)
}

// ignored says for each entry of a directory whether rules leave it out. It is
// called once for each directory, for one before those below it.
func (r *rules) ignored(ctx context.Context, untrustedDir string, entries []entry) ([]bool, error) {
	out := make([]bool, len(entries))
	if !r.any {
		return out, nil
	}
	// Rules like "build/" hold for directories only, and git looks at the shadow
	// to see what is one. (A path with a slash at its end would do as well, but
	// makes git read, and remember, that directory's rules before they are there.)
	for _, e := range entries {
		if e.stat.Mode.IsDir() {
			if err := r.mkdir(untrustedDir + e.untrustedName); err != nil {
				return nil, err
			}
		}
	}
	if r.cmd == nil {
		if err := r.start(ctx); err != nil {
			return nil, err
		}
	}
	begin := time.Now()
	timer := time.AfterFunc(r.left, func() { r.cancel(errRulesTime) })
	err := r.ask(untrustedDir, entries, out)
	timer.Stop()
	r.left -= time.Since(begin)
	if err == nil {
		return out, nil
	}
	if errors.Is(context.Cause(r.ctx), errRulesTime) {
		return nil, &LimitError{
			Cause: fmt.Sprintf("applying the .gitignore files takes longer than %v", r.limit),
			Cure:  cureRules,
		}
	}
	r.cancel(err)
	return nil, r.stderr.Fail(ctx, "check-ignore", errors.Join(err, r.cmd.Wait()))
}

func (r *rules) start(ctx context.Context) error {
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.cmd, r.stderr = r.git.Command(r.ctx, "--work-tree=.", "check-ignore", "--no-index", "-z", "--stdin", "-v", "-n")
	r.cmd.Dir = r.shadow.Name()
	// Should this process be killed while git is busy with a pattern that takes
	// years, nobody is left to end it but the system. A limit that cannot be set
	// means that a lower one holds already.
	seconds := strconv.Itoa(int(r.limit/time.Second) + 2)
	r.cmd.Path = "/bin/sh"
	r.cmd.Args = append([]string{"sh", "-c", `ulimit -t "$0" 2>/dev/null; exec "$@"`, seconds, r.git.Program}, r.cmd.Args[1:]...)
	in, err := r.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	r.inPipe, r.in, r.out = in, bufio.NewWriterSize(in, 64<<10), bufio.NewReaderSize(out, 64<<10)
	return r.cmd.Start()
}

// ask writes all questions while it reads the answers: either alone would fill
// a pipe and wait for ever.
func (r *rules) ask(untrustedDir string, entries []entry, out []bool) error {
	written := make(chan error, 1)
	go func() {
		for _, e := range entries {
			// "./" keeps a name that begins with ":" from being read as magic.
			r.in.WriteString("./" + untrustedDir + e.untrustedName + "\x00")
		}
		written <- r.in.Flush()
	}()
	var err error
	for i, e := range entries {
		if out[i], err = r.answer("./" + untrustedDir + e.untrustedName); err != nil {
			r.cancel(err) // or the writer would wait for ever
			break
		}
	}
	return errors.Join(err, <-written)
}

// answer reads source, line, pattern and path of one answer. The source is empty
// where no pattern matched; a pattern that begins with "!" lets the path in.
func (r *rules) answer(untrustedPath string) (bool, error) {
	var field [4]string
	for i := range field {
		s, err := r.out.ReadString(0)
		if err != nil {
			return false, err
		}
		field[i] = s[:len(s)-1]
	}
	if field[3] != untrustedPath {
		return false, fmt.Errorf("asked about %q, answered about %q", untrustedPath, field[3])
	}
	return field[0] != "" && !strings.HasPrefix(field[2], "!"), nil
}

// close ends the process and removes the shadow.
func (r *rules) close() error {
	if r.cmd != nil && r.cmd.Process != nil && r.cmd.ProcessState == nil {
		r.inPipe.Close()
		r.cmd.Wait() // its exit status says whether the last path was ignored
		r.cancel(nil)
	}
	return errors.Join(r.shadow.Close(), os.RemoveAll(r.shadow.Name()))
}
