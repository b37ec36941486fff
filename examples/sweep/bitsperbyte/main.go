// Bitsperbyte measures how well an n-gram model of bytes, trained on some Go
// source files, predicts others that it has not seen.
//
//	bitsperbyte -src "$(go env GOROOT)/src" -order 5 -out result.json
//
// It prints one line for people and, with -out, writes the measurement as JSON.
// The same sources and flags give the same numbers, but for the seconds it
// took. A run uses one core for a few seconds.
//
// It exits with 0 when it has measured, 1 when it could not, and 2 when it was
// called wrongly.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"time"
)

const (
	exitDone    = 0
	exitFailure = 1
	exitUsage   = 2

	// maxTextBytes keeps a trie of the highest order within some 10 GB, and the
	// numbers of its nodes within 32 bits.
	maxTextBytes = 32 << 20
)

// A Result is what -out writes.
type Result struct {
	Params
	BitsPerByte float64 `json:"bits_per_byte"` // mean over the test bytes, to six decimals
	TrainBytes  int     `json:"train_bytes"`
	TrainFiles  int     `json:"train_files"`
	TestBytes   int     `json:"test_bytes"`
	TestFiles   int     `json:"test_files"`
	Contexts    int     `json:"contexts"` // see Model.Contexts
	Seconds     float64 `json:"seconds"`  // wall time: the one field that is not reproducible
}

type options struct {
	Params
	src, out              string
	trainBytes, testBytes int
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		fmt.Fprintf(stderr, "bitsperbyte: error: %v\nbitsperbyte: hint: -help lists the flags and their bounds\n", err)
		return exitUsage
	}
	r, err := measure(o)
	if err == nil && o.out != "" {
		err = write(o.out, r)
	}
	if err != nil {
		fmt.Fprintf(stderr, "bitsperbyte: error: %v\n", err)
		return exitFailure
	}
	fmt.Fprintf(stdout, "order %d, discount %g, strength %g: %.4f bits per byte (trained on %d files, tested on %d others, %.1f s)\n",
		r.Order, r.Discount, r.Strength, r.BitsPerByte, r.TrainFiles, r.TestFiles, r.Seconds)
	return exitDone
}

// parse reads the flags. Asked for help, it writes that to help and returns
// flag.ErrHelp.
func parse(args []string, help io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("bitsperbyte", flag.ContinueOnError)
	f.StringVar(&o.src, "src", "", "`directory` of Go sources to train and test on (required)")
	f.StringVar(&o.out, "out", "", "`file` for the result as JSON")
	f.IntVar(&o.Order, "order", 3, fmt.Sprintf("how many preceding bytes a prediction looks at, 0 to %d", maxOrder))
	f.Float64Var(&o.Discount, "discount", 0.5, "what every count gives up to the next shorter context, 0 to below 1")
	f.Float64Var(&o.Strength, "strength", 1, "how many observations the next shorter context is worth, 0 or more")
	f.IntVar(&o.trainBytes, "train-bytes", 4<<20, fmt.Sprintf("most bytes to train on, 1 to %d", maxTextBytes))
	f.IntVar(&o.testBytes, "test-bytes", 1<<20, fmt.Sprintf("most bytes to test on, 1 to %d", maxTextBytes))

	// The flag package would print every error together with all flags.
	f.SetOutput(io.Discard)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(help)
			f.Usage()
		}
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, o.check()
}

func (o options) check() error {
	switch {
	case o.src == "":
		return errors.New("-src is missing: name a directory of Go sources, such as $(go env GOROOT)/src")
	case o.Order < 0 || o.Order > maxOrder:
		return fmt.Errorf("-order %d is not between 0 and %d", o.Order, maxOrder)
	case !(o.Discount >= 0 && o.Discount < 1): // so put, NaN fails too
		return fmt.Errorf("-discount %g is not at least 0 and below 1", o.Discount)
	case !(o.Strength >= 0) || math.IsInf(o.Strength, 1):
		return fmt.Errorf("-strength %g is not a finite number of at least 0", o.Strength)
	case o.Discount == 0 && o.Strength == 0:
		return errors.New("-discount and -strength are both 0: bytes that were not seen would be impossible")
	case o.trainBytes < 1 || o.trainBytes > maxTextBytes:
		return fmt.Errorf("-train-bytes %d is not between 1 and %d", o.trainBytes, maxTextBytes)
	case o.testBytes < 1 || o.testBytes > maxTextBytes:
		return fmt.Errorf("-test-bytes %d is not between 1 and %d", o.testBytes, maxTextBytes)
	}
	return nil
}

func measure(o options) (Result, error) {
	start := time.Now()
	corpus, err := ReadCorpus(os.DirFS(o.src), o.trainBytes, o.testBytes)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", o.src, err)
	}
	m := NewModel(o.Params)
	for _, text := range corpus.Train.Texts {
		m.Train(text)
	}
	var bits float64
	for _, text := range corpus.Test.Texts {
		bits += m.Bits(text)
	}
	return Result{
		Params: o.Params,
		// Rounded, since the last digits of a long sum depend on whether the
		// processor fuses its multiplications with its additions.
		BitsPerByte: math.Round(bits/float64(corpus.Test.Bytes)*1e6) / 1e6,
		TrainBytes:  corpus.Train.Bytes,
		TrainFiles:  len(corpus.Train.Texts),
		TestBytes:   corpus.Test.Bytes,
		TestFiles:   len(corpus.Test.Texts),
		Contexts:    m.Contexts(),
		Seconds:     math.Round(time.Since(start).Seconds()*1e3) / 1e3,
	}, nil
}

func write(name string, r Result) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the result: %w", err)
	}
	return os.WriteFile(name, append(data, '\n'), 0o644)
}
