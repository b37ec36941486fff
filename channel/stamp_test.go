package channel_test

import (
	"bufio"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

type mtime struct {
	sec  int64
	nsec int32
}

func (m mtime) stamp() channel.Stamp { return channel.StampOf(time.Unix(m.sec, int64(m.nsec))) }

// edges are the times at which an implementation breaks first.
func edges() (list []mtime) {
	for _, sec := range []int64{
		0, 1, -1, -2, 1 << 30, 1<<31 - 1, 1 << 31, -1 << 31, 1<<32 - 1, 1 << 32, 1_700_000_000,
		9_223_372_036, 9_223_372_037, -9_223_372_037, // the ends of int64 nanoseconds, in 2262 and 1677
		15_032_385_535, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1e15, 1e16, 1e17,
		math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1,
		-62135596800, // year 1, the zero time.Time
	} {
		for _, nsec := range []int32{0, 1, 119, 238, 239, 100, 499_999_999, 500_000_000, 500_000_001, 999_999_999, 999_999_881} {
			list = append(list, mtime{sec, nsec})
		}
	}
	return list
}

// mtimes calls yield for the edges and n times at random, mostly of this age.
func mtimes(n int, yield func(mtime)) {
	for _, m := range edges() {
		yield(m)
	}
	random := rand.New(rand.NewPCG(20, 26))
	for i := range n {
		sec := 1_000_000_000 + random.Int64N(3_000_000_000)
		switch i % 8 {
		case 0:
			sec = int64(random.Uint64()) >> random.IntN(63)
		case 1:
			sec = random.Int64N(1<<34) - 1<<31 // what ext4 keeps
		}
		yield(mtime{sec, int32(random.IntN(1_000_000_000))})
	}
}

// half is one part of sec + 1e-9*nsec in double arithmetic, computed without
// the machine's: exactly, then rounded to the nearest double.
func half(x *big.Float) *big.Float {
	f, _ := x.Float64()
	return new(big.Float).SetPrec(2100).SetFloat64(f)
}

func truth(m mtime) float64 {
	exact := func() *big.Float { return new(big.Float).SetPrec(2100) }
	fraction := half(exact().Mul(exact().SetFloat64(1e-9), exact().SetInt64(int64(m.nsec))))
	sum, _ := exact().Add(half(exact().SetInt64(m.sec)), fraction).Float64()
	return sum
}

func TestStampTruth(t *testing.T) {
	mtimes(100_000, func(m mtime) {
		stamp := m.stamp()
		if float64(stamp) != truth(m) {
			t.Fatalf("%+v: %v, want %v", m, stamp, truth(m))
		}
		if back := channel.ParseStamp([]byte(stamp.String())); back != stamp {
			t.Fatalf("%v reads back as %v", stamp, back)
		}
	})
}

// A peer computes the stamp itself and compares float(done) >= st_mtime. Python
// says for a million mtimes whether it would, and whether the text is the repr.
func TestStampPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("python3 is needed here")
		}
		t.Skip("python3 is not here; TestStampTruth computes the same without it")
	}
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", `
import sys
bad = 0
for line in sys.stdin:
    sec, nsec, done = line.split()
    m = int(sec) + 1e-9 * int(nsec)
    if float(done) != m or repr(m) != done:
        bad += 1
        if bad < 5:
            print(sec, nsec, done, repr(m))
print("bad", bad)
`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(in, 1<<16)
	mtimes(n, func(m mtime) { fmt.Fprintln(w, m.sec, m.nsec, m.stamp()) })
	if err := w.Flush(); err != nil {
		t.Error(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "bad 0\n" {
		t.Errorf("sec, nsec, ours, Python's:\n%s", got)
	}
}

// What the kernel marks for a real file is what Python's os.stat compares.
func TestStampOfRealFiles(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here")
	}
	k, _, dir := open(t)
	verbs := []string{}
	for i, m := range edges() {
		verb := fmt.Sprint("v", i)
		path := filepath.Join(dir, verb+"-request")
		write(t, path, "")
		// UnixNano is what os.Chtimes goes by, so 1678 to 2262 only.
		if at := time.Unix(m.sec, int64(m.nsec)); at.Year() > 1678 && at.Year() < 2262 {
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
		stamp, pending, err := k.Pending(verb)
		if err != nil {
			t.Fatal(err)
		}
		if pending != (stamp > 0) {
			t.Errorf("stamp %v pending: %v", stamp, pending)
		}
		if pending {
			if err := k.Answer(verb, stamp, []byte("{}")); err != nil {
				t.Fatal(err)
			}
			verbs = append(verbs, verb)
		}
	}
	out, err := exec.CommandContext(t.Context(), python, append([]string{"-c", `
