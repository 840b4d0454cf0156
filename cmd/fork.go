package cmd

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// forkOfRun is RUN/EPISODE-ID@TURN. Candidates have no capitals, so that it is no
// TASK/CANDIDATE@TURN.
var forkOfRun = regexp.MustCompile(`^(.+)/([0-9A-Z]{26})@([0-9]{1,9})$`)

// readFork reads what --fork says. An episode of a run brings its suite along,
// unless a flag names another.
func readFork(cfg *config.Config, text string) (*harness.Fork, error) {
	m := forkOfRun.FindStringSubmatch(text)
	if m == nil {
		f, err := harness.ParseFork(text)
		if err != nil {
			return nil, exit.Usage(err)
		}
		return &f, nil
	}
	_, manifest, rows, err := rundir.Load(cfg.Runs, m[1])
	if err != nil {
		return nil, err
	}
	e, err := rundir.FindEpisode(rows, m[2])
	switch {
	case err != nil:
		return nil, err
	case manifest.Mode == "live":
		return nil, exit.Usage(fmt.Errorf("run %s was live: nothing of its texts was kept that a fork could go on from; use --mode record to keep them", manifest.RunID))
	}
	if !cfg.FromFlag("suite") {
		cfg.Suite = manifest.SuitePath
	}
	turn, _ := strconv.Atoi(m[3]) // digits
	return &harness.Fork{
		Task: e.TaskID, Candidate: e.Candidate, Trial: int(e.Trial), Turn: turn, CassetteDigest: e.CassetteDigest,
	}, nil
}

// forkOf is the fork of a run that is to be executed again, and the candidate, by
// the name it has in the configuration, of an episode of the run; no fork is nil.
func forkOf(m manifest.Manifest, candidate string) (*harness.Fork, string) {
	if m.Fork == nil {
		return nil, candidate
	}
	f := harness.Fork{Task: m.Fork.Task, Candidate: m.Fork.Candidate, Trial: m.Fork.Trial, Turn: m.Fork.Turn}
	return &f, f.Base(candidate)
}

// forkLine tells a run's reader what it goes on from; empty unless it is a fork.
func forkLine(m manifest.Manifest) string {
	if m.Fork == nil {
		return ""
	}
	f, _ := forkOf(m, "")
	return fmt.Sprintf("fork    of %s: turns 1 to %d are those of %s\n", f, f.Turn, cmp.Or(m.Fork.Cassette, f.Candidate))
}
