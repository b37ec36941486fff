package slurm

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/outerloop-go/outerloop/internal/slurmtest"
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

// A real cluster tells what it has. Without accounting nobody knows the accounts, and
// that is an error and no empty list.
func TestOffersOfACluster(t *testing.T) {
	everyKind(t, func(r *rig) {
		partitions, err := r.Partitions(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		if len(partitions) != 3 || partitions[0].Name != "main" || !partitions[0].Default || !partitions[0].Up || partitions[0].Nodes != 1 {
			r.t.Errorf("the partitions are %+v", partitions)
		}
		accounts, err := r.Accounts(r.t.Context())
		if known := strings.HasSuffix(r.t.Name(), "/accounting"); known != (err == nil) || known && accounts[0] != slurmtest.Account {
			r.t.Errorf("the accounts are %q (%v)", accounts, err)
		}
	})
}
