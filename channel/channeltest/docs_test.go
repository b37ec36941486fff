package channeltest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

func protocol(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// bounds are the exported numbers of channel/limits.go, as the compiler sees them.
func bounds(t *testing.T) map[string]string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "../limits.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Types are only missing for the durations, which are not on the wire.
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Error: func(error) {}}
	conf.Check("channel", fset, []*ast.File{file}, info)
	values := map[string]string{}
	for _, o := range info.Defs {
		c, ok := o.(*types.Const)
		if ok && c.Exported() && types.Identical(c.Type(), types.Typ[types.UntypedInt]) {
			values[c.Name()] = c.Val().ExactString()
		}
	}
	return values
}

// TestDocsBounds: every bound stands in the documentation's table, with its
// value, and the table names no other.
func TestDocsBounds(t *testing.T) {
	values := bounds(t)
	if len(values) < 20 {
		t.Fatalf("only %d bounds were found: %v", len(values), values)
	}
	row := regexp.MustCompile("(?m)^\\|.*\\| ([0-9,]+)[a-z ]* \\|.*\\| `(\\w+)` \\|$")
	seen := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(protocol(t), -1) {
		seen[m[2]] = strings.ReplaceAll(m[1], ",", "")
	}
	for name, value := range values {
		if seen[name] != value {
			t.Errorf("docs/protocol.md says %q of %s, which is %s", seen[name], name, value)
		}
	}
	for name := range seen {
		if values[name] == "" {
			t.Errorf("docs/protocol.md names %s, which channel/limits.go has not", name)
		}
	}
}

// TestDocsRules: the suite checks every rule in the documentation and no other.
func TestDocsRules(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // the suite is the same there but for the hostile rules
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \|`).FindAllStringSubmatch(protocol(t), -1) {
		if documented[m[1]] {
			t.Errorf("docs/protocol.md has %s twice", m[1])
		}
		documented[m[1]] = true
	}
	for _, r := range rules() {
		if !documented[r.id] {
			t.Errorf("%s (%s) is not in docs/protocol.md", r.id, r.name)
		}
		delete(documented, r.id)
	}
	for id := range documented {
		t.Errorf("%s of docs/protocol.md is not checked", id)
	}
}

// TestDocsExamples: requests that are shown are accepted, and come back as shown.
func TestDocsExamples(t *testing.T) {
	requests := 0
	for _, m := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(protocol(t), -1) {
		var shown map[string]any
		if err := json.Unmarshal([]byte(m[1]), &shown); err != nil {
			t.Errorf("%v:\n%s", err, m[1])
			continue
		}
		if shown["type"] == nil {
			continue
		}
		requests++
		r, err := channel.ParseRequest([]byte(m[1]))
		if err != nil {
			t.Errorf("%v:\n%s", err, m[1])
			continue
		}
		raw, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		var carried map[string]any
		if err := json.Unmarshal(raw, &carried); err != nil || fmt.Sprint(carried) != fmt.Sprint(shown) {
			t.Errorf("shown as\n%v\ncarried out as\n%v", shown, carried)
		}
	}
	if requests < 3 {
		t.Errorf("only %d requests are shown", requests)
	}
}

// TestDocsStamps computes the table of stamps.
func TestDocsStamps(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| ([0-9]+) \\| ([0-9]+) \\| `([^`]+)` \\|$").FindAllStringSubmatch(protocol(t), -1)
	for _, m := range rows {
		sec, err1 := strconv.ParseInt(m[1], 10, 64)
		nsec, err2 := strconv.ParseInt(m[2], 10, 64)
		if err1 != nil || err2 != nil {
			t.Fatal(m[0])
		}
		if got := channel.StampOf(time.Unix(sec, nsec)).String(); got != m[3] {
			t.Errorf("%s: it is %s", m[0], got)
		}
	}
	if len(rows) < 6 {
		t.Errorf("only %d rows", len(rows))
	}
}

// TestDocsNames: every file that package channel names is described.
func TestDocsNames(t *testing.T) {
	text := protocol(t)
	for _, name := range []string{
		channel.DirName, channel.FormerDirName, channel.StagedFile, channel.CommittedFile, channel.BudgetFile,
		channel.SiblingsFile, channel.ReportsDir, channel.ResultsDir, channel.PromptFile, channel.TaskFile,
	} {
		if !strings.Contains(text, name) {
			t.Errorf("docs/protocol.md says nothing of %s", name)
		}
	}
}
