package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/sandbox"
)

// Job is what a launch wants run. The engine makes it; all but Command, Name and
// Artifacts, which are the author's and have passed the protocol's validators,
// is the operator's.
type Job struct {
	Run       string   `json:"run"`
	Name      string   `json:"name"`    // the launch's
	Command   string   `json:"command"` // for sh -c
	GitDir    string   `json:"git_dir"` // the repository of the run's seals
	Commit    string   `json:"commit"`  // the seal to run on
	Artifacts []string `json:"artifacts,omitempty"`

	Sandbox sandbox.Kind `json:"sandbox"`
	Read    []string     `json:"read,omitempty"` // see [sandbox.Spec]
	Network bool         `json:"network,omitempty"`
	GPUs    int          `json:"gpus,omitempty"` // above 0 the device nodes are there
	CPUs    int          `json:"cpus,omitempty"` // above 0 OMP_NUM_THREADS is set to it
	Env     []string     `json:"env,omitempty"`  // added to the job's environment, as KEY=value
}

// jobFile is the description's name in the launch's directory.
const jobFile = "job.json"

// WriteJob puts the description into the launch's directory, on disk before it
// returns. The directory must exist.
func WriteJob(dir string, job Job) error {
	data, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("describe job %s: %w", job.Name, err)
	}
	if err := durable.WriteFile(filepath.Join(dir, jobFile), append(data, '\n')); err != nil {
		return fmt.Errorf("describe job %s: %w", job.Name, err)
	}
	return nil
}

// readJob refuses what a newer program may have meant by a key that this one
// does not know: a setting that is passed over may be one that confines.
func readJob(dir string) (Job, error) {
	path := filepath.Join(dir, jobFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return Job{}, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var job Job
	if err := decoder.Decode(&job); err != nil {
		return Job{}, fmt.Errorf("read %s: %w", path, err)
	}
	if job.Command == "" || job.Commit == "" || job.Sandbox == "" {
		return Job{}, fmt.Errorf("read %s: command, commit or sandbox is missing", path)
	}
	return job, nil
}
