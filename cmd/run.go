package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/progress"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
)

// runFlags are the flags of run that are no settings.
type runFlags struct {
	selection     harness.Selection
	quiet, asJSON bool
	human, stale  bool
	dryRun        bool
	fork, pack    string
	resume        string
	replaySpeed   float64
	narrow        selectFlags
	decide        decideFlags
}

// runHelp is the long help of run.
const runHelp = `Runs every selected task with every selected candidate. Answers come from the
suite's cassettes unless --mode says otherwise:

  replay  (default) from cassettes only, or from cassettes.pack in a suite
          without a cassettes folder; opens no network connection
  record  from the network, kept on cassettes; needs the candidates' keys
  live    from the network, nothing kept

With --human a person at the terminal answers clarifying questions and approves
tool calls, in record and live mode; the answers are kept in replies.yaml of the
run folder, to be copied into the tasks. Without it the tasks' replies and
approvals do.

--failed-in RUN runs what a run did not solve or has no result of, --changed-since
RUN what is not what it was then; with both, what both select. If nothing is
left, that is said, and the exit code is 0. --shard 1/4 runs the first of four
parts of the selection.

With --fork TASK/CANDIDATE[/TRIAL]@TURN a recorded episode is replayed up to a
turn, and goes on from there: in record or live mode with whatever --candidate is
asked next, as often as --trials says. What is recorded replays on its own, as
CANDIDATE.fork-… ; an episode of a run is RUN/EPISODE-ID@TURN.

With --decide trials run in rounds over all tasks, up to --max-trials of each. After
each round a candidate is stopped if it passes or fails, by the acceptance criteria
and, with --baseline, by the comparison: see docs/sequential.md.

An interrupted run continues with --resume RUN: episodes with a result are kept,
the others, and those that an infrastructure error ended, are run. A recording
asks nothing again that it has: see docs/cassettes.md. Without --resume
it pays for every request again.

With --dry-run nothing is run, sent or written, and no key is needed: it prints
what would be run, what is left out, and what that is likely to come to by the
last runs of the suite below --runs and the prices of the day. Of "low – expected
– high" the ends are 1.96 standard deviations of the forecast's error apart from
the middle (the spread of episodes of one task, and of its mean): no guarantee.
Without a past run only bounds are known; ? is unknown.

Writes runs/<id>/ with three Parquet files, run.json and report/. The exit code
says whether the run could be carried out; the verdict as an exit code is
"cupel gate".`

func newRun(p *process) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run a suite and write ledger, report and verdict",
		Long:  runHelp,
		Example: `  cupel run
  cupel run --suite suites/mine --mode record --candidate gpt --trials 3
  cupel run --mode record --stale
  cupel run --task 'G0*' --candidate strong
  cupel run --resume latest
  cupel run --failed-in latest
  cupel run --shard 1/4 --max-cost 5 --mode live
  cupel run --mode live --trials 3 --dry-run
  cupel run --mode record --decide --baseline latest --max-trials 5
  cupel run --mode live --fork G09/weak/1@1 --candidate strong --trials 5`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runRun(c, p, f) },
	}
	f.add(cmd.Flags())
	return cmd
}

