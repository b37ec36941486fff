package manual_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/internal/manual"
	"github.com/outerloop-go/outerloop/internal/tick"
	"github.com/outerloop-go/outerloop/internal/verbs"
)

func pages() []*manual.Page { return slices.Concat(tick.Pages(), verbs.Pages()) }

// share writes all files into a new directory.
func share(t *testing.T) string {
	dir := t.TempDir()
	if err := manual.Write(dir, "v0", pages()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Every program that is built has a page, and none is described that is not built.
func TestPrograms(t *testing.T) {
	dirs, err := filepath.Glob("../../cmd/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("listing the programs: %v, %d found", err, len(dirs))
	}
	var built, described []string
	for _, dir := range dirs {
		built = append(built, filepath.Base(dir))
	}
	for _, p := range pages() {
		if !strings.Contains(p.Name, " ") {
			described = append(described, p.Name)
		}
		if p.Does == "" || p.Details == "" || len(p.Flags) == 0 {
			t.Errorf("%s says too little of itself: %+v", p.Name, p)
		}
	}
	slices.Sort(described)
	if !slices.Equal(built, described) {
		t.Errorf("the programs are %q, those with a page %q", built, described)
	}
}

// The flags are those that the programs really print, in all four forms.
func TestFlags(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+"/", "../../cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, out)
	}
	dir := share(t)
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	for _, p := range pages() {
		words := strings.Fields(p.Name)
		help, err := exec.Command(filepath.Join(bin, words[0]), append(words[1:], "--help")...).Output()
		if err != nil {
			t.Errorf("%s --help: %v", p.Name, err)
		}
		man := read("man/man1/" + p.File())
		for line := range strings.Lines(string(help)) {
			flag, ok := strings.CutPrefix(strings.TrimSpace(line), "--")
			if !ok || flag == "" {
				continue
			}
			flag = strings.Fields(flag)[0]
			for where, text := range map[string]string{
				`\fB` + `\-\-` + strings.ReplaceAll(flag, "-", `\-`) + `\fR`: man,
				"--" + flag:         read("bash-completion/completions/" + words[0]),
				"*--" + flag + "[":  read("zsh/site-functions/_" + words[0]),
				" -l " + flag + " ": read("fish/vendor_completions.d/" + words[0] + ".fish"),
			} {
				if !strings.Contains(text, where) {
					t.Errorf("%s has --%s, and %q is not in:\n%s", p.Name, flag, where, text)
				}
			}
		}
	}
}

// A page has the form that man(1) wants. The date alone is missing, on purpose.
func TestRoff(t *testing.T) {
	mandoc := look(t, "mandoc")
	files, _ := filepath.Glob(filepath.Join(share(t), "man/man1/*"))
	out, _ := exec.Command(mandoc, append([]string{"-Tlint", "-Wwarning"}, files...)...).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "missing date") {
			t.Error(strings.TrimSpace(line))
		}
	}
	for _, file := range files {
		out, err := exec.Command(mandoc, "-Tascii", file).Output()
		shown := strings.Join(strings.Fields(overstruck(string(out))), " ")
		if err != nil || !strings.Contains(shown, "NAME "+strings.TrimSuffix(filepath.Base(file), ".1")+" - ") {
			t.Errorf("%s: %v\n%s", file, err, shown)
		}
	}
}

// What roff would take for a request or an escape is shown as it is.
func TestRoffSigns(t *testing.T) {
	mandoc := look(t, "mandoc")
	p := &manual.Page{
		Name: "x", Does: `a \fBb`, Synopsis: []string{"x"},
		Details:  ".outerloop is a directory\n'quoted' \\n and `x` ~/y ^z\n\n  .verbatim 'a'\n  \\e",
		Examples: []string{".x -- 'a  b'"},
	}
	cmd := exec.Command(mandoc, "-Tascii")
	cmd.Stdin = strings.NewReader(string(p.Roff("v0", nil)))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	shown := overstruck(string(out))
	for _, want := range []string{`a \fBb`, `.outerloop is a directory 'quoted' \n and ` + "`x` ~/y ^z", ".verbatim 'a'\n", `\e`, ".x -- 'a  b'\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in:\n%s", want, shown)
		}
	}
}

// overstruck takes the backspaces out with which bold and underlined are written.
func overstruck(text string) string {
	var out []rune
	for _, r := range text {
		if r == '\b' {
			out = out[:len(out)-1]
			continue
		}
		out = append(out, r)
	}
	return string(out)
}

// look is the path of a program that the test calls.
func look(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed", program)
	}
	return path
}
