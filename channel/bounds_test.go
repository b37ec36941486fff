package channel_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/outerloop-go/outerloop/channel"
)

// bound is one row of the table of bounds in the protocol. The request goes
// through both doors, staged and committed by a verb, and written by a peer and
// read by the kernel, and both must say the same.
type bound struct {
	name   string
	change func(*channel.Sleep)               // of an ordinary request
	field  string                             // that a refusal names; "" where it is accepted
	want   func(channel.Sleep, channel.Sleep) // makes the accepted request of the changed one
}

func ordinary() channel.Sleep {
	return channel.Sleep{Launches: []channel.Launch{launch("base")}, Note: "look at the loss first"}
}

func launch(name string) channel.Launch {
	return channel.Launch{Name: name, Command: "make", Minutes: 10, Artifacts: []string{"out/m.json"}, Array: 1}
}

// first changes the first launch.
func first(change func(*channel.Launch)) func(*channel.Sleep) {
	return func(s *channel.Sleep) { change(&s.Launches[0]) }
}

func submit(report string, minutes int) func(*channel.Sleep) {
	return func(s *channel.Sleep) { s.Submit, s.Report, s.EvalMinutes = true, report, minutes }
}

func names(n int) (list []channel.Launch) {
	for i := range n {
		list = append(list, launch(fmt.Sprint("n", i)))
	}
	return list
}

// wide is a string of n code points of several bytes each.
func wide(n int) string { return strings.Repeat("ü", n-1) + "𝕫" }

func bounds() []bound {
	type L = channel.Launch
	name := func(s string) func(*channel.Sleep) { return first(func(l *L) { l.Name = s }) }
	command := func(s string) func(*channel.Sleep) { return first(func(l *L) { l.Command = s }) }
	minutes := func(n int) func(*channel.Sleep) { return first(func(l *L) { l.Minutes = n }) }
	sweep := func(n, k int) func(*channel.Sleep) { return first(func(l *L) { l.Array, l.Concurrency = n, k }) }
	why := func(s string) func(*channel.Sleep) { return first(func(l *L) { l.Why = s }) }
	artifacts := func(s ...string) func(*channel.Sleep) { return first(func(l *L) { l.Artifacts = s }) }
	note := func(s string) func(*channel.Sleep) { return func(r *channel.Sleep) { r.Note = s } }
	launches := func(n int) func(*channel.Sleep) { return func(r *channel.Sleep) { r.Launches = names(n) } }
	return slices.Concat([]bound{
		{name: "ordinary", change: func(*channel.Sleep) {}},
		{name: "nothing", change: func(s *channel.Sleep) { *s = channel.Sleep{} }},
		{name: "name of one", change: name("7")},
		{name: "name of 32", change: name(strings.Repeat("a", 32))},
		{name: "name of 33", change: name(strings.Repeat("a", 33)), field: "launches[0].name"},
		{name: "empty name", change: name(""), field: "launches[0].name"},
		{name: "name with a dash first", change: name("-a"), field: "launches[0].name"},
		{name: "name with a dash last", change: name("a-")},
		{name: "name in capitals", change: name("A"), field: "launches[0].name"},
		{name: "name with a newline", change: name("a\n"), field: "launches[0].name"},
		{name: "name with a digit of another script", change: name("a٣"), field: "launches[0].name"},
		{name: "name that climbs", change: name(".."), field: "launches[0].name"},
		{name: "name twice", change: func(s *channel.Sleep) { s.Launches = append(s.Launches, launch("base")) }, field: "launches[1].name"},
		{name: "8 launches", change: launches(8)},
		{name: "9 launches", change: launches(9), field: "launches"},
		{name: "300 launches", change: launches(300), field: "launches"},
		{name: "command of 2000", change: command(wide(2000))},
		{name: "command of 2001", change: command(wide(2001)), field: "launches[0].command"},
		{name: "no command", change: command(""), field: "launches[0].command"},
		{name: "blank command", change: command(" \t\n"), field: "launches[0].command"},
		{name: "command with NUL", change: command("a\x00b"), field: "launches[0].command"},
		{name: "minutes -1", change: minutes(-1), field: "launches[0].minutes"},
		{name: "minutes 1", change: minutes(1)},
		{name: "minutes 240", change: minutes(240)},
		{name: "minutes 241", change: minutes(241), want: func(_, s channel.Sleep) { s.Launches[0].Minutes = 240 }},
		{name: "array -1", change: sweep(-1, 0), field: "launches[0].array"},
		{name: "array 16", change: sweep(16, 0)},
		{name: "array 17", change: sweep(17, 0), want: func(_, s channel.Sleep) { s.Launches[0].Array = 16 }},
		{name: "concurrency -1", change: sweep(4, -1), field: "launches[0].concurrency"},
		{name: "concurrency of all", change: sweep(4, 4)},
		{name: "concurrency above", change: sweep(4, 5), want: func(_, s channel.Sleep) { s.Launches[0].Concurrency = 4 }},
		{name: "concurrency above a clamped array", change: sweep(99, 99), want: func(_, s channel.Sleep) {
			s.Launches[0].Array, s.Launches[0].Concurrency = 16, 16
		}},
		{name: "concurrency without a sweep", change: sweep(1, 3), want: func(_, s channel.Sleep) { s.Launches[0].Concurrency = 0 }},
		{name: "why of 200", change: why(wide(200))},
		{name: "why of 201", change: why(wide(201)), field: "launches[0].why"},
		{name: "why of 200 once folded", change: why("  a \n" + strings.Repeat("\t", 200) + wide(198) + "\r\n"), want: func(_, s channel.Sleep) {
			s.Launches[0].Why = "a " + wide(198)
		}},
		{name: "no artifacts", change: artifacts(), want: func(_, s channel.Sleep) { s.Launches[0].Artifacts = []string{} }},
		{name: "8 artifacts", change: artifacts("1", "2", "3", "4", "5", "6", "7", "8")},
		{name: "9 artifacts", change: artifacts("1", "2", "3", "4", "5", "6", "7", "8", "9"), field: "launches[0].artifacts"},
		{name: "note of 2000", change: note(wide(2000))},
		{name: "note of 2001", change: note(wide(2001)), field: "note"},
		{name: "report of 8000", change: submit(wide(8000), 0)},
		{name: "report of 8001", change: submit(wide(8001), 0), field: "report"},
		{name: "blank report", change: submit(" \n", 0), field: "report"},
		{name: "no report", change: submit("", 0), field: "report"},
		{name: "report in white space", change: submit("\n# Gain \n", 0), want: nil},
		{name: "gate of -1", change: submit("r", -1), field: "eval_minutes"},
		{name: "gate of 1", change: submit("r", 1)},
		{name: "gate of 1440", change: submit("r", 1440)},
		{name: "gate of 1441", change: submit("r", 1441)},
		{name: "too many bytes", change: func(s *channel.Sleep) {
			s.Launches = names(8)
			for i := range s.Launches {
				s.Launches[i].Command = strings.Repeat("𝕫", 2000)
			}
			s.Note = strings.Repeat("𝕫", 2000)
		}},
	}, artifactBounds(artifacts))
}