// add declares the flags.
func (f *runFlags) add(fl *pflag.FlagSet) {
	fl.String("config", config.Name, "configuration file")
	fl.String("suite", "", "suite folder, builtin:counts, builtin:desk or builtin:research (default: the configuration's, else builtin:counts)")
	fl.String("mode", "", "replay, record or live (default replay)")
	fl.String("runs", "", "folder for run folders (default runs)")
	fl.StringVar(&f.pack, "pack", "", "replay from this pack (see cupel cassette pack), not from the suite's cassettes folder")
	fl.Int("trials", 1, "repetitions of each task")
	fl.Int("concurrency", 0, "episodes that run in parallel, of all providers together (default: one per processor in replay, otherwise 8 for each provider and key)")
	fl.Int64("seed", 1, "seed of the run's ids")
	fl.String("max-cost", "", "most `USD` the run may spend, such as 5 or 0.25 (record and live mode; default no cap)")
	fl.Int64("max-tokens", 0, "most tokens the run may use, of all kinds (record and live mode; default no cap)")
	fl.Int64("max-requests", 0, "most requests the run may make, every attempt counted (record and live mode; default no cap)")
	selectionFlags(fl, &f.selection)
	f.narrow.add(fl)
	f.decide.add(fl)
	fl.StringVar(&f.fork, "fork", "", "go on from this recorded episode and turn: TASK/CANDIDATE[/TRIAL]@TURN")
	fl.StringVar(&f.resume, "resume", "", "go on with this interrupted run: run what it has no result of, with the settings it was begun with")
	fl.BoolVar(&f.human, "human", false, "ask on this terminal instead of the tasks' replies and approvals (record and live mode)")
	fl.BoolVar(&f.stale, "stale", false, "record only what is stale, missing or corrupt (record mode; see cupel cassette status)")
	fl.Float64Var(&f.replaySpeed, "replay-speed", 0, "replay at the recorded pace times this: 1 as recorded, 2 twice as fast (default: at once)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "run nothing: print episodes, expected calls, tokens, cost and duration")
	fl.BoolVar(&f.quiet, "quiet", false, "print nothing but errors")
	fl.BoolVar(&f.asJSON, "json", false, "print events as JSON lines, the last one the result (see docs/runs.md, Events)")
}

func runRun(c *cobra.Command, p *process, f runFlags) error {
	ev := progress.NewEvents(io.Discard)
	if f.asJSON {
		ev = progress.NewEvents(p.json)
	}
	return ev.Close(carryOut(c, p, f, ev))
}

func carryOut(c *cobra.Command, p *process, f runFlags, ev *progress.Events) error {
	// There is no live line where questions are asked on the same terminal.
	prog := progress.New(p.stderr, p.now, func(s string) string { return p.secrets.Redact("output", s) }, !f.human)
	if f.quiet || f.asJSON {
		prog.Hide()
	}
	ctx, drain, stop := interrupts(c.Context(), prog)
	defer stop()
	o, cleanup, err := f.options(ctx, c, p, func(m manifest.Manifest, stops []manifest.Stop) {
		ev.Round(m, stops)
		prog.Round(m, stops)
	})
	if err != nil {
		return nothingToDo(p, f, ev, err)
	}
	defer cleanup()
	if f.dryRun {
		return f.forecast(p, o, ev)
	}
	o.Drain, o.Progress, o.Watch = drain, prog.Episode, prog.Watch
	prog.SetCap(o.Caps.CostNanoUSD)
	ev.Mode = cmp.Or(o.Mode, recorder.Replay)
	if f.asJSON {
		o.Progress, o.Watch = ev.Episode, ev.Watch
	}
	kept := p.keepDetails(&o)
	back := p.collectLess()
	res, err := harness.Run(ctx, o)
	back() // a report is made of all that there is
	prog.Finish()
	if err != nil {
		return nothingToDo(p, f, ev, err)
	}
	stop() // the report has its own
	details := p.detailsWith(c.Context(), o, res.Dir)
	details.Kept, details.Hurry = kept, res.Interrupted
	report, err := writeReportOf(res.Dir, details)
	if err != nil {
		return err
	}
	outcome := runOutcome(res)
	ev.End(res, report, outcome)
	if !f.asJSON && !f.quiet {
		if err := printRun(p, res, report); err != nil {
			return err
		}
	}
	p.reportRedactions(res)
	p.sayNotUnderstood(res)
	if len(res.Answers) > 0 && !f.quiet {
		if err := episode.WriteAnswers(p.stderr, res.Answers); err != nil {
			return err
		}
	}
	return outcome
}

// options turns the command line into what the harness takes.
// said is called after each round of a run with --decide.
func (f *runFlags) options(ctx context.Context, c *cobra.Command, p *process, said func(manifest.Manifest, []manifest.Stop)) (o harness.Options, cleanup func(), err error) {
	cleanup = func() {}
	if f.resume == "" { // which allows none of these flags
		if err := f.decide.check(c.Flags()); err != nil {
			return o, cleanup, err
		}
	}
	var cfg config.Config
	var saved savedRun
	dir := ""
	if f.resume != "" {
		cfg, saved, dir, err = loadResumedRun(c, p, f)
	} else if cfg, err = p.load(c); err == nil && f.fork != "" {
		saved.Fork, err = readFork(&cfg, f.fork)
	}
	if err != nil {
		return o, cleanup, err
	}
	if o, cleanup, err = f.base(ctx, p, cfg); err != nil {
		return o, cleanup, err
	}
	o.Fork, o.Stale, o.ReplaySpeed = saved.Fork, f.stale, f.replaySpeed
	if err = errors.Join(cfg.CheckCaps(), f.narrow.narrow(cfg.Runs, &o), f.addDecide(p, cfg, &o, said)); err != nil {
		return o, cleanup, err
	}
	if dir != "" {
		o.Resume = filepath.Base(dir)
	}
	if f.pack != "" {
		closePack, err := openPack(&o, f.pack)
		if err != nil {
			return o, cleanup, err
		}
		closeSim := cleanup
		cleanup = func() { closePack(); closeSim() }
	}
	if f.human {
		err = p.askOnTerminal(&o)
	}
	o.Settings = f.save(cfg, o.Fork, o.Caps)
	return o, cleanup, err
}

// interrupts makes the first Ctrl-C drain the run, which ends it within about a second,
// and the second cancel it.
func interrupts(parent context.Context, stderr io.Writer) (context.Context, <-chan struct{}, func()) {
	ctx, cancel := context.WithCancel(parent)
	drain := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-signals:
			}
			if n == 0 {
				_, _ = fmt.Fprintln(stderr, "\ncupel: stopping: requests in flight have a second to end; Ctrl-C again stops now")
				close(drain)
			} else {
				cancel()
			}
		}
	}()
	return ctx, drain, sync.OnceFunc(func() { signal.Stop(signals); close(done); cancel() })
}
