package slurm

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePartitions(t *testing.T) {
	got := parsePartitions("banner\nmain*|up|7-00:00:00|3\nspare|down|infinite|1\nmain*|up|7-00:00:00|2\nbad|up|1|many\n")
	want := []Partition{{"main", true, true, "7-00:00:00", 5}, {"spare", false, false, "infinite", 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseAccounts(t *testing.T) {
	got := parseAccounts("research|other\nresearch|research\nresearch|root\n\nbanner\n")
	if want := []string{"research", "other", "root"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
