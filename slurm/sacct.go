package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxIDs bounds the list of ids in one argument: execve(2) takes 128 KB.
const maxIDs = 100_000

// account asks the accounting database about jobs that the controller has
// forgotten, and keeps to itself which of its failures mean what; see Outcomes.
func (c *Client) account(ctx context.Context, ids []string) (map[string]Outcome, error) {
	out := c.accountingOut()
	var found map[string]Outcome
	if out == nil {
		var err error
		if found, err = c.sacct(ctx, ids); err == nil {
			return found, nil
		}
		// The caller's own deadline says nothing about the database.
		if ctx.Err() != nil {
			return nil, err
		}
		out = c.noteOutage(err)
	}
	found = map[string]Outcome{}
	if out.disabled {
		return found, nil
	}
	for _, id := range ids {
		found[id] = Outcome{State: Unknown, Reason: "accounting is out of reach: " + out.err.Error()}
	}
	return found, nil
}

// sacct asks for all ids at once, by the jobs that they belong to. With
// --duplicates it prints every run of a job that was requeued, and every job that
// had the id: that there are several is all that tells a requeued job. With --jobs
// it looks back without bound.
func (c *Client) sacct(ctx context.Context, ids []string) (map[string]Outcome, error) {
	var bases []string
	for _, id := range ids {
		base, _, _ := strings.Cut(id, "_")
		bases = append(bases, base)
	}
	slices.Sort(bases)
	bases = slices.Compact(bases)
	found := map[string]Outcome{}
	for _, jobs := range chunk(bases, maxIDs) {
		out, err := c.caller.call(ctx, c.opt.Timeout, "", "sacct",
			"--allocations", "--duplicates", "--parsable2", "--noheader", "--jobs="+jobs, "--format=JobID,State,ExitCode,ElapsedRaw,Submit")
		if err != nil {
			return nil, err
		}
		records, err := parseRecords(out)
		if err != nil {
			return nil, fmt.Errorf("sacct: %w", err)
		}
		records.outcomes(ids, found)
	}
	return found, nil
}

// chunk joins ids by commas, into as many texts as it takes.
func chunk(ids []string, most int) []string {
	var chunks []string
	for _, id := range ids {
		if n := len(chunks) - 1; n >= 0 && len(chunks[n])+1+len(id) <= most {
			chunks[n] += "," + id
			continue
		}
		chunks = append(chunks, id)
	}
	return chunks
}

// record is one row of sacct's.
type record struct {
	Outcome
	submitted string // to tell an older job of the same id
}

// records are what the database knows, by id of job or task.
type records map[string]record

// parseRecords reads what sacct printed. Rows of other kinds, such as a site's
// banner, are passed over. If several rows have one id, the latest submission counts.
func parseRecords(out string) (records, error) {
	all := records{}
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		if len(fields) != 5 {
			continue
		}
		if !strings.HasSuffix(line, "\n") {
			return nil, errors.New("the output ends in the middle of a row")
		}
		base, index, isTask := strings.Cut(fields[0], "_")
		r := record{Outcome: Outcome{State: ParseState(fields[1])}, submitted: fields[4]}
		if !isNumber(base) || r.State == "" {
			continue
		}
		r.ExitCode = exitCode(r.State, fields[2])
		if sec, err := strconv.ParseUint(fields[3], 10, 32); err == nil && r.State != Pending {
			r.Elapsed = Duration{Duration: time.Duration(sec) * time.Second, Known: true}
		}
		if !isTask {
			all.put(base, r)
			continue
		}
		// Of a list that was cut, what is not named stays unknown.
		tasks, _, _ := parseTasks(index)
		for _, task := range tasks {
			all.put(TaskID(base, task), r)
		}
	}
	return all, nil
}

// put keeps the newer of two records. The times compare as text, as Slurm spells
// them; a requeue is a submission of its own. How long the job has run in all its
// runs is not known then.
func (rs records) put(id string, r record) {
	old, again := rs[id]
	if again && r.submitted < old.submitted {
		r = old
	}
	if again {
		r.Elapsed = Duration{}
	}
	rs[id] = r
}

// outcomes adds those of the jobs and tasks asked for.
func (rs records) outcomes(ids []string, found map[string]Outcome) {
	tasks := rs.tasks()
	for _, id := range ids {
		if r, ok := rs[id]; ok {
			found[id] = r.Outcome
			continue
		}
		base, _, isTask := strings.Cut(id, "_")
		parts := tasks[base]
		switch {
		case len(parts) == 0:
		case isTask: // see addDropped
			found[id] = Outcome{State: Cancelled}
		default:
			outs := make([]Outcome, len(parts))
			for i, part := range parts {
				outs[i] = rs[part].Outcome
			}
			found[id] = summary(outs)
		}
	}
}

// tasks lists the tasks of each array, in order.
func (rs records) tasks() map[string][]string {
	tasks := map[string][]string{}
	for id := range rs {
		if base, _, ok := strings.Cut(id, "_"); ok {
			tasks[base] = append(tasks[base], id)
		}
	}
	for _, ids := range tasks {
		slices.SortFunc(ids, func(a, b string) int {
			if len(a) != len(b) {
				return len(a) - len(b)
			}
			return strings.Compare(a, b)
		})
	}
	return tasks
}

// findBack is how far back Find looks in the database, in the words of sacct(1).
const findBack = "now-14days"

// accountToken looks for a token in the database, and returns "" if it is surely
// not there. It may be in the comment, which only some sites store, and in the
// command line of sbatch, which Slurm 21.08 and later store.
func (c *Client) accountToken(ctx context.Context, token string) (string, error) {
	out, err := c.caller.call(ctx, c.opt.Timeout, "", "sacct",
		"--allocations", "--parsable2", "--noheader", "--user="+strconv.Itoa(os.Geteuid()),
		"--starttime="+findBack, "--format=JobID,Comment,SubmitLine")
	if err != nil {
		return "", err
	}
	return parseToken(out, token), nil
}

// parseToken finds the row of the job with the token. Rows of others, whose texts
// may hold anything, cannot hold the token. Ours are one line each.
func parseToken(out, token string) string {
	for line := range strings.Lines(out) {
		id, texts, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		said, command, _ := strings.Cut(texts, "|")
		own, _ := parseComment(said)
		_, after, inLine := strings.Cut(command, "--comment="+token)
		if own != token && (!inLine || after != "" && !strings.ContainsAny(after[:1], " %")) {
			continue
		}
		if base, _, _ := strings.Cut(id, "_"); isNumber(base) {
			return base
		}
	}
	return ""
}
