package channel_test

import (
	"bytes"
	"errors"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/outerloop-go/outerloop/channel"
)

// Accepted input re-encodes, and that reads back as the same and encodes to the
// same bytes; refused input gives nothing but a refusal.
func FuzzParseRequest(f *testing.F) {
	for raw := range nasty() {
		if len(raw) < 4096 {
			f.Add([]byte(raw))
		}
	}
	for _, row := range bounds() {
		asked := ordinary()
		row.change(&asked)
		if raw := peerEncode(f, asked); len(raw) < 4096 {
			f.Add(raw)
		}
	}
	raw, err := channel.Request{Verdict: &channel.Verdict{Findings: []channel.Finding{finding()}}}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		request, err := channel.ParseRequest(raw)
		if err != nil {
			refused(t, err)
			if request != (channel.Request{}) {
				t.Fatal("a refused request comes back")
			}
			return
		}
		if (request.Sleep == nil) == (request.Verdict == nil) {
			t.Fatal("not exactly one kind of request")
		}
		encoded, err := request.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := channel.ParseRequest(encoded)
		if err != nil {
			t.Fatalf("%s is refused: %v", encoded, err)
		}
		if diff := cmp.Diff(request, back); diff != "" {
			t.Fatal(diff)
		}
		if again, err := back.Encode(); err != nil || !bytes.Equal(encoded, again) {
			t.Fatalf("two encodings: %v\n%s\n%s", err, encoded, again)
		}
	})
}

// A path that is let through stays below wherever it is joined to.
func FuzzCheckArtifact(f *testing.F) {
	for _, p := range []string{
		"a", "a/b", "...", "..", "../a", "a/..", "/a", "~", `a\b`, "a//b", "a/", "a\x00", "\xff", "", ".", "a/./b", strings.Repeat("é", 500),
	} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if err := channel.CheckArtifact(p); err != nil {
			refused(t, err)
			return
		}
		if path.Clean(p) != p || !filepath.IsLocal(p) || !utf8.ValidString(p) || strings.ContainsAny(p, "\\\x00") {
			t.Fatalf("%q is let through", p)
		}
		for part := range strings.SplitSeq(p, "/") {
			if part == ".." || part == "." || part == "" {
				t.Fatalf("%q is let through", p)
			}
		}
		r := channel.Result{Launch: "a", Task: 0, Artifact: p}
		if want := "results/a/0/" + p; r.Path() != want {
			t.Fatalf("delivered to %q, want %q", r.Path(), want)
		}
	})
}

// The oracle is a small reader of the two kinds of words that Quote writes;
// TestQuoteInShell asks real shells.
func FuzzQuote(f *testing.F) {
	for _, w := range words() {
		f.Add("a", w)
		f.Add(w, "it's")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		quoted := channel.Quote([]string{a, b})
		got, ok := unquote(quoted)
		if !ok || !cmp.Equal(got, []string{a, b}) {
			t.Fatalf("%q, %q: %s is read as %q", a, b, quoted, got)
		}
	})
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%="

func unquote(s string) (words []string, ok bool) {
	var word strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ':
			words = append(words, word.String())
			word.Reset()
		case c == '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			word.WriteString(s[i+1 : i+1+end])
			i += 1 + end
		case c == '\\' && i+1 < len(s) && s[i+1] == '\'':
			word.WriteByte('\'')
			i++
		case strings.IndexByte(plain, c) >= 0:
			word.WriteByte(c)
		default:
			return nil, false
		}
	}
	return append(words, word.String()), true
}

// Whatever stands in the staging file, a verb either reads it or says how to
// get rid of it, and what it saves it reads back.
func FuzzStaged(f *testing.F) {
	for _, raw := range []string{
		"", "{}", "null", "[]", `{"launches":null}`, `{"launches":[{"name":"a"}],"eval_minutes":5,"submit":true}`,
		`{"launches":[{"minutes":1e99}]}`, `{"findings":[{"line":null}]}`, `{"note":"\ud800"}`, "\xff", nested(200),
	} {
		f.Add(raw)
	}
	_, s, dir := open(f)
	f.Fuzz(func(t *testing.T, raw string) {
		write(t, filepath.Join(dir, channel.StagedFile), raw)
		staged, err := s.Staged()
		if err != nil {
			refused(t, err)
			if !staged.Empty() {
				t.Fatalf("%+v comes back with %v", staged, err)
			}
			return
		}
		for _, l := range staged.Launches {
			if l.Minutes == 0 || l.Array == 0 {
				t.Fatalf("a launch without its defaults: %+v", l)
			}
		}
		if err := s.Stage(t.Context(), func(*channel.Staged) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Staged(); err != nil {
			t.Fatalf("what was saved is refused: %v", err)
		}
		stop := errors.New("stop")
		if err := s.Stage(t.Context(), func(*channel.Staged) error { return stop }); !errors.Is(err, stop) {
			t.Fatal(err)
		}
	})
}
