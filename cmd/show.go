package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/imports"
	"github.com/cupel-eval/cupel/cmd/internal/listing"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
)

func newShow(p *process) *cobra.Command {
	var state bool
	var filter listing.Filter
	cmd := &cobra.Command{
		Use:   "show RUN [EPISODE]",
		Short: "List a run's episodes, or print a transcript",
		Long: `Without EPISODE, lists the episodes of a run. With EPISODE, prints its transcript:
prompts, raw outputs, judgements, tool calls and the answer, replayed from its
cassette; and of an orchestration its agents, tasks and requests to people.
EPISODE is an episode id or task/candidate/trial; the trial may be left out. With
--state, prints instead what the episode changed in the state of its world, and
the harm it did.

On a terminal, long lines are wrapped; elsewhere they are printed as they are.`,
		Example: `  cupel show latest
  cupel show latest --failed --task 'G0*'
  cupel show latest G41/weak
  cupel show latest D07/tools --state`,
		RunE: p.withConfig(func(c *cobra.Command, cfg config.Config, args []string) error {
			dir, m, rows, err := rundir.Load(cfg.Runs, args[0])
			switch {
			case err != nil:
				return err
			case len(args) == 1 && state:
				return exit.Usage(errors.New("--state needs an episode; name it, as in cupel show latest G41/weak --state"))
			case len(args) == 1:
				return p.listEpisodes(m, rows, filter)
			case filter.On():
				return exit.Usage(fmt.Errorf("--failed, --task and --candidate select from a list; remove them, or the episode %s", args[1]))
			}
			e, err := rundir.FindEpisode(rows, args[1])
			if err != nil {
				return err
			}
			return showEpisode(c, p, cfg, dir, m, e, state)
		}),
	}
	fl := cmd.Flags()
	fl.BoolVar(&state, "state", false, "print the changes of the episode to the state of its world")
	fl.BoolVar(&filter.Failed, "failed", false, "list only episodes that are not solved")
	fl.StringSliceVar(&filter.Tasks, "task", nil, "list only these tasks; patterns allowed, repeatable")
	fl.StringSliceVar(&filter.Candidates, "candidate", nil, "list only these candidates; patterns allowed, repeatable")
	runsFlags(cmd)
	packing.Flag(cmd)
	return cmd
}

// listEpisodes lists the episodes that a filter takes.
func (p *process) listEpisodes(m manifest.Manifest, rows []ledger.Episode, filter listing.Filter) error {
	taken, err := filter.Select(rows)
	if err != nil {
		return err
	}
	if err = listing.Write(p.stdout, taken, len(rows), console.Terminal(p.stdout)); err == nil && m.Imported.Format != "" {
		_, err = fmt.Fprintf(p.stdout, "imported (%s): another program made the episodes\n", m.Imported.Format)
	}
	return err
}

// showEpisode replays one episode from its cassette and prints its transcript, or its
// changes to the state of its world.
func showEpisode(c *cobra.Command, p *process, cfg config.Config, dir string, m manifest.Manifest, e ledger.Episode, state bool) error {
	if m.Mode == "live" && e.Provider != episode.ScriptedCandidate {
		return exit.Usage(fmt.Errorf("run %s was live: a live run stores no prompts or replies; use --mode record", m.RunID))
	}
	_, _ = fmt.Fprintf(p.stdout, "episode %s · %s · run %s\n", rundir.EpisodeName(e), e.EpisodeID, m.RunID)
	if m.Imported.Format != "" {
		return imports.Show(p.stdout, dir, m, e, state, console.Terminal(p.stdout))
	}
	o, err := replayOptions(c.Context(), p, cfg, m, e)
	if err != nil {
		return err
	}
	rows, traces, err := harness.Replay(c.Context(), o, int(e.Trial))
	if err != nil {
		if e.Excluded() != "" { // nothing else says why
			_, _ = fmt.Fprintf(p.stdout, "ended as %s, without a result: %s\n", e.Status, e.ErrorText)
		}
		return err
	}
	if state {
		listing.State(p.stdout, rows.Episode, traces)
	} else if err := listing.Transcript(p.stdout, rows, traces, console.Terminal(p.stdout)); err != nil {
		return err
	}
	for _, check := range rows.Episode.Checks {
		mark := "✓"
		if !check.Passed {
			mark = "✗"
		}
		_, _ = fmt.Fprintln(p.stdout, strings.TrimRight(fmt.Sprintf("%s %s  %s", mark, check.Name, check.Detail), " "))
	}
	if rows.Episode.Status != e.Status || rows.Episode.Solved != e.Solved {
		return exit.With(exit.Replay, fmt.Errorf("the replay ended as %s, the ledger says %s; suite, code or cassette changed since the run", rows.Episode.Status, e.Status))
	}
	return nil
}

// replayOptions returns the options that execute an episode of a run again.
func replayOptions(ctx context.Context, p *process, cfg config.Config, m manifest.Manifest, e ledger.Episode) (harness.Options, error) {
	cfg.Suite, cfg.Mode, cfg.Trials, cfg.Seed = m.SuitePath, string(recorder.Replay), int(e.Trial), m.Seed
	fork, candidate := forkOf(m, e.Candidate)
	sel := harness.Selection{Tasks: []string{e.TaskID}, Candidates: []string{candidate}}
	if fork != nil {
		sel.Tasks = nil // the fork's
	}
	o, cleanup, err := options(ctx, p, cfg, sel)
	if err != nil {
		return o, err
	}
	cleanup() // a replay started nothing
	o.Fork = fork
	_, err = packing.Use(&o, cfg.Pack) // it is read until the process ends
	return o, err
}
