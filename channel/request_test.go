package channel_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/outerloop-go/outerloop/channel"
)

// What a peer may leave out or write in another way.
func TestParsePeers(t *testing.T) {
	base := channel.Launch{Name: "a", Command: "b", Minutes: 30, Array: 1, Artifacts: []string{}}
	rows := map[string]channel.Sleep{
		`{"type":"sleep"}`: {Launches: []channel.Launch{}},
		" {\n\"type\" : \"sl\\u0065ep\" , \"launches\":[ {\"name\":\"a\",\"command\":\"b\"} ] }\r\n\t ": {Launches: []channel.Launch{base}},
		`{"launches":[{"command":"b","name":"a","minutes":99999999999999999999,"why":"","concurrency":0}],"type":"sleep"}`: {
			Launches: []channel.Launch{{Name: "a", Command: "b", Minutes: 240, Array: 1, Artifacts: []string{}}},
		},
		`{"type":"sleep","launches":[],"note":"\ud83d\ude00 \\ud800 \u0000","submit":false}`: {
			Launches: []channel.Launch{}, Note: "😀 \\ud800 \x00",
		},
		`{"type":"sleep","submit":true,"report":" r\n","eval_minutes":9999}`: {
			Launches: []channel.Launch{}, Submit: true, Report: "r", EvalMinutes: 1440,
		},
	}
	for raw, want := range rows {
		got, err := channel.ParseRequest([]byte(raw))
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		} else if diff := cmp.Diff(want, *got.Sleep); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
}

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// nasty is what ParseRequest must refuse, by the field it names.
func nasty() map[string]string {
	in := func(launch string) string {
		return `{"type":"sleep","launches":[{"name":"a","command":"b"` + launch + `}]}`
	}
	return map[string]string{
		"":                                   "",
		"null":                               "",
		"[]":                                 "",
		`"sleep"`:                            "",
		"{":                                  "",
		`{"type"`:                            "",
		`{"type":"sleep"`:                    "",
		`{"type":"sleep",}`:                  "",
		`{"type":"sleep"}}`:                  "",
		`{"type":"sleep"}]`:                  "",
		`{"type":"sleep"}] {"type":"sleep"}`: "",
		`{"type":"sleep"} x`:                 "",
		`{"type":"sleep"}{"type":"sleep"}`:   "",
		`{"type":"sleep"}` + "\x00":          "",
		"\ufeff" + `{"type":"sleep"}`:        "",
		`{"type" "sleep"}`:                   "",
		`{'type':'sleep'}`:                   "",
		`{"type":"sleep","note":NaN}`:        "",
		`{"type":"sleep","note":"` + "\xff" + `"}`:        "",
		`{"type":"sleep","note":"` + "\x01" + `"}`:        "",
		`{"type":"sleep","Note":"x"}`:                     "",
		`{"type":"sleep","extra":1}`:                      "",
		`{"type":"sleep","type":"sleep"}`:                 "",
		`{"type":"sleep","note":"a","no\u0074e":"b"}`:     "",
		`{"type":"sleep","x":` + nested(20_000) + `}`:     "",
		`{"type":"sleep","launches":` + nested(500) + `}`: "launches[0]",
		nested(100_000):                                     "",
		strings.Repeat(`{"a":`, 100_000):                    "",
		`{}`:                                                "type",
		`{"type":null}`:                                     "type",
		`{"type":"Sleep"}`:                                  "type",
		`{"type":"sleep","note":null}`:                      "note",
		`{"type":"sleep","note":"\ud800"}`:                  "note",
		`{"type":"sleep","note":"\udc00\ud800"}`:            "note",
		`{"type":"sleep","note":"\ud83d\u0041"}`:            "note",
		`{"type":"sleep","note":"\\\ud83d"}`:                "note",
		`{"type":"sleep","submit":1}`:                       "submit",
		`{"type":"sleep","submit":null}`:                    "submit",
		`{"type":"sleep","submit":"true"}`:                  "submit",
		`{"type":"sleep","report":""}`:                      "report",
		`{"type":"sleep","eval_minutes":5}`:                 "submit",
		`{"type":"sleep","eval_minutes":null}`:              "eval_minutes",
		`{"type":"sleep","launches":null}`:                  "launches",
		`{"type":"sleep","launches":{}}`:                    "launches",
		`{"type":"sleep","launches":[null]}`:                "launches[0]",
		`{"type":"sleep","launches":[{"name":"a"}]}`:        "launches[0].command",
		in(`,"minutes":true`):                               "launches[0].minutes",
		in(`,"minutes":"30"`):                               "launches[0].minutes",
		in(`,"minutes":null`):                               "launches[0].minutes",
		in(`,"minutes":1.0`):                                "launches[0].minutes",
		in(`,"minutes":1e2`):                                "launches[0].minutes",
		in(`,"minutes":-99999999999999999999`):              "launches[0].minutes",
		in(`,"array":false`):                                "launches[0].array",
		in(`,"concurrency":-1`):                             "launches[0].concurrency",
		in(`,"why":7`):                                      "launches[0].why",
		in(`,"artifacts":"a"`):                              "launches[0].artifacts",
		in(`,"artifacts":[1]`):                              "launches[0].artifacts",
		in(`,"artifacts":["\udfff"]`):                       "launches[0].artifacts",
		in(`,"gpus":1`):                                     "launches[0]",
		in(`,"name":"b"`):                                   "launches[0]",
		`{"type":"verdict"}`:                                "findings",
		`{"type":"verdict","findings":[]}`:                  "notes",
		`{"type":"verdict","findings":[],"notes":"","x":1}`: "",
	}
}

