package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// Count is a number with its noun: "1 launch", "2 launches".
func Count(n int, noun string) string {
	if n != 1 {
		if strings.HasSuffix(noun, "ch") {
			noun += "e"
		}
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Shape is what a launch takes: "30 minutes", "8 tasks of 30 minutes each,
// 2 at a time".
func Shape(l channel.Launch) string {
	each := Count(l.Minutes, "minute")
	if l.Array <= 1 {
		return each
	}
	shape := Count(l.Array, "task") + " of " + each + " each"
	if l.Concurrency > 0 && l.Concurrency < l.Array {
		shape += ", " + strconv.Itoa(l.Concurrency) + " at a time"
	}
	return shape
}

// Span is a length of time in its two largest units: "2 hours 5 minutes", "40 seconds".
func Span(d time.Duration) string {
	switch s := int(d / time.Second); {
	case s < 60:
		return Count(max(s, 0), "second")
	case s < 3600:
		return Count(s/60, "minute")
	case s/60%60 == 0:
		return Count(s/3600, "hour")
	default:
		return Count(s/3600, "hour") + " " + Count(s/60%60, "minute")
	}
}

// Budget is what is left, in one line without a newline.
func Budget(b channel.Budget) string {
	line := Count(b.Launches, "launch") + " and " + Count(b.Sleeps, "sleep")
	if b.GPUHours != nil {
		line = fmt.Sprintf("%s, %s and %.1f GPU hours",
			Count(b.Launches, "launch"), Count(b.Sleeps, "sleep"), *b.GPUHours)
	}
	return "Budget: " + line + " left, what is staged not yet counted."
}

// clock writes the times of one answer: the time of day, with the date in front
// where it is not the day of the answer itself.
type clock struct {
	zone      *time.Location
	year, day int // of the answer
}

func newClock(answered float64, zone *time.Location) clock {
	now := time.Unix(int64(answered), 0).In(zone)
	return clock{zone, now.Year(), now.YearDay()}
}

// at writes a time. Unix seconds that no time can hold are "?".
func (c clock) at(unix float64) string {
	const most = 253402300799 // the last second of the year 9999
	if !(0 < unix && unix <= most) {
		return "?"
	}
	t := time.Unix(int64(unix), 0).In(c.zone)
	if t.Year() != c.year || t.YearDay() != c.day {
		return t.Format(time.DateTime)
	}
	return t.Format(time.TimeOnly)
}

// Bounds of what is shown of the words in an answer, in characters.
const (
	maxWord  = 32 // agents, states, partitions, jobs' ids, lengths of time
	maxName  = 64 // launches and jobs
	maxCause = 200
)

func word(untrusted string) string { return Line(untrusted, maxWord) }
