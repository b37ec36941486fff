package slurm

import "strings"

// Hopeless says whether a job that waits for this reason will wait for ever unless
// somebody changes the job, an account or the cluster: it asks for more than one job
// may have, for what the lane does not have, or for what is not allowed. A kernel
// ends such a job and tells its author the reason.
//
// Everything else is taken to pass: other jobs in the way (Priority, Resources),
// times, dependencies, limits of what a user, an account or a QOS may have at once or
// in a period (AssocGrp…, QOSGrp…, …PerUser, …PerAccount, …JobsLimit), nodes and
// partitions that are down, holds that a person has put on, and reasons of later
// Slurm versions that this package does not know.
//
// The words are those of job_reason_string in Slurm's source and of squeue(1), JOB
// REASON CODES. What a limit is on is in its name: AssocMaxCpuPerJobLimit and
// QOSMaxGRESPerNode are on one job, QOSMaxCpuPerUserLimit is not.
func Hopeless(reason string) bool {
	reason, _, _ = strings.Cut(strings.Trim(strings.TrimSpace(reason), "()"), ",")
	switch reason {
	case "AccountNotAllowed", "BadConstraints", "DeadLine", "DependencyNeverSatisfied",
		"InvalidAccount", "InvalidQOS", "MaxMemPerLimit",
		"PartitionConfig", "PartitionNodeLimit", "PartitionTimeLimit",
		"QOSNotAllowed", "QOSTimeLimit", "AssociationTimeLimit":
		return true
	}
	limit, isQOS := strings.CutPrefix(reason, "QOS")
	if !isQOS {
		var isAssociation bool
		if limit, isAssociation = strings.CutPrefix(reason, "Assoc"); !isAssociation {
			return false
		}
	}
	// Below the least that a QOS asks of a job, or above the most it lets one have.
	return strings.HasPrefix(limit, "Min") ||
		strings.HasPrefix(limit, "Max") && (strings.Contains(limit, "PerJob") || strings.Contains(limit, "PerNode"))
}