func TestParseNasty(t *testing.T) {
	for raw, field := range nasty() {
		request, err := channel.ParseRequest([]byte(raw))
		if request != (channel.Request{}) {
			t.Errorf("%.60q comes back as a request", raw)
		}
		if err == nil {
			t.Errorf("%.60q is accepted", raw)
			continue
		}
		r := refused(t, err)
		if r.Field != field {
			t.Errorf("%.60q is refused as %q (%v), want %q", raw, r.Field, err, field)
		}
		if len(r.Cause) > 500 || strings.ContainsAny(r.Cause, "\n\x00\x1b") {
			t.Errorf("%.60q: a cause to print: %.600q", raw, r.Cause)
		}
	}
}

// Refused from the first byte over, and the last byte within is accepted.
func TestRequestBytes(t *testing.T) {
	pad := func(text string, size int) []byte {
		return []byte(text + strings.Repeat(" ", size-len(text)))
	}
	for text, most := range map[string]int{
		`{"type":"sleep"}`: channel.MaxSleepBytes,
		`{"type":"verdict","findings":[],"notes":"ok"}`: channel.MaxVerdictBytes,
	} {
		k, _, dir := open(t)
		for size, ok := range map[int]bool{most: true, most + 1: false} {
			write(t, filepath.Join(dir, channel.CommittedFile), string(pad(text, size)))
			_, err := channel.ParseRequest(pad(text, size))
			if ok != (err == nil) {
				t.Errorf("%s of %d bytes: parsed with %v", text, size, err)
			}
			raw, err := k.ReadCommitted(int64(most))
			if ok != (err == nil) || ok && len(raw) != size {
				t.Errorf("%s of %d bytes: read %d with %v", text, size, len(raw), err)
			}
			if !ok {
				refused(t, err)
			}
		}
	}
}

