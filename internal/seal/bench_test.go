package seal

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// BenchmarkSeal seals and brings back 5,000 files of 10 KB in 500 directories,
// beside what git and cp take for the same tree.
func BenchmarkSeal(b *testing.B) {
	content := tree{".gitignore": "*.log\nbuild/\nnode_modules/\n/out\n"}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		text := make([]byte, 0, 10_000)
		for len(text) < 10_000 {
			text = fmt.Appendf(text, "word%d ", random.IntN(10_000))
		}
		content[fmt.Sprintf("pkg%d/sub%d/file%d.go", i%50, i%500, i)] = string(text)
	}
	r := newRig(b, content, Limits{})
	fresh := func(i int) { // a store without a seal
		r.store = must(Open(b.Context(), filepath.Join(r.base, fmt.Sprintf("%s-%d.git", b.Name(), i)), Limits{}, slog.New(slog.DiscardHandler)))(b)
	}
	check(b, os.Mkdir(filepath.Join(r.base, "BenchmarkSeal"), 0o755))
	scratch := filepath.Join(r.base, "scratch")
	run := func(b *testing.B, name string, args ...string) {
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "GIT_DIR="+scratch+"/.git", "GIT_WORK_TREE="+r.workspace)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	b.Run("first", func(b *testing.B) {
		i := 0
		for b.Loop() {
			fresh(i)
			r.seal()
			i++
		}
	})
	b.Run("git-add", func(b *testing.B) {
		for b.Loop() {
			check(b, os.RemoveAll(scratch))
			check(b, os.Mkdir(scratch, 0o755))
			run(b, "git", "init", "-q")
			run(b, "git", "add", "-A")
		}
	})
	s := r.seal()
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			r.seal()
		}
	})
	b.Run("materialize", func(b *testing.B) {
		for b.Loop() {
			check(b, os.RemoveAll(scratch))
			check(b, os.Mkdir(scratch, 0o755))
			d := must(dirfd.Open(scratch))(b)
			check(b, r.store.Materialize(b.Context(), s.Commit, d))
			d.Close()
		}
	})
	b.Run("cp", func(b *testing.B) {
		for b.Loop() {
			check(b, os.RemoveAll(scratch))
			run(b, "cp", "-r", r.workspace, scratch)
		}
	})
}
