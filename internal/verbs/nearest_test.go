package verbs

import "testing"

func TestNearest(t *testing.T) {
	words := Launch().options.names()
	tests := []struct{ typed, want string }{
		{"minuts", "minutes"},
		{"minutess", "minutes"},
		{"nmae", "name"},
		{"Name", "name"},
		{"arrya", "array"},
		{"artefact", "artifact"},
		{"artifacts", "artifact"},
		{"wyh", ""}, // two of three letters: as well any other word
		{"whi", "why"},
		{"conc", "concurrency"},
		{"ar", ""}, // array or artifact
		{"c", ""},
		{"lr", ""},
		{"versoin", "version"},
		{"", ""},
		{"a-word-that-is-far-longer-than-any-flag-there-is", ""},
	}
	for _, tt := range tests {
		if got := nearest(tt.typed, words); got != tt.want {
			t.Errorf("nearest(%q) = %q, want %q", tt.typed, got, tt.want)
		}
	}
}

func TestWithPolled(t *testing.T) {
	tests := []struct{ in, want string }{
		{"{}", "{\"polled\":true}\n"},
		{" { } \n", "{\"polled\":true}\n"},
		{"{\"a\": {}}\n", "{\"a\": {},\"polled\":true}\n"},
		{"{\"a\":\"}\" }", "{\"a\":\"}\",\"polled\":true}\n"},
	}
	for _, tt := range tests {
		if got := string(withPolled([]byte(tt.in), true)); got != tt.want {
			t.Errorf("withPolled(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
