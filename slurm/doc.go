// Package slurm holds what a kernel needs to know of a batch scheduler: the
// description of a job, the rows of a queue, the states a job passes through,
// and [Backend], the small set of methods behind which a real Slurm cluster
// and a single machine look the same.
//
// The words are Slurm's own (sbatch(1), squeue(1), sacct(1)), because they are
// what an author reads in the answer to a queue question. Package
// [github.com/outerloop-go/outerloop/slurm/local] implements Backend on one
// machine that has no scheduler.
//
// One rule runs through the package: a query that failed says nothing about a
// job. Methods return an error for "could not be learnt" and an answer for
// everything else, and no caller may turn the first into the second.
package slurm
