package nearest

import (
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	words := strings.Fields("name minutes why array concurrency artifact json help version")
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
		if got := Word(tt.typed, words); got != tt.want {
			t.Errorf("Word(%q) = %q, want %q", tt.typed, got, tt.want)
		}
	}
}
