// Syscall-launch stages an experiment that runs outside the sandbox while you sleep.
//
// Usage:
//
//	syscall-launch --name NAME [flags] -- COMMAND [ARGUMENT...]
//
// The launch runs once you have called syscall-sleep and ended your session, on the
// workspace as it is then; its results are there when you wake. The command is
// run by "sh -c" in the workspace's root, with exactly the words that follow "--".
// For a pipe or any other shell syntax launch a shell: -- sh -c '...'.
//
// With --array the command runs as a sweep of N tasks, which see SWEEP_INDEX=0 to
// N-1 in their environment. A sweep is one launch of the budget, and takes N times
// the GPU hours. Artifacts are files that the job leaves; they come back as
// .outerloop/results/NAME/FILE, those of a sweep as results/NAME/INDEX/FILE.
//
// Flags:
//
//	--name NAME      what you call it: 1 to 32 of a-z, 0-9 and '-'; required
//	--minutes N      walltime of each task, 1 to 240 (default 30)
//	--why TEXT       one line on what it tests, at most 200 characters, for every agent to see
//	--array N        run N tasks, 1 to 16 (default 1)
//	--concurrency K  run at most K tasks at a time (default all)
//	--artifact FILE  bring this file back, at most 5000000 bytes; up to 8 times
//	--json           print JSON
//	--help           print this and exit
//	--version        print the version and exit
//
// Examples:
//
//	syscall-launch --name baseline --minutes 20 --artifact out/metrics.json -- python train.py --lr 3e-4
//	syscall-launch --name rates --array 8 --concurrency 2 --why "is a smaller rate steadier?" -- sh -c 'python train.py --rate-index "$SWEEP_INDEX"'
//
// The workspace is the one that OUTERLOOP_WORKSPACE names, else the nearest
// directory upward that has a channel. The exit status is 0 when all is done, 1
// for a failure, and 2 for a wrong call; the cause and a cure are on standard
// error.
package main

import (
	"os"

	"github.com/outerloop-go/outerloop/internal/verbs"
)

func main() { os.Exit(verbs.Main(verbs.Launch)) }
