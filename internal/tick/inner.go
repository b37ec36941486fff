package tick

import (
	"context"

	"github.com/outerloop-go/outerloop/internal/runner"
	"github.com/outerloop-go/outerloop/slurm/local"
)

// The commands of this file are called by the program itself, from the copy in
// the state root. They have no line in the list of commands.

func legCommand() command {
	return command{
		name: "leg", use: "--root DIR --run NAME --leg N",
		detail: "Starts a leg of a run and stays until it is over. The program calls this itself.",
		run:    runLeg,
	}
}

func runLeg(ctx context.Context, c *call, args []string) error {
	rootFlag := c.rootFlag()
	run := c.flags.String("run", "", "`NAME` of the run")
	leg := c.flags.Int("leg", -1, "`N`, the leg")
	if _, err := c.parse(args); err != nil {
		return err
	}
	if *run == "" || *leg < 0 {
		return wrong("this command is for the program itself to call", "leg needs --run and --leg")
	}
	root, err := c.root(*rootFlag)
	if err != nil {
		return err
	}
	e, err := c.engine(root, "", c.log())
	if err != nil {
		return err
	}
	return e.Leg(ctx, *run, *leg)
}

func jobCommand() command {
	return command{
		name: "job", use: "--root DIR --dir DIR",
		detail: "Runs one job of a launch on its seal. The program calls this itself.",
		run:    runJob,
	}
}

func runJob(ctx context.Context, c *call, args []string) error {
	rootFlag := c.rootFlag()
	dir := c.flags.String("dir", "", "`DIR` that the launch was prepared in")
	if _, err := c.parse(args); err != nil {
		return err
	}
	if *dir == "" {
		return wrong("this command is for the program itself to call", "job needs --dir")
	}
	allocation, err := runner.ReadAllocation(c.LookupEnv)
	if err != nil {
		return wrong("this command is for the program itself to call", "%w", err)
	}
	root, err := c.root(*rootFlag)
	if err != nil {
		return err
	}
	program, err := c.program(root, "")
	if err != nil {
		return err
	}
	r := runner.Runner{Scratch: root.ScratchDir(), Shim: program.Command("shim"), Log: c.log()}
	c.status, err = r.Run(ctx, *dir, allocation)
	return err
}

func shepherdCommand() command {
	return command{
		name: "shepherd", use: "…",
		detail: "Watches over one job of the local backend. The program calls this itself.",
		run: func(_ context.Context, c *call, args []string) error {
			c.status = local.Shepherd(args, c.log())
			return nil
		},
	}
}
