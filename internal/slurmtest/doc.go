// Package slurmtest brings up a real Slurm cluster on the machine at hand: munge,
// MariaDB, slurmdbd, slurmctld and slurmd as Debian packages them, one node with
// [GPUs] GPUs that are none, every file in one private directory and every port
// a free one, so that any number of clusters can run side by side. It is for tests
// and demonstrations. It needs Linux, root and the packages; where one of these is
// missing, [Start] says which.
//
// A program that starts a cluster calls [Reenter] before anything else, a test
// binary through [Main]:
//
//	var cluster slurmtest.Shared
//
//	func TestMain(m *testing.M) { os.Exit(slurmtest.Main(m, &cluster)) }
//
//	func TestSomething(t *testing.T) { c := cluster.Get(t); … }
//
// # Nothing stays behind
//
// The daemons are children of the keeper, a second process of the same program. It
// adopts whatever loses its parent below it, as slurmd's steps and their jobs do,
// and holds one end of a pipe. When the pipe closes, because the cluster was closed
// or because the process that started it was killed, the keeper kills its own
// children until there are none, and removes the directory. It never looks for
// processes by name. Should the keeper itself be killed, the kernel takes the
// daemons along.
package slurmtest
