package slurm

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseSubmitted(t *testing.T) {
	for in, want := range map[string]string{
		"7\n":                       "7",
		"15":                        "", // cut
		"15;clu":                    "",
		"7;cluster\n":               "7",
		"Welcome!\n\n7;c\n":         "7",
		"12 jobs wait\n7\nbye\n":    "7",
		"":                          "",
		"\n":                        "",
		"Submitted batch job 7\n":   "",
		"7;\n":                      "",
		"7;a b\n":                   "",
		"-7\n":                      "",
		"7.5\n":                     "",
		"99999999999\n":             "",
		"sbatch: 7\n8\n":            "8",
		"\xff7\n":                   "",
		"7\r\n":                     "7",
		"https://example.org/1;2\n": "",
	} {
		if got, ok := parseSubmitted(in); got != want || ok != (want != "") {
			t.Errorf("parseSubmitted(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
}

func TestRefusal(t *testing.T) {
	const failed = "sbatch: error: Batch job submission failed: "
	for in, want := range map[string]string{
		failed + "Invalid account or account/partition combination specified":                            "Invalid account or account/partition combination specified",
		"sbatch: error: invalid partition specified: x\n" + failed + "Invalid partition name specified":  "invalid partition specified: x; Invalid partition name specified",
		"sbatch: error: your group timed out of GPUs\n" + failed + "Unspecified error":                   "your group timed out of GPUs; Unspecified error",
		"sbatch: error: Invalid --time specification":                                                    "Invalid --time specification",
		"sbatch: unrecognized option '--x'\nTry \"sbatch --help\" for more information":                  "unrecognized option '--x' Try \"sbatch --help\" for more information",
		failed + "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)": "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",

		failed + "Socket timed out on send/recv operation":                                  "",
		failed + "Unable to contact slurm controller (connect failure)":                     "",
		failed + "Zero Bytes were transmitted or received":                                  "",
		failed + "Protocol authentication error":                                            "",
		failed + "Slurm backup controller in standby mode":                                  "",
		failed + "Slurm temporarily unable to accept job, sleeping and retrying":            "",
		failed + "Unexpected message received":                                              "",
		failed + "Connection refused":                                                       "",
		"sbatch: error: Munge encode failed: Failed to access \"/run/munge.socket\"":        "",
		"sbatch: fatal: Could not establish a configuration source":                         "",
		"sbatch: error: Invalid account\n" + failed + "Unable to contact slurm controller":  "",
		"sbatch: error: Invalid user credential":                                            "",
		"Batch job submission failed":                                                       "",
		"":                                                                                  "",
		"a wrapper says: error: Batch job submission failed: or maybe not, who could know?": "",
	} {
		if got, ok := refusal(oneLine(in)); got != want || ok != (want != "") {
			t.Errorf("refusal(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
}

func TestParseTasks(t *testing.T) {
	for _, tt := range []struct {
		in       string
		tasks    []int
		throttle int
		cut      bool
	}{
		{"5", []int{5}, 0, false},
		{"[2-3%2]", []int{2, 3}, 2, false},
		{"1,4-6,12%3", []int{1, 4, 5, 6, 12}, 3, false},
		{"0-6:3", []int{0, 3, 6}, 0, false},
		{"[1,4-5,...]", []int{1, 4, 5}, 0, true},
		{"[1,4-5,9-...%7]", []int{1, 4, 5}, 7, true},
		{"", nil, 0, true},
		{"5-3", nil, 0, true},
		{"0-4:0", nil, 0, true},
		{"0-2147483647", nil, 0, true},
		{"3,0-99999%2", []int{3}, 2, true},
		{"1%x", []int{1}, 0, false},
		{"-1", nil, 0, true},
	} {
		tasks, throttle, err := parseTasks(tt.in)
		if !slices.Equal(tasks, tt.tasks) || throttle != tt.throttle || errors.Is(err, errCut) != tt.cut {
			t.Errorf("parseTasks(%q) = %v, %d, %v; want %v, %d, cut: %v", tt.in, tasks, throttle, err, tt.tasks, tt.throttle, tt.cut)
		}
	}
}

// rowOf spells a row as squeue does.
func rowOf(mark string, fields ...string) string {
	n := len(fields) - 1
	return strings.Join(fields[:n], unitSeparator) + unitSeparator + mark + fields[n] + recordSeparator + mark + "\n"
}

// Without --array, or from a squeue that does not heed it, tasks that wait come in
// lists, and a long one is cut. A task that is not spelled out is not over.
func TestListing(t *testing.T) {
	const mark = "MARK"
	row := func(id, base, task, state, exit, comment string) string {
		return rowOf(mark, id, base, task, state, exit, "0:05", "1:00", "main", "2026-01-02T03:04:05", "Resources", "gres/gpu:a100:2", "(null)", "0", comment, "name")
	}
	out := "Welcome\nto the cluster\n" +
		row("12_[3-4%2]", "12", "3-4%2", "PENDING", "0", "tok12") +
		row("12_0", "12", "0", "COMPLETED", "0", "tok12%9") +
		row("12_1", "12", "1", "FAILED", "768", "tok12") +
		row("9_[5,7-8,...]", "9", "5,7-8,...", "PENDING", "0", "(null)") +
		row("10", "10", "N/A", "RUNNING", "0", "it's a comment, 100% mine") +
		row("10", "10", "N/A", "PENDING", "0", "twice")
	jobs, err := parseListing(out, mark)
	if err != nil {
		t.Fatal(err)
	}
	l := newListing(time.Time{}, jobs)
	var ids []string
	for _, j := range l.jobs {
		ids = append(ids, j.ID)
		if j.GRES != "gpu:a100:2" || j.Account != "" || GPUs(j.GRES) != 2 {
			t.Errorf("row %s is %+v", j.ID, j.Row)
		}
	}
	if want := []string{"9_[5,7-8,...]", "9_5", "9_7", "9_8", "10", "10", "12_0", "12_1", "12_3", "12_4"}; !slices.Equal(ids, want) {
		t.Errorf("the rows are %q, want %q", ids, want)
	}
	three := 3
	zero := 0
	ran := Duration{5 * time.Second, true}
	want := map[string]Outcome{
		"12":   {State: Pending, Reason: "Resources", Token: "tok12"},
		"12_0": {State: Completed, ExitCode: &zero, Elapsed: ran, Token: "tok12"},
		"12_1": {State: Failed, ExitCode: &three, Elapsed: ran, Token: "tok12"},
		"12_3": {State: Pending, Reason: "Resources", Token: "tok12"},
		"9_5":  {State: Pending, Reason: "Resources"},
		"9_77": {State: Pending, Reason: "Resources"}, // in the part that was cut
		"9":    {State: Pending, Reason: "Resources"},
		"10":   {State: Running, Reason: "Resources", Elapsed: ran, Token: "it's a comment, 100"},
	}
	got, missing := l.outcomes([]string{"12", "12_0", "12_1", "12_2", "12_3", "9_5", "9_77", "9", "10", "11"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if !slices.Equal(missing, []string{"12_2", "11"}) {
		t.Errorf("missing are %q", missing)
	}
	if i := l.byID["12_0"]; l.jobs[i].Throttle != 9 || l.jobs[l.byID["12_4"]].Throttle != 2 {
		t.Errorf("the throttles are %d and %d", l.jobs[i].Throttle, l.jobs[l.byID["12_4"]].Throttle)
	}
	if id := l.byToken("tok12"); id != "12" {
		t.Errorf("byToken = %q", id)
	}
	for _, broken := range []string{out[:len(out)-8], "slurm_load_jobs error\n", recordSeparator + mark, rowOf(mark, "1", "1", "x", "name")} {
		if jobs, err := parseListing(broken, mark); err == nil {
			t.Errorf("parseListing(%q) = %+v", broken, jobs)
		}
	}
}

func TestExitCode(t *testing.T) {
	for _, tt := range []struct {
		state State
		in    string
		want  int // -1 for none
	}{
		{Completed, "0", 0},
		{Completed, "0:0", 0},
		{Failed, "768", 3},
		{Failed, "3:0", 3},
		{Failed, "255:0", 255},
		{Failed, "9", -1},
		{Failed, "0:9", -1},
		{Failed, "0:53", -1},
		{Failed, "0:0", -1}, // its node could not start it
		{Timeout, "0:0", -1},
		{Cancelled, "0:15", -1},
		{Cancelled, "0", -1},
		{OutOfMemory, "0:125", -1},
		{NodeFail, "1:0", -1},
		{Running, "0", -1},
		{Failed, "", -1},
		{Failed, "256:0", -1},
		{Failed, "x", -1},
	} {
		got := exitCode(tt.state, tt.in)
		if (got == nil) != (tt.want < 0) || got != nil && *got != tt.want {
			t.Errorf("exitCode(%s, %q) = %v, want %d", tt.state, tt.in, got, tt.want)
		}
	}
}

// What sacct says of requeues, used ids, arrays and people.
func TestRecords(t *testing.T) {
	const out = "Welcome to the cluster\n" +
		"7|COMPLETED|0:0|100|2025-01-01T00:00:00\n" + // of the years before
		"7|FAILED|2:0|5|2026-01-02T00:00:00\n" +
		"8|CANCELLED by 1000|0:15|61|2026-01-02T00:00:00\n" +
		"9|NODE_FAIL|1:0|10|2026-01-02T00:00:00\n" +
		"9|COMPLETED|0:0|20|2026-01-02T00:10:00\n" + // requeued
		"10_1|COMPLETED|0:0|1|2026-01-02T00:00:00\n" +
		"10_2|OUT_OF_MEMORY|0:125|2|2026-01-02T00:00:00\n" +
		"11_[3-4,6%2]|PENDING|0:0|0|2026-01-02T00:00:00\n" +
		"12.batch|COMPLETED|0:0|1|2026-01-02T00:00:00\n" +
		"13|REQUEUED|0:0|9|2026-01-02T00:00:00\n" +
		"14||0:0|9|2026-01-02T00:00:00\n"
	rs, err := parseRecords(out)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Outcome{}
	rs.outcomes([]string{"7", "8", "9", "10", "10_1", "10_2", "10_3", "11_4", "11_5", "11", "12", "13", "14", "15", "7_0"}, got)
	zero, two := 0, 2
	ran := func(sec int) Duration { return Duration{time.Duration(sec) * time.Second, true} }
	want := map[string]Outcome{
		"7":    {State: Failed, ExitCode: &two},
		"8":    {State: Cancelled, Elapsed: ran(61)},
		"9":    {State: Completed, ExitCode: &zero},
		"10":   {State: OutOfMemory},
		"10_1": {State: Completed, ExitCode: &zero, Elapsed: ran(1)},
		"10_2": {State: OutOfMemory, Elapsed: ran(2)},
		"10_3": {State: Cancelled}, // while it waited
		"11":   {State: Pending},
		"11_4": {State: Pending},
		"11_5": {State: Cancelled},
		"13":   {State: "REQUEUED", Elapsed: ran(9)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if rs, err := parseRecords(out + "16|COMPLETED|0:0|1|2026"); err == nil {
		t.Errorf("half a row is %+v", rs)
	}
}

func TestParseToken(t *testing.T) {
	for in, want := range map[string]string{
		"7|tok|sbatch --wrap x\n": "7",
		"7|tok%3|\n":              "7",
		"8||sbatch\n7_3||/opt/sbatch --comment=tok --wrap x\n": "7",
		"7_[0-3]||sbatch --comment=tok%2 --array=0-3%2\n":      "7",
		"7||sbatch --comment=tok":                              "7",
		"7||sbatch --comment=token\n":                          "",
		"7|token|sbatch\n":                                     "",
		"x\n|tok|\n":                                           "",
		"7|a|b\ntok\n":                                         "",
		"":                                                     "",
		"7||sbatch --job-name=says --comment=to\nk --comment=to\n": "",
	} {
		if got := parseToken(in, "tok"); got != want {
			t.Errorf("parseToken(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestParseNodes(t *testing.T) {
	got := parseNodes("a idle\nb idle*\na idle\nc mixed-\nd drained*\ne down~\nWelcome to the cluster\nf allocated#\n7 9\n\n")
	if want := map[string]int{"idle": 2, "mixed": 1, "drained": 1, "down": 1, "allocated": 1}; !cmp.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOverAlready(t *testing.T) {
	for in, want := range map[string]bool{
		"scancel: error: Kill job error on job id 7: Invalid job id specified":                                                                      true,
		"scancel: error: Kill job error on job id 7: Job/step already completing or completed":                                                      true,
		"scancel: error: Kill job error on job id 7: Invalid job id specified scancel: error: Kill job error on job id 8: Access/permission denied": false,
		"scancel: error: Unable to contact slurm controller (connect failure)":                                                                      false,
		"": false,
	} {
		if got := overAlready(in); got != want {
			t.Errorf("overAlready(%q) = %v", in, got)
		}
	}
}

// Any words come through the script's two shells unchanged.
func TestScript(t *testing.T) {
	value := "$(id) `id` ' \" \\ \n#SBATCH -t 1\nEND\nEND-END\n\r\n\t\x01\x81\x88\xff\nE\xfa*?[a]~ # !"
	spec := JobSpec{Command: []string{"/usr/bin/printf", "%s|", value, "", "-n", "a b"}, Env: []string{"V=" + value, "PWD=/given"}}
	for _, program := range [][]string{spec.Command, {"/usr/bin/env", "-0"}} {
		spec.Command = program
		cmd := exec.CommandContext(t.Context(), "/bin/sh")
		cmd.Stdin = strings.NewReader(script(&spec))
		cmd.Env = []string{"SLURM_JOB_ID=7", "SLURM_CPU_BIND=no", "CUDA_VISIBLE_DEVICES=", "HOME=/no"}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got := string(out)
		if program[0] == "/usr/bin/printf" {
			if want := strings.Join(program[2:], "|") + "|"; got != want {
				t.Errorf("it printed %q, want %q", got, want)
			}
			continue
		}
		seen := strings.Split(strings.TrimSuffix(got, "\x00"), "\x00")
		seen = slices.DeleteFunc(seen, func(kv string) bool { return strings.HasPrefix(kv, "_=") })
		slices.Sort(seen)
		if want := []string{"CUDA_VISIBLE_DEVICES=", "PWD=/given", "SLURM_JOB_ID=7", "V=" + value}; !slices.Equal(seen, want) {
			t.Errorf("it sees %q, want %q", seen, want)
		}
	}
}

func TestOutputPattern(t *testing.T) {
	for _, tt := range []struct {
		output, dir string
		array       int
		want        string
	}{
		{"", "/d", 0, "/dev/null"},
		{"out", "/d", 0, "/d/out"},
		{"out", "", 0, "/out"},
		{"/x/%j-%a", "/d", 0, "/x/%j-0"},
		{"/x/%j-%a", "/d", 2, "/x/%A-%a"},
		{"%%j-%N-%u%", "/100%", 2, "/100%%/%%j-%%N-%%u%%"},
	} {
		if got := outputPattern(&JobSpec{Output: tt.output, Dir: tt.dir, Array: tt.array}); got != tt.want {
			t.Errorf("outputPattern(%q in %q) = %q, want %q", tt.output, tt.dir, got, tt.want)
		}
	}
}

func TestHopeless(t *testing.T) {
	for reason, want := range map[string]bool{
		"None": false, "": false, "Priority": false, "(Resources)": false, "Dependency": false, "BeginTime": false, "Licenses": false,
		"JobArrayTaskLimit": false, "Reservation": false, "NodeDown": false, "PartitionDown": false, "PartitionInactive": false,
		"ReqNodeNotAvail, UnavailableNodes:a[1-2]": false, "ReqNodeNotAvail, Reserved for maintenance": false,
		"Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions": false,
		"JobHeldUser": false, "JobHeldAdmin": false, "SomethingNew": false, "Association": false,
		"AssocGrpCpuLimit": false, "AssocGrpGRES": false, "AssocGrpCPUMinutesLimit": false, "AssocMaxJobsLimit": false,
		"QOSGrpMemLimit": false, "QOSMaxJobsPerUserLimit": false, "QOSMaxCpuPerUserLimit": false, "QOSMaxGRESPerUser": false,
		"QOSMaxJobsPerAccountLimit": false, "QOSGrpGRESRunMinutes": false, "QOSUsageThreshold": false, "MaxSubmitJobs": false,

		"PartitionTimeLimit": true, "PartitionNodeLimit": true, "PartitionConfig": true, "InvalidAccount": true, "InvalidQOS": true,
		"BadConstraints": true, "(DependencyNeverSatisfied)": true, "DeadLine": true, "MaxMemPerLimit": true,
		"AssocMaxWallDurationPerJobLimit": true, "AssocMaxCpuPerJobLimit": true, "AssocMaxGRESPerJob": true, "AssocMaxGRESMinutesPerJob": true,
		"QOSMaxWallDurationPerJobLimit": true, "QOSMaxCpuPerNode": true, "QOSMinCpuNotSatisfied": true, "QOSMinGRES": true,
		"QOSMaxCpuMinutesPerJobLimit": true, "AssociationTimeLimit": true, "QOSTimeLimit": true, "AccountNotAllowed": true,
	} {
		if got := Hopeless(reason); got != want {
			t.Errorf("Hopeless(%q) = %v", reason, got)
		}
	}
}

// What is too much is an error, and the program that prints it is ended.
func TestBoundedOutput(t *testing.T) {
	b := bounded{max: 3}
	if n, err := b.Write([]byte("ab")); n != 2 || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	if n, err := b.Write([]byte("cd")); n != 1 || err == nil || b.String() != "abc" {
		t.Errorf("Write = %d, %v; it holds %q", n, err, b.String())
	}
	b = bounded{max: 3, forgetful: true}
	if n, err := b.Write([]byte("abcd")); n != 4 || err != nil || b.String() != "abc" {
		t.Errorf("Write = %d, %v; it holds %q", n, err, b.String())
	}
	c := &caller{path: "/bin:/usr/bin"}
	out, err := c.call(context.Background(), time.Minute, "", "head", "-c", "100000000", "/dev/zero")
	if err == nil || len(out) != maxOutput {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}
