package cmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
)

// savedRun is the part of the command line that an unfinished run stores, so that
// --resume needs no other flag.
type savedRun struct {
	Config      string         `json:"config,omitempty"`
	Suite       string         `json:"suite"`
	Mode        string         `json:"mode"`
	Prices      string         `json:"prices,omitempty"`
	Pack        string         `json:"pack,omitempty"`
	Fork        *harness.Fork  `json:"fork,omitempty"`
	Human       bool           `json:"human,omitempty"`
	Trials      int            `json:"trials"`
	Concurrency int            `json:"concurrency,omitempty"`
	Seed        int64          `json:"seed"`
	Caps        admission.Caps `json:"caps"`
	ReplaySpeed float64        `json:"replay_speed,omitempty"`
	WithAgent   bool           `json:"with_agent,omitempty"`
	Batch       bool           `json:"batch,omitempty"`
	Decide      *decideFlags   `json:"decide,omitempty"`
}

func (f runFlags) save(cfg config.Config, fork *harness.Fork, caps admission.Caps) []byte {
	saved := savedRun{
		Config: cfg.File, Suite: cfg.Suite, Mode: cfg.Mode, Prices: cfg.Prices, Pack: f.pack, Fork: fork, Human: f.human,
		Trials: cfg.Trials, Concurrency: cfg.Concurrency, Seed: cfg.Seed, Caps: caps, ReplaySpeed: f.replaySpeed, WithAgent: f.withAgent, Batch: f.batch,
	}
	if f.decide.On {
		saved.Decide = &f.decide
	}
	text, _ := json.Marshal(saved) // fails only at a replay speed that is not a number, which the harness refuses
	return text
}

// fixed are the flags that --resume takes from the run.
var fixed = []string{
	"config", "suite", "mode", "pack", "trials", "seed", "task", "candidate", "tag", "fork", "human", "stale", "replay-speed", "with-agent", "batch",
	"shard", "failed-in", "changed-since", "decide", "baseline", "max-trials",
}

// loadResumedRun reads the settings of the run to resume and returns its folder. Flags may
// change only concurrency and caps.
func loadResumedRun(c *cobra.Command, p *process, f *runFlags) (cfg config.Config, saved savedRun, dir string, err error) {
	var given []string
	for _, name := range fixed {
		if fl := c.Flags().Lookup(name); fl != nil && fl.Changed {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 0 {
		return cfg, saved, "", exit.Usage(fmt.Errorf("--resume uses the original settings of the run; remove %s", strings.Join(given, ", ")))
	}
	if cfg, err = p.load(c); err != nil {
		return cfg, saved, "", err
	}
	name := f.resume
	if name == "latest" || name == "previous" {
		name += "-any" // the run to resume may be a shard or a selection
	}
	if dir, err = rundir.Find(cfg.Runs, name); err != nil {
		return cfg, saved, dir, err
	}
	text, err := harness.ReadSettings(dir)
	if errors.Is(err, harness.ErrComplete) {
		// The process that completed it may have been killed before it wrote the report.
		_, failed := writeReportOf(dir, p.detailsOf(c.Context(), cfg, dir))
		return cfg, saved, dir, cmp.Or(failed, err)
	}
	if err != nil {
		return cfg, saved, dir, err
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		return cfg, saved, dir, fmt.Errorf("read settings of %s: %w", dir, err)
	}
	if err := checkResumedFiles(saved, dir); err != nil {
		return cfg, saved, dir, err
	}
	if saved.Config != "" {
		_ = c.Flags().Set("config", saved.Config) // a string flag takes any
	}
	if cfg, err = p.load(c); err != nil {
		return cfg, saved, dir, err
	}
	cfg.Runs, cfg.Suite, cfg.Mode, cfg.Prices = filepath.Dir(dir), saved.Suite, saved.Mode, saved.Prices
	cfg.Trials, cfg.Seed = saved.Trials, saved.Seed
	if !c.Flags().Changed("concurrency") {
		cfg.Concurrency = saved.Concurrency
	}
	cfg.KeepCaps(saved.Caps)
	f.pack, f.human, f.replaySpeed, f.withAgent, f.batch = saved.Pack, saved.Human, saved.ReplaySpeed, saved.WithAgent, saved.Batch
	if saved.Decide != nil {
		f.decide, f.decide.On = *saved.Decide, true
	}
	return cfg, saved, dir, nil
}

// checkResumedFiles checks that the files of a run exist, seen from the working directory.
// Their paths are stored as they were given, because the folder may move to another machine.
func checkResumedFiles(saved savedRun, dir string) error {
	if saved.Mode == string(recorder.Record) {
		saved.Pack = "" // it is made once there is something to write
	}
	for _, path := range []string{saved.Config, saved.Suite, saved.Prices, saved.Pack} {
		if path == "" || strings.HasPrefix(path, builtinPrefix) || builtins[path] != nil {
			continue
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return exit.Usage(fmt.Errorf("%s was started with %s, which does not exist here; resume it in the folder where it was started", dir, path))
		}
	}
	return nil
}

// forkOfRun matches RUN/EPISODE-ID@TURN. Names of candidates have no capitals, so it does
// not match TASK/CANDIDATE@TURN.
var forkOfRun = regexp.MustCompile(`^([^@]+)/([0-9A-Z]{26})@(.+)$`)

// readFork reads the value of --fork. An episode of a run selects the suite of that run,
// unless --suite is given.
func readFork(cfg *config.Config, text string) (*harness.Fork, error) {
	digest := ""
	if m := forkOfRun.FindStringSubmatch(text); m != nil {
		_, manifest, rows, err := rundir.Load(cfg.Runs, m[1])
		if err != nil {
			return nil, err
		}
		e, err := rundir.FindEpisode(rows, m[2])
		switch {
		case err != nil:
			return nil, err
		case manifest.Mode == "live":
			return nil, exit.Usage(fmt.Errorf("cannot fork run %s: a live run stores no prompts or replies; use --mode record", manifest.RunID))
		}
		if !cfg.FromFlag("suite") {
			cfg.Suite = manifest.SuitePath
		}
		digest, text = e.CassetteDigest, fmt.Sprintf("%s/%s/%d@%s", e.TaskID, e.Candidate, e.Trial, m[3])
	}
	f, err := harness.ParseFork(text)
	if err != nil {
		return nil, exit.Usage(err)
	}
	f.CassetteDigest = digest
	return &f, nil
}

// forkOf returns the fork of a run, nil if it is not one, and the name in the configuration
// of one of its candidates.
func forkOf(m manifest.Manifest, candidate string) (*harness.Fork, string) {
	if m.Fork == nil {
		return nil, candidate
	}
	f := harness.Fork{Task: m.Fork.Task, Candidate: m.Fork.Candidate, Trial: m.Fork.Trial, Turn: m.Fork.Turn, Answer: m.Fork.Answer}
	return &f, f.Base(candidate)
}

// forkLine names the episode that a fork continues; empty unless the run is a fork.
func forkLine(m manifest.Manifest) string {
	if m.Fork == nil {
		return ""
	}
	f, _ := forkOf(m, "")
	from := cmp.Or(m.Fork.Cassette, f.Candidate)
	if f.Answer != "" {
		return fmt.Sprintf("fork    of %s: all turns up to the answer are those of %s\n", f, from)
	}
	return fmt.Sprintf("fork    of %s: turns 1 to %d are those of %s\n", f, f.Turn, from)
}
