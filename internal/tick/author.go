package tick

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/sandbox"
)

// authorTrouble says why the author's program will hardly be found when a leg starts
// it, "" if nothing speaks for that. It is a warning and no refusal: what is missing
// here may be there by then, or on the node that the leg gets.
func authorTrouble(n engine.NewRun) string {
	name := n.Command[0]
	path := name
	switch {
	case !strings.Contains(name, "/"):
		if path = onPath(name); path == "" {
			cure := "give its full path"
			if n.Sandbox != sandbox.None {
				cure += ", and --read its directory if it is not under /usr"
			}
			return fmt.Sprintf("%s is not on the session's PATH (that of the syscall programs, then %s): %s", name, systemPath(), cure)
		}
	case !filepath.IsAbs(name) && n.Role() == engine.Judge:
		return fmt.Sprintf("%s lies in the workspace, and a judge's has only what it judges: give its full path, and --read its directory if it is not under /usr", name)
	case !filepath.IsAbs(name) && n.Workspace == "":
		return fmt.Sprintf("%s lies in the workspace, and that is new and empty: name one that has it with --workspace", name)
	case !filepath.IsAbs(name):
		path = filepath.Join(n.Workspace, name)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Sprintf("the author's program: %v", err)
	}
	trees := visible(n)
	if n.Sandbox == sandbox.None || under(trees, real) && (!filepath.IsAbs(name) || under(trees, name)) {
		return ""
	}
	cure := "give its path as " + real
	if !under(trees, real) {
		cure += ", and --read " + filepath.Dir(real)
	}
	return fmt.Sprintf("%s is not in the author's sandbox: %s", name, cure)
}

// visible are the trees of programs in an author's sandbox. The operator's stand there
// at their real paths, whatever links they were named by.
func visible(n engine.NewRun) []string {
	trees := []string{"/usr", "/bin", "/sbin", "/lib", "/lib64"}
	for _, tree := range append(slices.Clone(n.Read), n.Workspace) {
		if tree == "" {
			continue
		}
		abs, err := filepath.Abs(tree)
		if err == nil {
			abs, err = filepath.EvalSymlinks(abs)
		}
		if err == nil {
			trees = append(trees, abs)
		}
	}
	return trees
}

func under(trees []string, path string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool {
		return path == tree || strings.HasPrefix(path, tree+"/")
	})
}

// systemPath is the PATH of authors and jobs, without the verbs.
func systemPath() string {
	for _, entry := range sandbox.Environment("", "") {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			return path
		}
	}
	return ""
}

// onPath is where a program lies on that PATH, "" where it does not.
func onPath(name string) string {
	for _, dir := range filepath.SplitList(systemPath()) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}
