package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Separators of squeue's output: between fields, and at the end of a row.
const (
	unitSeparator   = "\x1f"
	recordSeparator = "\x1e"
)

// squeueFields are what is asked of squeue(1), --Format. The last two are text that
// anybody who submits a job chooses.
func squeueFields() []string {
	return []string{
		"JobArrayID", "ArrayJobID", "ArrayTaskID", "State", "exit_code", "TimeUsed", "TimeLimit",
		"Partition", "SubmitTime", "Reason", "tres-per-node", "Account", "RestartCnt", "Comment", "Name",
	}
}

// squeueFormat spells the fields with a width of 0, which is as wide as it takes;
// without one they are cut. Separators inside a comment or a name must not make rows
// that the scheduler did not write, so those that matter hold a mark that is made up
// anew for each client.
func squeueFormat(mark string) string {
	var b strings.Builder
	fields := squeueFields()
	for i, field := range fields {
		b.WriteString(field + ":0")
		switch len(fields) - i {
		case 1:
			b.WriteString(recordSeparator + mark)
		case 2:
			b.WriteString(unitSeparator + mark + ",")
		default:
			b.WriteString(unitSeparator + ",")
		}
	}
	return b.String()
}

// listed is one job or task as the controller knows it, ended ones included.
type listed struct {
	Row
	base string // id of the job, or of the array that it is a task of
	task int    // index in the array, -1 for a job that is no array's
	exit *int
	// once says that the job was never requeued. TimeUsed is that of the last run alone.
	once bool
}

// listing is one answer of squeue's.
type listing struct {
	at    time.Time // before it was asked for
	jobs  []listed
	byID  map[string]int
	tasks map[string][]int  // of an array, by its id
	rest  map[string]listed // waiting tasks of an array that the scheduler did not spell out
}

// list asks squeue for all jobs of this user, those that have ended included.
func (c *Client) list(ctx context.Context) (*listing, error) {
	at := c.opt.Now()
	out, err := c.caller.call(ctx, c.opt.Timeout, "", "squeue",
		"--noheader", "--array", "--local", "--all", "--states=all",
		"--user="+strconv.Itoa(os.Geteuid()), "--Format="+squeueFormat(c.mark))
	if err != nil {
		return nil, err
	}
	jobs, err := parseListing(out, c.mark)
	if err != nil {
		return nil, fmt.Errorf("squeue: %w", err)
	}
	l := newListing(at, jobs)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listing = l
	return l, nil
}

// Queue returns a row for every job and task of this user that has not ended, in
// order of submission. It asks squeue once.
func (c *Client) Queue(ctx context.Context) ([]Row, error) {
	l, err := c.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask for the queue: %w", err)
	}
	var rows []Row
	for _, j := range l.jobs {
		if !j.State.Terminal() {
			rows = append(rows, j.Row)
		}
	}
	return rows, nil
}

func newListing(at time.Time, jobs []listed) *listing {
	// Ids grow with time. The controller sorts by priority.
	slices.SortStableFunc(jobs, func(a, b listed) int {
		return cmp.Or(cmp.Compare(len(a.base), len(b.base)), cmp.Compare(a.base, b.base), cmp.Compare(a.task, b.task))
	})
	l := &listing{at: at, jobs: jobs, byID: map[string]int{}, tasks: map[string][]int{}, rest: map[string]listed{}}
	for i, j := range jobs {
		if strings.HasSuffix(j.ID, "]") {
			l.rest[j.base] = j
		}
		// A job that waits for several partitions may have a row for each.
		if _, ok := l.byID[j.ID]; ok {
			continue
		}
		l.byID[j.ID] = i
		if j.base != j.ID {
			l.tasks[j.base] = append(l.tasks[j.base], i)
		}
	}
	return l
}

// byToken returns the id of the job with this token, "" for none.
func (l *listing) byToken(token string) string {
	for _, j := range l.jobs {
		if j.Token == token {
			return j.base
		}
	}
	return ""
}

// parseListing reads what squeue printed for squeueFormat. An answer that ends in
// the middle of a row was cut and is no answer.
func parseListing(out, mark string) ([]listed, error) {
	rows := strings.Split(out, recordSeparator+mark)
	if rest := rows[len(rows)-1]; strings.TrimSpace(rest) != "" {
		return nil, fmt.Errorf("the output ends in the middle of a row: %.100q", rest)
	}
	var jobs []listed
	for _, row := range rows[:len(rows)-1] {
		expanded, err := parseListed(row, mark)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, expanded...)
	}
	return jobs, nil
}