func artifactBounds(artifacts func(...string) func(*channel.Sleep)) (rows []bound) {
	long := strings.Repeat("ü/", 249) + "aa"
	for _, ok := range []string{"a", "a/b", "...", "a..b/.c", "a b\n", "a~", "x:y", long} {
		rows = append(rows, bound{name: fmt.Sprintf("artifact %.20q", ok), change: artifacts(ok)})
	}
	for _, bad := range []string{
		"", "/a", "~", "~root/a", ".", "..", "a/..", "../a", "a/../b", "./a", "a/.", "a//b", "a/", `a\b`, "a\x00b", long + "a",
	} {
		rows = append(rows, bound{
			name: fmt.Sprintf("no artifact %.20q", bad), change: artifacts("ok", bad), field: "launches[0].artifacts[1]",
		})
	}
	return rows
}

func TestBounds(t *testing.T) {
	for _, row := range bounds() {
		t.Run(row.name, func(t *testing.T) {
			asked := ordinary()
			row.change(&asked)
			raw := peerEncode(t, asked)

			byVerb, verbErr := commit(t, asked)
			request, kernelErr := channel.ParseRequest(raw)
			if row.name == "too many bytes" { // the only refusal that is about no field
				refused(t, verbErr)
				refused(t, kernelErr)
				return
			}
			if got := refusedField(t, verbErr); got != row.field {
				t.Errorf("the verb refuses %q (%v), want %q", got, verbErr, row.field)
			}
			if got := refusedField(t, kernelErr); got != row.field {
				t.Errorf("the kernel refuses %q (%v), want %q", got, kernelErr, row.field)
			}
			if row.field != "" {
				if verbErr != nil && kernelErr != nil && verbErr.Error() != kernelErr.Error() {
					t.Errorf("two causes for one bound:\nverb:   %v\nkernel: %v", verbErr, kernelErr)
				}
				return
			}
			want := ordinary()
			row.change(&want)
			if row.want != nil {
				row.want(asked, want)
			}
			want.Report = strings.TrimSpace(want.Report)
			want.EvalMinutes = min(want.EvalMinutes, channel.MaxEvalMinutes)
			if want.Launches == nil {
				want.Launches = []channel.Launch{}
			}
			if diff := cmp.Diff(want, byVerb); diff != "" {
				t.Errorf("the verb (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, *request.Sleep); diff != "" {
				t.Errorf("the kernel (-want +got):\n%s", diff)
			}
			again, err := request.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if back, err := channel.ParseRequest(again); err != nil || !cmp.Equal(back, request) {
				t.Errorf("read back: %v\n%s", err, cmp.Diff(request, back))
			}
		})
	}
}

// commit takes the request through the verbs' door, and what they committed
// through the kernel's.
func commit(t *testing.T, asked channel.Sleep) (channel.Sleep, error) {
	k, s, _ := open(t)
	err := s.Stage(t.Context(), func(staged *channel.Staged) error {
		staged.Launches, staged.Note, staged.Submit = asked.Launches, asked.Note, asked.Submit
		staged.Report = asked.Report
		if asked.EvalMinutes != 0 {
			staged.EvalMinutes = &asked.EvalMinutes
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sleep, err := s.CommitSleep(t.Context())
	if err != nil {
		if !cmp.Equal(sleep, channel.Sleep{}) {
			t.Errorf("a refused sleep came back as %.200q", fmt.Sprint(sleep))
		}
		return sleep, err
	}
	raw, err := k.ReadCommitted(channel.MaxSleepBytes)
	if err != nil {
		t.Fatal(err)
	}
	request, err := channel.ParseRequest(raw)
	if err != nil {
		t.Fatalf("a verb committed what the kernel refuses: %v", err)
	}
	if diff := cmp.Diff(sleep, *request.Sleep); diff != "" {
		t.Errorf("committed and read (-committed +read):\n%s", diff)
	}
	return sleep, nil
}

// peerEncode writes a request as a peer does that checks and clamps nothing.
func peerEncode(t testing.TB, s channel.Sleep) []byte {
	t.Helper()
	launches := []map[string]any{}
	for _, l := range s.Launches {
		m := map[string]any{
			"name": l.Name, "command": l.Command, "minutes": l.Minutes, "artifacts": l.Artifacts, "array": l.Array,
		}
		if l.Artifacts == nil {
			m["artifacts"] = []string{}
		}
		if l.Why != "" {
			m["why"] = l.Why
		}
		if l.Concurrency != 0 {
			m["concurrency"] = l.Concurrency
		}
		launches = append(launches, m)
	}
	request := map[string]any{"type": "sleep", "launches": launches, "note": s.Note, "submit": s.Submit}
	if s.Submit {
		request["report"] = s.Report
		if s.EvalMinutes != 0 {
			request["eval_minutes"] = s.EvalMinutes
		}
	}
	raw, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Zero is the staged file's word for "not given", so only the kernel's door and
// the checks themselves can tell it from a default.
func TestZeroIsBelowOne(t *testing.T) {
	for key, field := range map[string]string{"minutes": "launches[0].minutes", "array": "launches[0].array"} {
		_, err := channel.ParseRequest(fmt.Appendf(nil, `{"type":"sleep","launches":[{"name":"a","command":"b","%s":0}]}`, key))
		if got := refusedField(t, err); got != field {
			t.Errorf("%s 0 is refused as %q", key, got)
		}
	}
	_, err := channel.ParseRequest([]byte(`{"type":"sleep","submit":true,"report":"r","eval_minutes":0}`))
	if got := refusedField(t, err); got != "eval_minutes" {
		t.Errorf("eval_minutes 0 is refused as %q", got)
	}
	if _, err := channel.CheckEvalMinutes(0); refusedField(t, err) != "eval_minutes" {
		t.Errorf("CheckEvalMinutes(0): %v", err)
	}
}

// What JSON cannot carry would reach the job as other words.
func TestOnlyUTF8(t *testing.T) {
	const bad = "a\xffb"
	rows := map[string]error{}
	add := func(field string, err error) { rows[field] = err }
	check := func(change func(*channel.Launch)) error {
		l := launch("a")
		change(&l)
		_, err := channel.CheckLaunch(l)
		return err
	}
	add("command", check(func(l *channel.Launch) { l.Command = bad }))
	add("why", check(func(l *channel.Launch) { l.Why = bad }))
	add("name", check(func(l *channel.Launch) { l.Name = bad }))
	add("artifacts[0]", check(func(l *channel.Launch) { l.Artifacts = []string{bad} }))
	add("note", channel.CheckNote(bad))
	_, err := channel.CheckReport(bad)
	add("report", err)
	f := finding()
	f.Detail = bad
	add("detail", channel.CheckFinding(f))
	for field, err := range rows {
		if got := refused(t, err).Field; got != field {
			t.Errorf("%s is refused as %q", field, got)
		}
	}
}
