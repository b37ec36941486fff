package sandbox

import (
	"slices"
	"strings"
)

// Environment builds an environment from nothing: a PATH that begins with the
// verbs' directory (none for ""), the home directory, and settings that make
// programs behave the same everywhere. Entries of more, as KEY=value, are added
// or replace what is there; of two for one key the later counts. Nothing of the
// caller's own environment is looked at.
func Environment(verbs, home string, more ...string) []string {
	path := "/usr/local/bin:/usr/bin:/bin"
	if verbs != "" {
		path = verbs + ":" + path
	}
	return merge([]string{
		"PATH=" + path,
		"HOME=" + home,
		"LANG=C.UTF-8",
		"TMPDIR=/tmp",
		"TERM=dumb",
	}, more...)
}

// merge returns a new list in which every key stands once, with its last value.
func merge(env []string, more ...string) []string {
	all := slices.Concat(env, more)
	place := make(map[string]int, len(all))
	merged := all[:0]
	for _, entry := range all {
		key, _, _ := strings.Cut(entry, "=")
		if i, ok := place[key]; ok {
			merged[i] = entry
			continue
		}
		place[key] = len(merged)
		merged = append(merged, entry)
	}
	return merged
}
