package slurm

// Row is one line of the queue, all fields in the scheduler's own words.
type Row struct {
	ID        string // of the job, or <job>_<task> for a task of an array
	Name      string
	State     State
	Elapsed   string // as [FormatElapsed] prints
	Limit     string // walltime, likewise
	Partition string
	Submitted string // 2006-01-02T15:04:05 in the machine's time zone
	Reason    string // why it waits; "None" while it does not
	GRES      string // what [GPUs] reads; "N/A" for none
	Account   string
	Throttle  int // at most so many tasks of its array at a time, 0 for no bound
	Token     string
}
