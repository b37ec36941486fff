package ledger

import (
	"bytes"
	"fmt"
	"testing"
)

// ledgerOf makes a ledger of so many rows, half of them jobs that came back.
func ledgerOf(rows int) []byte {
	var buf bytes.Buffer
	for i := range rows / 2 {
		s := Submitted{
			Sleep: i / 8, Name: fmt.Sprintf("order-%d", i%8), Why: fmt.Sprintf("does an order of %d still pay", i),
			Minutes: 30, Array: 1, JobIDs: []string{fmt.Sprint(100_000 + i)}, At: at,
		}
		e := Ended{Sleep: s.Sleep, Name: s.Name, ExitCode: code(0), State: "COMPLETED", At: at}
		line, _ := s.line()
		buf.Write(line)
		line, _ = e.line()
		buf.Write(line)
	}
	return buf.Bytes()
}

func BenchmarkHistory100k(b *testing.B) {
	raw := ledgerOf(100_000)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if log, err := readLog(bytes.NewReader(raw), int64(len(raw))); err != nil || log.Lost != 0 || len(log.Launches) != 50_000 {
			b.Fatal(len(log.Launches), log.Lost, err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	path := newLedger(b)
	i := 0
	for b.Loop() {
		i++
		mustAppend(b, path, Ended{Sleep: i, Name: "a", State: "COMPLETED", At: at})
	}
}
