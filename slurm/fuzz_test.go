package slurm

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

func FuzzParseSubmitted(f *testing.F) {
	for _, s := range []string{"7\n", "7;c\n", "hello\n7\n", "7;", "0x7", "７\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, out string) {
		id, ok := parseSubmitted(out)
		if ok != (id != "") || ok && (!isID(id) || !strings.Contains(out, id)) {
			t.Errorf("parseSubmitted(%q) = %q, %v", out, id, ok)
		}
		// What a site prints around it changes nothing.
		if got, _ := parseSubmitted("Welcome!\n" + out); got != id {
			t.Errorf("parseSubmitted(%q) = %q, and %q behind a banner", out, id, got)
		}
	})
}

// No text that somebody else chooses makes, hides or changes the row of another.
func FuzzParseListing(f *testing.F) {
	const mark = "M4RK"
	f.Add("7_[1-3%2]", "7", "1-3%2", "PENDING", "0", "0:00", "token%2", "name")
	f.Add("8", "8", "N/A", "RUNNING", "0", "1-02:03:04", "(null)", "a"+unitSeparator+"b"+recordSeparator+"\nc")
	f.Add("", "", "...", "", "x", "", unitSeparator+unitSeparator, recordSeparator+recordSeparator)
	f.Fuzz(func(t *testing.T, id, base, index, state, exit, elapsed, comment, name string) {
		for _, s := range []string{id, base, index, state, exit, elapsed} {
			if strings.Contains(s, unitSeparator) {
				t.Skip() // these are the scheduler's words
			}
		}
		for _, s := range []string{id, base, index, state, exit, elapsed, comment, name} {
			if strings.Contains(s, mark) {
				t.Skip() // nobody knows the mark
			}
		}
		fields := []string{id, base, index, state, exit, elapsed, "1:00", "main", "2026", "None", "N/A", "acct", "0", comment, name}
		ours := rowOf(mark, "99", "99", "N/A", "RUNNING", "0", "0:01", "1:00", "main", "2026", "None", "N/A", "acct", "0", "ours", "ours")
		jobs, err := parseListing(rowOf(mark, fields...)+ours, mark)
		if err != nil {
			return
		}
		last := jobs[len(jobs)-1]
		if last.ID != "99" || last.State != Running || last.Token != "ours" || last.Name != "ours" {
			t.Errorf("our row is %+v", last)
		}
		for _, j := range jobs[:len(jobs)-1] {
			if j.Name != name || j.ID == "" || j.Throttle < 0 {
				t.Errorf("the row is %+v", j)
			}
		}
		newListing(time.Time{}, jobs).outcomes([]string{"99", id, base, base + "_1"})
	})
}

func FuzzParseTasks(f *testing.F) {
	for _, s := range []string{"1", "[2-3%2]", "1,4-9:2,...%3", "0-40000", "9223372036854775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tasks, throttle, err := parseTasks(s)
		if throttle < 0 || len(tasks) > maxTasks || err == nil && len(tasks) == 0 {
			t.Errorf("parseTasks(%q) = %d tasks, %d, %v", s, len(tasks), throttle, err)
		}
		for _, task := range tasks {
			if !isID(TaskID("1", task)) {
				t.Errorf("parseTasks(%q) has task %d", s, task)
			}
		}
	})
}

func FuzzParseRecords(f *testing.F) {
	for _, s := range []string{
		"7|COMPLETED|0:0|1|2026-01-01T00:00:00\n", "7_[1-3]|PENDING|0:0|0|x\n", "7_1|CANCELLED by 0|0:15|9|y\n7_1|FAILED|1:0|2|z\n", "|||||\n", "7|A|b|c|d",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, out string) {
		rs, err := parseRecords(out)
		if err != nil && rs != nil {
			t.Errorf("parseRecords(%q) = %v, %v", out, rs, err)
		}
		for id, r := range rs {
			if !isID(id) || r.State == "" || r.ExitCode != nil && !r.State.Terminal() || r.Elapsed.Duration < 0 {
				t.Errorf("parseRecords(%q) has %q: %+v", out, id, r)
			}
		}
		rs.outcomes([]string{"7", "7_1", "7_5", ""}, map[string]Outcome{})
	})
}

func FuzzParseToken(f *testing.F) {
	f.Add("7|tok%2|sbatch\n", "tok")
	f.Add("7||sbatch --comment=tok -n 1\n", "tok")
	f.Fuzz(func(t *testing.T, out, token string) {
		if token == "" {
			t.Skip()
		}
		if id := parseToken(out, token); id != "" && (!isNumber(id) || !strings.Contains(out, token)) {
			t.Errorf("parseToken(%q, %q) = %q", out, token, id)
		}
	})
}

func FuzzRefusal(f *testing.F) {
	for _, s := range []string{"sbatch: error: Batch job submission failed: Invalid qos specification", "sbatch: error: Invalid --time", "sbatch: "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, words string) {
		reason, ok := refusal(oneLine(words))
		if ok != (reason != "") {
			t.Errorf("refusal(%q) = %q, %v", words, reason, ok)
		}
		// However it began, a connection that failed leaves the job in doubt.
		const lost = " sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
		if reason, ok := refusal(oneLine(words + lost)); ok {
			t.Errorf("refusal(%q) = %q", words+lost, reason)
		}
	})
}

func FuzzParseNodes(f *testing.F) {
	f.Add("a idle\nb mixed-\n")
	f.Fuzz(func(t *testing.T, out string) {
		for state, n := range parseNodes(out) {
			if n < 1 || state == "" || strings.ContainsAny(state, " \n") {
				t.Errorf("parseNodes(%q) has %d of %q", out, n, state)
			}
		}
	})
}

// Whatever the words, the shells pass them on.
func FuzzScript(f *testing.F) {
	f.Add("plain", "value")
	f.Add("it's\n", "END\nE\xfa") // a here-document of Debian's shell would lose the last byte
	f.Fuzz(func(t *testing.T, word, value string) {
		spec := JobSpec{
			Name: "j", Minutes: 1, Env: []string{"V=" + value},
			Command: []string{"/bin/sh", "-c", `printf %s "$1/$V"`, "sh", word},
		}
		if checkForSlurm(&spec) != nil {
			t.Skip()
		}
		cmd := exec.CommandContext(t.Context(), "/bin/sh")
		cmd.Stdin = strings.NewReader(script(&spec))
		out, err := cmd.Output()
		if want := word + "/" + value; err != nil || string(out) != want {
			t.Errorf("it printed %q, %v; want %q", out, err, want)
		}
	})
}
