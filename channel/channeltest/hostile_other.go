//go:build !linux

package channeltest

// hostileRules are none: they need a filesystem and system calls of Linux.
func hostileRules() []rule { return nil }
