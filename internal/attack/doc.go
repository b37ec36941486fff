// Package attack is what tests play a hostile session with. Tests only import
// it.
//
// [Plants] are the things that a session may put where the kernel expects a
// file or directory of its own. A [Canary] stands outside the workspace and
// tells afterwards whether anything there was read or changed. A [Process] swaps
// names as fast as it can while the code under test runs, and [Outcomes] counts
// what came of it: a race that was never won, or never lost, has tested nothing.
package attack
