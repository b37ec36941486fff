package channel

import "time"

// The bounds of the protocol. They are part of the wire: a peer refuses what is
// beyond them, and clamps where "clamped" is said. Characters are Unicode code
// points.
const (
	MaxSleepBytes   = 65_536    // of syscall.json that holds a sleep
	MaxVerdictBytes = 1_000_000 // of syscall.json that holds a verdict

	MaxLaunches     = 8     // in one sleep
	MaxNameBytes    = 32    // of a launch's name, see [CheckName]
	MaxCommandChars = 2_000 // of a launch's command
	MaxWhyChars     = 200   // of a launch's why, white space folded
	DefaultMinutes  = 30    // walltime of a launch that does not say
	MaxMinutes      = 240   // above is clamped
	MaxArray        = 16    // tasks of a sweep; above is clamped
	MaxArtifacts    = 8     // of a launch
	MaxPathChars    = 500   // of an artifact's path

	MaxNoteChars   = 2_000
	MaxReportChars = 8_000
	MaxEvalMinutes = 1_440 // of a submit's gate; above is clamped

	MaxFindings     = 200
	MaxFindingChars = 6_000 // of each text of a finding, and of a verdict's notes

	MaxArtifactBytes = 5_000_000 // brought back; a larger one is skipped
	MaxTailChars     = 8_000     // of each output that a wake quotes
	MaxQueueJobs     = 500       // in one queue answer

	// MaxMoved is how many branches an answer to sync names.
	MaxMoved = 500

	// MaxAnswerBytes bounds what a session reads as an answer. It is far above
	// what a kernel writes and only keeps a broken one from filling memory.
	MaxAnswerBytes = 32 << 20
)

// DefaultWait is how long a question waits for its answer if nobody says
// otherwise. A watcher answers in milliseconds; a peer that polls takes
// seconds.
const DefaultWait = 30 * time.Second

// lockWait is how long a verb waits for another verb of the same session. Each
// holds the lock for a few milliseconds.
const lockWait = 10 * time.Second