func TestCommitOnce(t *testing.T) {
	k, s, dir := open(t)
	stage := func() error {
		return s.Stage(t.Context(), func(staged *channel.Staged) error {
			staged.Launches = append(staged.Launches, launch("a"))
			return nil
		})
	}
	if err := stage(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CommitSleep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := stage(); !errors.Is(err, channel.ErrCommitted) {
		t.Errorf("staging after a commit: %v", err)
	}
	if _, err := s.CommitSleep(t.Context()); !errors.Is(err, channel.ErrCommitted) {
		t.Errorf("a second commit: %v", err)
	}
	// A sleep that was killed after its commit leaves the staged launches.
	write(t, filepath.Join(dir, channel.StagedFile), `{"launches":[{"name":"a","command":"b"}]}`)
	if err := k.DropCommitted(); err != nil {
		t.Fatal(err)
	}
	if staged, err := s.Staged(); err != nil || !staged.Empty() {
		t.Errorf("the next leg would launch %+v once more (%v)", staged, err)
	}
	if _, err := k.ReadCommitted(channel.MaxSleepBytes); !errors.Is(err, channel.ErrNothingCommitted) {
		t.Errorf("after the drop: %v", err)
	}
	if err := k.DropCommitted(); err != nil {
		t.Errorf("nothing to drop: %v", err)
	}
}

// An error that is not about a committed request must not say that there is one.
func TestStageInClosedSession(t *testing.T) {
	_, s, _ := open(t)
	s.Close()
	err := s.Stage(t.Context(), func(*channel.Staged) error { return nil })
	if errors.Is(err, channel.ErrCommitted) || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestCancel(t *testing.T) {
	_, s, dir := open(t)
	check := func(wantStaged, wantCommitted bool) {
		t.Helper()
		staged, committed, err := s.Cancel(t.Context())
		if err != nil || staged != wantStaged || committed != wantCommitted {
			t.Errorf("cancel: %v %v %v", staged, committed, err)
		}
	}
	check(false, false)
	write(t, filepath.Join(dir, channel.StagedFile), "{broken")
	if _, err := s.Staged(); refused(t, err).Field != channel.StagedFile {
		t.Errorf("a broken staging file: %v", err)
	}
	check(true, false)
	if _, err := s.CommitSleep(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(false, true)
	check(false, false)
}

// Two verbs at one time: each stages one launch, none is lost.
func TestStageTogether(t *testing.T) {
	_, _, dir := open(t)
	const verbs = 8
	errs := make(chan error)
	for i := range verbs {
		s := session(t, filepath.Dir(dir))
		go func() {
			errs <- s.Stage(t.Context(), func(staged *channel.Staged) error {
				staged.Launches = append(staged.Launches, launch(fmt.Sprint("n", i)))
				return nil
			})
		}()
	}
	for range verbs {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	staged, err := session(t, filepath.Dir(dir)).Staged()
	if err != nil || len(staged.Launches) != verbs {
		t.Errorf("%d of %d staged (%v)", len(staged.Launches), verbs, err)
	}
}

func TestFindSession(t *testing.T) {
	_, _, dir := open(t)
	deep := filepath.Join(filepath.Dir(dir), "a", "b")
	if err := os.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	s, err := channel.FindSession("", deep)
	if err != nil || s.Workspace() != filepath.Dir(dir) {
		t.Fatalf("found %v, %v", s, err)
	}
	s.Close()
	if _, err := channel.FindSession(deep, filepath.Dir(dir)); !errors.Is(err, channel.ErrNoChannel) {
		t.Errorf("a workspace without a channel: %v", err)
	}
	if _, err := os.Stat(filepath.Join(deep, channel.DirName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a verb made a channel: %v", err)
	}
	if err := os.Rename(dir, filepath.Join(deep, channel.FormerDirName)); err != nil {
		t.Fatal(err)
	}
	s, err = channel.FindSession(deep, "")
	if err != nil {
		t.Fatalf("the former name: %v", err)
	}
	s.Close()
}

// A verb whose answer would be the committed request, say, is no verb.
func TestCheckVerb(t *testing.T) {
	for _, ok := range []string{"queue", "a", "x-1", strings.Repeat("v", 32)} {
		if err := channel.CheckVerb(ok); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{
		"", "1a", "-a", "Queue", "a/b", "..", "a.b", "a\x00", "ä", strings.Repeat("v", 33),
		"syscall", "request", "budget", "siblings",
	} {
		if channel.CheckVerb(bad) == nil {
			t.Errorf("%q names a verb", bad)
		}
	}
}