// parseListed reads one row, which is several tasks where a list of them waits.
func parseListed(row, mark string) ([]listed, error) {
	texts, name, ok := strings.Cut(row, unitSeparator+mark)
	n := len(squeueFields()) - 1 // without the name
	fields := strings.SplitN(texts, unitSeparator, n)
	if !ok || len(fields) != n {
		return nil, fmt.Errorf("a row has not the fields that were asked for: %.100q", row)
	}
	// Lines that a site prints before the first row are not part of its id.
	id := fields[0][strings.LastIndexByte(fields[0], '\n')+1:]
	j := listed{base: fields[1], task: -1}
	j.Row = Row{
		ID: id, Name: name, State: ParseState(fields[3]),
		Elapsed: fields[5], Limit: fields[6], Partition: fields[7], Submitted: fields[8],
		Reason: fields[9], GRES: plainGRES(fields[10]), Account: noNull(fields[11]),
	}
	j.Token, j.Throttle = parseComment(fields[13])
	j.once = fields[12] == "0"
	j.exit = exitCode(j.State, fields[4])
	if id == "" || j.State == "" {
		return nil, fmt.Errorf("a row has no id or no state: %.100q", row)
	}
	if index := fields[2]; index != "" && index[0] >= '0' && index[0] <= '9' {
		return expand(j, index), nil
	}
	if j.base == "" || j.base == "N/A" || j.base == "0" {
		j.base = id
	}
	return []listed{j}, nil
}

// expand makes a row for each task that an index names, and one more that ends in a
// bracket for those that it names no longer.
func expand(j listed, index string) []listed {
	tasks, throttle, err := parseTasks(index)
	if j.Throttle == 0 {
		j.Throttle = throttle
	}
	var all []listed
	for _, task := range tasks {
		j.task, j.ID = task, TaskID(j.base, task)
		all = append(all, j)
	}
	if err != nil {
		j.task, j.ID = -1, j.base+"_["+index+"]"
		all = append(all, j)
	}
	return all
}

// errCut says that a list of tasks was cut short.
var errCut = errors.New("the list of tasks is not complete")

// maxTasks bounds an array, and with it what one row can make of itself: slurm.conf(5)
// lets MaxArraySize be 4,000,001, and a list of so many that waits is one short line of
// squeue's and gigabytes of rows. A longer list is not ours and stays one row.
const maxTasks = 100_000

// parseTasks reads the list of an array's tasks as squeue(1) and sacct(1) print it,
// "2-3,7,10-20:5%2", and its throttle. Long lists end in "..."; then, and where the
// list is none or has more than maxTasks, it returns what it has read so far and an error.
func parseTasks(index string) (tasks []int, throttle int, err error) {
	list, number, limited := strings.Cut(strings.Trim(index, "[]"), "%")
	if limited {
		if throttle, err = strconv.Atoi(number); err != nil || throttle < 0 {
			throttle = 0
		}
	}
	for item := range strings.SplitSeq(list, ",") {
		span, step, _ := strings.Cut(item, ":")
		first, last, isSpan := strings.Cut(span, "-")
		if !isSpan {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 31)
		to, err2 := strconv.ParseUint(last, 10, 31)
		by, err3 := strconv.ParseUint(cmp.Or(step, "1"), 10, 31)
		if err := errors.Join(err1, err2, err3); err != nil || from > to || by == 0 || (to-from)/by >= uint64(maxTasks-len(tasks)) {
			return tasks, throttle, fmt.Errorf("%w: %.100q", errCut, index)
		}
		for i := from; i <= to; i += by {
			tasks = append(tasks, int(i))
		}
	}
	return tasks, throttle, nil
}

// exitCode reads how a command ended, as the status that wait(2) returns (768 is
// "exited with 3"), which squeue prints, or as sacct's "3:0", whose second number is
// a signal. Only a command that came to its own end has one: Slurm puts numbers,
// and zeros, there for jobs that a limit, a signal or a node has ended as well.
func exitCode(state State, s string) *int {
	var code int
	if exit, signal, ok := strings.Cut(s, ":"); ok {
		n, err := strconv.ParseUint(exit, 10, 8)
		if err != nil || signal != "0" {
			return nil
		}
		code = int(n)
	} else {
		status, err := strconv.ParseUint(s, 10, 32)
		if err != nil || status&0x7f != 0 {
			return nil
		}
		code = int(status >> 8 & 0xff)
	}
	if state == Completed && code == 0 || state == Failed && code != 0 {
		return &code
	}
	return nil
}

// plainGRES drops the prefixes that nobody types; see bareGRES.
func plainGRES(s string) string {
	if s = noNull(s); s == "" {
		return "N/A"
	}
	items := splitGRES(s)
	for i, item := range items {
		items[i] = bareGRES(item)
	}
	return strings.Join(items, ",")
}

// noNull drops Slurm's word for a text that is not set.
func noNull(s string) string {
	if s == "(null)" {
		return ""
	}
	return s
}
