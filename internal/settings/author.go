package settings

import (
	"os"
	"path/filepath"
)

// authorNames are the settings that are for the author's own program: which
// model, which key file, which account. Legs get them; jobs and the gate never
// do.
func authorNames() []string {
	return []string{
		"AUTHOR_BACKEND", "AUTHOR_MODEL",
		"CODEX_BIN", "CODEX_KEY_FILE", "HARNESS_KEY_FILE",
		"VERTEX_PROJECT", "VERTEX_REGION", "VERTEX_ADC",
		"TARGET", "GITHUB_APP_FILE", "BOT_LOGIN", "BOT_ALIASES",
		"PANEL", "PANEL_KEY_FILE", "PANEL_CODEX_KEY_FILE", "PANEL_HERMES_KEY_FILE",
	}
}

// AuthorKeys returns the files with the keys of the author's program that are there,
// by the paths that [Settings.Author] hands on. One that is missing, or not named by
// its full path, is left to the author to miss.
func (s *Settings) AuthorKeys() []string {
	var files []string
	for _, name := range []string{"HARNESS_KEY_FILE", "CODEX_KEY_FILE", "VERTEX_ADC"} {
		path := s.Get(name).Text
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && filepath.IsAbs(path) && filepath.Clean(path) == path {
			files = append(files, path)
		}
	}
	return files
}

// Author returns the author's settings as KEY=value under their present names,
// those that are set to nothing included: that is how they are switched off.
func (s *Settings) Author() []string {
	var env []string
	for _, name := range authorNames() {
		v := s.Get(name)
		if line, err := v.Line(); err == nil && v.Set {
			env = append(env, prefix+name+"="+line)
		}
	}
	return env
}
