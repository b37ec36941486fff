// Bench measures the project against its targets; see package bench.
//
//	bench [-short] [-soak 10m] BIN
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/outerloop-go/outerloop/internal/bench"
)

func main() {
	if exit, mine := bench.Child(os.Args[1:]); mine {
		os.Exit(exit)
	}
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		os.Exit(1)
	}
}

func measure() error {
	var o bench.Options
	flag.BoolVar(&o.Short, "short", false, "take less time, and fail where something is half again as bad as its target")
	flag.StringVar(&o.Only, "only", "", "measure only the rows with this in their group's name")
	disk := flag.String("disk", ".", "a directory on the disk to measure on")
	soak := flag.Duration("soak", 0, "ask for so long in 10,000 channels, instead")
	flag.Parse()
	if flag.NArg() != 1 {
		return fmt.Errorf("name the directory with the programs")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	lab, err := bench.NewLab(ctx, flag.Arg(0), self, *disk)
	if err != nil {
		return err
	}
	defer lab.Close()
	if *soak > 0 {
		report, err := lab.Soak(ctx, 10_000, 100, *soak)
		fmt.Print(report)
		return err
	}
	rows, err := lab.Rows(ctx, o)
	bench.Print(os.Stdout, rows)
	if err != nil {
		return err
	}
	if worse := bench.Regressions(rows); o.Short && len(worse) > 0 {
		return fmt.Errorf("worse than it may be:\n\t%s", strings.Join(worse, "\n\t"))
	}
	return nil
}
