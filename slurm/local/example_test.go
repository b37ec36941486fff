package local_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/outerloop-go/outerloop/slurm"
	"github.com/outerloop-go/outerloop/slurm/local"
)

// A program that is its own shepherd. The jobs go on when it has ended.
func Example() {
	if len(os.Args) > 1 && os.Args[1] == "shepherd" {
		log := slog.New(slog.NewTextHandler(os.Stderr, nil))
		os.Exit(local.Shepherd(os.Args[2:], log))
	}
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	jobs, err := local.Open(local.Options{
		Dir:      "/var/lib/jobs",
		Shepherd: []string{exe, "shepherd"},
		GPUs:     -1,
	})
	if err != nil {
		panic(err)
	}
	id, err := jobs.Submit(context.Background(), slurm.JobSpec{
		Name:    "sweep",
		Command: []string{"/bin/sh", "-c", "echo task $SWEEP_INDEX"},
		Dir:     "/tmp",
		Output:  "sweep-%j.%a.txt",
		Minutes: 5,
		CPUs:    1,
		Array:   8,
	})
	if err != nil {
		panic(err)
	}
	fmt.Println("submitted", id)
}