import os, sys
for verb in sys.argv[2:]:
    path = os.path.join(sys.argv[1], verb)
    done, asked = float(open(path + "-done").read()), os.stat(path + "-request").st_mtime
    if done != asked:
        print(verb, repr(done), repr(asked))
`, dir}, verbs...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestParseStamp(t *testing.T) {
	digits := strings.Repeat("9", 10<<20)
	for text, want := range map[string]channel.Stamp{
		"1700000000.25": 1700000000.25, " 5\n": 5, "+5": 5, "5.": 5, ".5": 0.5, "1e3": 1000, "-2.5": -2.5, "1E+16": 1e16,
		"": 0, "nan": 0, "NaN": 0, "inf": 0, "-inf": 0, "Infinity": 0, "1e999": 0, "-1e999": 0, "1e-999": 0,
		"0x1p3": 0, "1_000": 0, "5x": 0, "5 6": 0, "5,6": 0, "٣": 0, "\x005": 0, "5\x00": 0, "e": 0, ".": 0, "--5": 0,
		digits: 0, strings.Repeat("0", 63) + "7": 7, strings.Repeat("0", 64) + "7": 0,
	} {
		if got := channel.ParseStamp([]byte(text)); got != want {
			t.Errorf("ParseStamp(%.20q) = %v, want %v", text, got, want)
		}
	}
}

// A fused multiply-add rounds once where a peer rounds twice. The spec forbids
// it across the conversions in StampOf; this looks at what the compiler did.
func TestStampNotFused(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, "-gcflags=-S", ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	listing, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, listing)
	}
	if !strings.Contains(string(listing), "FMULD") || !strings.Contains(string(listing), "FADDD") {
		t.Fatal("the listing has no multiplication and addition: it is not that of StampOf")
	}
	for line := range strings.Lines(string(listing)) {
		for _, fused := range []string{"FMADD", "FMSUB", "FNMADD", "FNMSUB"} {
			if strings.Contains(line, fused) {
				t.Errorf("fused: %s", line)
			}
		}
	}
}

// Until 2038 two doubles are 238 ns apart, and moving on by 250 ns is always a
// new stamp. Across that second it takes the next step.
func TestStampStep(t *testing.T) {
	mtimes(100_000, func(m mtime) {
		if m.sec < 0 || m.sec >= 1<<31-1 {
			return
		}
		at := time.Unix(m.sec, int64(m.nsec))
		if channel.StampOf(at.Add(250)) <= channel.StampOf(at) {
			t.Fatalf("%v and 250 ns on are one stamp", at)
		}
	})
}

func FuzzParseStamp(f *testing.F) {
	for _, m := range edges() {
		f.Add([]byte(m.stamp().String()))
	}
	for _, s := range []string{"", "nan", "1e999", "0x1p3", "1_0", " 5 ", "-0", "5e-324", "1.7976931348623157e308"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		stamp := channel.ParseStamp(text)
		if f := float64(stamp); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Fatalf("%q is %v", text, f)
		}
		if len(text) > 64 && stamp != 0 {
			t.Fatalf("%d bytes are taken", len(text))
		}
		back := channel.ParseStamp([]byte(stamp.String()))
		if back != stamp {
			t.Fatalf("%q: %v reads back as %v", text, stamp, back)
		}
		if _, err := strconv.ParseFloat(stamp.String(), 64); err != nil {
			t.Fatal(err)
		}
	})
}
