package seal

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	many := func(dir string, n, size int) tree {
		tr := tree{}
		for i := range n {
			tr[fmt.Sprintf("%s/f%d", dir, i)] = strings.Repeat("x", size)
		}
		return tr
	}
	for name, c := range map[string]struct {
		content tree
		limits  Limits
		want    string
	}{
		"files": {
			many("data/raw", 11, 0),
			Limits{Files: 10},
			"the workspace holds 11 files, more than the 10 that a seal may hold; most of it in data/raw/ (11 files). " + cureIgnore,
		},
		"bytes": {
			many("out put", 11, 1000),
			Limits{TotalBytes: 10000},
			`the workspace holds 10.74 KiB, more than the 9.766 KiB that a seal may hold; most of it in "out put/" (10.74 KiB). ` + cureIgnore,
		},
		"one file": {
			tree{"a/new\nline": "12345"},
			Limits{FileBytes: 4},
			`the file "a/new\nline" has 5 bytes, more than the 4 bytes that a file in a seal may have. ` + cureIgnore,
		},
		"entries": {
			many("d", 11, 0),
			Limits{Entries: 10},
			"the workspace has more than 10 names to look at; most of it in d/ (9 names). Ignore the directory itself in .gitignore, not the files in it, or delete it.",
		},
		"depth": {
			tree{"a/b/c/f": ""},
			Limits{Depth: 2},
			"the directory a/b/c/ lies deeper than the 2 levels that a seal may have. " + cureFlatten,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.content, c.limits)
			_, err := r.try()
			limit, ok := errors.AsType[*LimitError](err)
			if !ok {
				t.Fatal(err)
			}
			if limit.Error() != c.want {
				t.Errorf("got  %s\nwant %s", limit, c.want)
			}
			if out := r.operator("for-each-ref"); out != "" {
				t.Errorf("sealed all the same: %s", out)
			}
		})
	}
}

func TestAtTheLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"a/b/f": "1234", "g": "56"}, Limits{Files: 2, Entries: 4, FileBytes: 4, TotalBytes: 6, Depth: 2})
	r.seal()
}

// TestPathTooLong builds a path by steps, since no call takes it whole.
func TestPathTooLong(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, Limits{})
	root := must(os.OpenRoot(r.workspace))(t)
	defer root.Close()
	part := strings.Repeat("d", 250)
	fits := strings.Repeat(part+"/", 15)
	check(t, root.MkdirAll(strings.TrimSuffix(fits, "/"), 0o755))
	check(t, root.WriteFile(fits+".gitignore", []byte("x*\n"), 0o644))
	check(t, root.WriteFile(fits+"x1", nil, 0o644))
	check(t, root.WriteFile(fits+"y1", nil, 0o644))
	if s := r.seal(); s.Files != 2 || s.Ignored != 1 {
		t.Errorf("%+v", s)
	}
	check(t, root.WriteFile(fits+part, nil, 0o644))
	_, err := r.try()
	if _, ok := errors.AsType[*LimitError](err); !ok {
		t.Errorf("%v", err)
	}
}

func TestBiggest(t *testing.T) {
	t.Parallel()
	w := weights{}
	for path, n := range map[string]int64{
		"data/raw/a": 500, "data/raw/b": 400, "data/README": 1, "model.bin": 300, "out/x": 60, "out/y": 60, "src/main.go": 2,
	} {
		w.add(path, n)
	}
	got := fmt.Sprint(w.biggest(filesText))
	if want := "[{data/raw/ 900 files} {model.bin 300 files}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a/b.txt":       "a/b.txt",
		"a b":           `"a b"`,
		"\x1b[2J":       `"\x1b[2J"`,
		"ä":             "ä",
		"\u202eright":   `"\u202eright"`,
		"\xff":          `"\xff"`,
		"x\nsyscall: y": `"x\nsyscall: y"`,
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %s, want %s", in, got, want)
		}
	}
	if got := printable(strings.Repeat("n", 3000)); len(got) > 300 {
		t.Errorf("%d bytes", len(got))
	}
}
