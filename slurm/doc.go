// Package slurm holds what a kernel needs to know of a batch scheduler: the
// description of a job, the rows of a queue, the states a job passes through,
// and [Backend], the small set of methods behind which a real Slurm cluster
// and a single machine look the same.
//
// The words are Slurm's own (sbatch(1), squeue(1), sacct(1)), because they are
// what an author reads in the answer to a queue question. [Client] is the Backend
// of a Slurm cluster, which it knows by Slurm's own programs. Package
// [github.com/outerloop-go/outerloop/slurm/local] implements Backend on one
// machine that has no scheduler.
//
// One rule runs through the package: a query that failed says nothing about a
// job. Methods return an error for "could not be learnt" and an answer for
// everything else, and no caller may turn the first into the second.
//
// [Client] asks squeue for jobs in all states and does not call scontrol: that prints the
// same memory of the controller, one job a call.
//
// # Submitted once
//
// A submission can be cut off after the job was taken. So each carries a token that
// its caller has made up and kept before: [JobSpec.Token]. After an error other than
// a [RefusedError] the caller asks [Backend.Find] for the token, for as long as that
// fails too, and submits again only when the answer is that there is no such job.
// [Client] keeps the token in the job's comment.
//
// # What a job is run in
//
// A job sees the environment that its spec lists and what the scheduler gives to it,
// and nothing else: not the environment of who submitted it, nor a profile's. See
// [JobSpec.Env].
package slurm
