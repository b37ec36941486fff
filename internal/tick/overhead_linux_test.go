package tick

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
)

// sleeper launches one job a leg and notes when its legs begin.
const sleeper = `set -eu
echo $OUTERLOOP_LEG $(date +%s%N) >> $DIR/begun
cat > prompt
if [ $OUTERLOOP_LEG -lt $SLEEPS ]; then
	syscall-launch --name n$OUTERLOOP_LEG --minutes 5 -- true
else
	echo Done. > report.md
	syscall-submit --report report.md
fi
syscall-sleep
`

// BenchmarkWake measures what lies between the end of a run's last job and the first
// line of the author's next leg, over at least ten wakes. The cluster does most of it:
// it notices the end, settles the dependency and starts the job that is the leg.
func BenchmarkWake(b *testing.B) {
	w := newWeather(b, cluster.Get(b))
	sleeps := max(b.N, 10)
	w.write("author", strings.ReplaceAll(sleeper, "$SLEEPS", strconv.Itoa(sleeps)))
	n := fmt.Sprint(sleeps + 1)
	w.begin("", "--sleeps", n, "--launches", n)
	w.ends(engine.Submitted)
	begun := make(map[int]time.Time)
	for line := range strings.Lines(w.read("begun")) {
		var leg int
		var nano int64
		if _, err := fmt.Sscan(line, &leg, &nano); err != nil {
			b.Fatalf("%q: %v", line, err)
		}
		begun[leg] = time.Unix(0, nano)
	}
	codes, err := filepath.Glob(w.path(w.file("eval-launch-*/exit-code")))
	w.must(err)
	var ends []time.Time
	for _, code := range codes {
		st, err := os.Stat(code)
		w.must(err)
		ends = append(ends, st.ModTime())
	}
	slices.SortFunc(ends, time.Time.Compare)
	if len(ends) != sleeps || len(begun) != sleeps+1 {
		b.Fatalf("%d jobs ended and %d legs began", len(ends), len(begun))
	}
	var took []time.Duration
	for i, end := range ends {
		took = append(took, begun[i+1].Sub(end))
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds(), "s/median")
	b.ReportMetric(took[len(took)-1].Seconds(), "s/worst")
	b.ReportMetric(float64(len(took)), "wakes")
}
