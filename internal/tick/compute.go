package tick

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/settings"
	"github.com/outerloop-go/outerloop/slurm"
	"github.com/outerloop-go/outerloop/slurm/local"
)

// compute is where the jobs of a state root run. It is kept in the state root:
// ticks, legs and jobs, on whatever machine, must agree on it, and an operator's
// settings file that is edited later must not move what is under way.
type compute struct {
	Kind string `json:"kind"` // local or slurm
	engine.Placement

	// What the one machine of the local backend hands out.
	CPUs int `json:"cpus,omitempty"` // 0 for one slot a CPU
	GPUs int `json:"gpus"`           // -1 for as many as nvidia-smi lists
}

const (
	kindLocal = "local"
	kindSlurm = "slurm"

	computeFile = "compute.json"
)

// readCompute returns what is kept; known is false where nothing is yet.
func readCompute(root engine.Root) (c compute, known bool, err error) {
	path := filepath.Join(root.Path(), computeFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return compute{Kind: kindLocal, GPUs: -1}, false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil || c.Kind != kindLocal && c.Kind != kindSlurm {
		return compute{}, false, failed("remove it; outerloop-tick new writes it anew", "%s cannot be read: %v", path, err)
	}
	return c, true, nil
}

func (c compute) save(root engine.Root) error {
	raw, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(root.Path(), computeFile), append(raw, '\n'))
}

// localGrace is the time between SIGTERM and SIGKILL for a job of the local
// backend: that of Slurm (KillWait), and more than an author or a command gets
// from the leg or runner that has to seal or deliver after it.
const localGrace = 30 * time.Second

// backend opens what runs the jobs.
func (c compute) backend(root engine.Root, program engine.Program, log *slog.Logger) (slurm.Backend, error) {
	if c.Kind == kindSlurm {
		return slurm.New(slurm.Options{Account: c.Account, Partition: c.Partition, QOS: c.QOS, Log: log}), nil
	}
	b, err := local.Open(local.Options{
		Dir:      root.LocalDir(),
		Shepherd: program.Command("shepherd"),
		CPUs:     c.CPUs,
		GPUs:     c.GPUs,
		Grace:    localGrace,
		Log:      log,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the local backend: %w", err)
	}
	return b, nil
}

// placeFlags are the flags by which an operator says where jobs run.
type placeFlags struct {
	local              *bool
	account, partition *string
	slots, gpus        *int
}

func (c *call) placeFlags() placeFlags {
	return placeFlags{
		local:     c.flags.Bool("local", false, "run jobs on this machine, also where Slurm is"),
		account:   c.flags.String("account", "", "Slurm `ACCOUNT` of all jobs; OUTERLOOP_ACCOUNT where it is not given"),
		partition: c.flags.String("partition", "", "Slurm `PARTITION`, or a list, of legs and jobs; OUTERLOOP_PARTITION where it is not given"),
		slots:     c.flags.Int("slots", 0, "`N` CPU slots for jobs on this machine; one a CPU where never given"),
		gpus:      c.flags.Int("slot-gpus", -1, "`N` GPUs to hand out on this machine; counted by nvidia-smi where never given"),
	}
}

// settle decides where the jobs of a state root run, and keeps it. What was kept
// stays unless a flag says otherwise; settings count while nothing is kept.
func (c *call) settle(root engine.Root, f placeFlags) error {
	kept, known, err := readCompute(root)
	if err != nil {
		return err
	}
	set, err := c.settings()
	if err != nil {
		return err
	}
	given := make(map[string]bool)
	c.flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	now := kept
	if !known || given["local"] || given["account"] || given["partition"] {
		if now, err = f.choose(set, kept); err != nil {
			return err
		}
	}
	if given["slots"] {
		now.CPUs = *f.slots
	}
	if given["slot-gpus"] {
		now.GPUs = *f.gpus
	}
	if now.CPUs < 0 || now.GPUs < -1 {
		return wrong("give a number of slots, such as --slots 2", "a machine has no negative number of slots")
	}
	if known && now == kept {
		return nil
	}
	return now.save(root)
}

// choose reads the settings of where jobs run.
func (f placeFlags) choose(s *settings.Settings, kept compute) (compute, error) {
	c := compute{Kind: kindLocal, CPUs: kept.CPUs, GPUs: kept.GPUs}
	where := s.Get("COMPUTE")
	switch {
	case *f.local || where.Text == kindLocal:
		return c, nil
	case where.Text != "" && where.Text != kindSlurm:
		return compute{}, wrong("write local or slurm", "%s is %q", where.From, where.Text)
	case !slurm.New(slurm.Options{}).Installed():
		if where.Text == kindSlurm {
			return compute{}, failed("put Slurm's programs on the PATH, or use --local", "%s says slurm, and there is no sbatch", where.From)
		}
		return c, nil
	}
	c.Kind = kindSlurm
	for _, set := range []struct {
		v    settings.Value
		into *string
	}{
		{s.Flag("--account", *f.account, "ACCOUNT"), &c.Account},
		{s.Flag("--partition", *f.partition, "PARTITION"), &c.Partition},
		{s.Get("QOS"), &c.QOS},
		{s.Get("GPU_ACCOUNT"), &c.GPUAccount},
		{s.Get("GPU_PARTITION"), &c.GPUPartition},
	} {
		text, err := set.v.Line()
		if err != nil {
			return compute{}, wrong("write it on one line", "%w", err)
		}
		*set.into = text
	}
	if c.Account == "" {
		return compute{}, wrong("give --account ACCOUNT, set OUTERLOOP_ACCOUNT, or use --local for this machine alone",
			"Slurm is here and no account is set, by which clusters bill")
	}
	return c, nil
}
