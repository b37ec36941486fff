package settings

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
