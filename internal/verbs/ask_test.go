package verbs

import "testing"

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
