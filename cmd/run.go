package cmd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cupel-eval/cupel/cmd/internal/agents"
	"github.com/cupel-eval/cupel/cmd/internal/commandline"
	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/fleets"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/cmd/internal/progress"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/batching"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
)

// runFlags are the flags of run that are not settings.
type runFlags struct {
	selection     harness.Selection
	quiet, asJSON bool
	human, stale  bool
	dryRun        bool
	otlp          string
	withAgent     bool
	batch         bool
	fork, pack    string
	resume, store string
	replaySpeed   float64
	narrow        selectFlags
	decide        decideFlags
	fleet         fleets.Run
}

// runHelp is the long help of run.
const runHelp = `Runs every selected task with every selected candidate and writes runs/<id>/: ledger,
run.json and report. Replies come from cassettes unless --mode says otherwise:

  replay  from cassettes only, without network (default)
  record  from the providers, stored in cassettes; needs their API keys
  live    from the providers, not stored

--failed-in and --changed-since narrow the selection by an earlier run. --resume
continues an interrupted run without paying for any request twice. --decide stops each
candidate once it passes or fails. --fork continues a recorded episode from a turn with
another candidate. --dry-run prints expected calls, tokens, cost and duration.

The exit code says whether the run completed; "cupel gate" exits with its verdict.
Details: docs/runs.md, docs/cassettes.md, docs/configuration.md, docs/sequential.md.`

func newRun(p *process) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run a suite; write ledger, report and verdict",
		Long:  runHelp,
		Example: `  cupel run
  cupel run --suite suites/mine --mode record --candidate gpt --trials 3
  cupel run --mode record --stale
  cupel run --task 'G0*' --candidate strong
  cupel run --resume latest
  cupel run --failed-in latest
  cupel run --shard 1/4 --max-cost 5 --mode live
  cupel run --mode record --batch --max-cost 20
  cupel run --mode live --trials 3 --dry-run
  cupel run --mode record --decide --baseline latest --max-trials 5
  cupel run --mode live --fork G09/weak/1@1 --candidate strong --trials 5`,
		RunE: func(c *cobra.Command, _ []string) error { return runRun(c, p, f) },
	}
	f.add(cmd.Flags())
	if p.app.Stores != nil {
		cmd.Flags().StringVar(&f.store, "store", "", "store the run when it has ended, in `s3://BUCKET/PREFIX`")
	}
	if p.app.Fleet != nil {
		f.fleet.Add(cmd.Flags())
	}
	return cmd
}

// add declares the flags.
func (f *runFlags) add(fl *pflag.FlagSet) {
	fl.String("config", config.Name, "configuration file")
	fl.String("suite", "", "suite folder, builtin:counts, builtin:desk, builtin:instance or builtin:research (default: the configuration's, else builtin:counts)")
	fl.String("mode", "", "replay, record or live (default replay)")
	fl.String("runs", "", "folder of the runs (default runs)")
	fl.StringVar(&f.pack, "pack", "", "pack of the run's cassettes: a file or folder to replay from, or a folder to record into (default: the suite's cassettes)")
	fl.Int("trials", 1, "repetitions of each task")
	fl.Int("concurrency", 0, "episodes that run in parallel (default: one per processor in replay, otherwise 8 per provider and key)")
	fl.Int64("seed", 1, "seed of the run's ids")
	fl.String("max-cost", "", "maximum cost of the run in `USD`, such as 5 or 0.25 (record and live mode; default no cap)")
	fl.Int64("max-tokens", 0, "maximum tokens of the run, of all kinds (record and live mode; default no cap)")
	fl.Int64("max-requests", 0, "maximum requests of the run, including retries (record and live mode; default no cap)")
	selectionFlags(fl, &f.selection)
	f.narrow.add(fl)
	f.decide.add(fl)
	fl.StringVar(&f.fork, "fork", "", "recorded episode and turn: TASK/CANDIDATE[/TRIAL]@TURN or RUN/EPISODE-ID@TURN; if it awaits input, @approve, @deny or @answer:TEXT")
	fl.StringVar(&f.resume, "resume", "", "resume an interrupted run with its original settings; runs only episodes without a result")
	fl.BoolVar(&f.human, "human", false, "answer questions and approve tool calls on this terminal instead of using the task's scripted replies (record and live mode)")
	fl.BoolVar(&f.stale, "stale", false, "record only stale, missing and corrupt cassettes (record mode)")
	fl.Float64Var(&f.replaySpeed, "replay-speed", 0, "replay at this multiple of the recorded speed: 1 as recorded, 2 twice as fast (default: without delays)")
	fl.BoolVar(&f.withAgent, "with-agent", false, "run external agents against their recordings; by default a replay needs no agent")
	fl.BoolVar(&f.batch, "batch", false, "send the requests of all episodes in batches, at about half the price (record and live mode; see docs/batch.md)")
	otlpFlag(fl, &f.otlp)
	fl.BoolVar(&f.dryRun, "dry-run", false, "print episodes, expected calls, tokens, cost and duration; run nothing")
	fl.BoolVar(&f.quiet, "quiet", false, "print errors only")
	fl.BoolVar(&f.asJSON, "json", false, "print events as JSON lines, the result last (see docs/runs.md, Events)")
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
	ctx, drain, stop := commandline.Interrupts(c.Context(), prog, stopping)
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
		return nothingToDo(p, f, ev, p.forecast(o, f.asJSON, f.quiet))
	}
	o.Drain, o.Progress, o.Watch = drain, prog.Episode, prog.Watch
	prog.SetCap(o.Caps.CostNanoUSD)
	ev.Mode = cmp.Or(o.Mode, recorder.Replay)
	if f.asJSON {
		o.Progress, o.Watch = ev.Episode, ev.Watch
	}
	kept := p.keepDetails(&o)
	res, err := f.run(ctx, p, o)
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
	if !res.Interrupted {
		packing.Finish(o, f.pack, f.quiet, p.stderr)
	}
	outcome := runOutcome(res, f.fleet.ResumeHint(res.Dir))
	ev.End(res, report, f.fleet.ResumeHint(res.Dir), outcome)
	if !f.asJSON && !f.quiet {
		if err := p.printRun(o, res, report); err != nil {
			return err
		}
	}
	if err := errors.Join(p.export(c.Context(), res.Dir, f.otlp, report), p.stores().Push(c.Context(), res.Dir, f.store)); err != nil {
		return errors.Join(outcome, err)
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

// run runs o here, or by the workers of a queue.
func (f *runFlags) run(ctx context.Context, p *process, o harness.Options) (res harness.Result, err error) {
	if err := p.stores().Check(ctx, f.store); err != nil {
		return res, err // before it costs anything
	}
	if !f.fleet.Queued() {
		agents.Warn(p.stderr, o)
		return harness.Run(ctx, o)
	}
	switch {
	case f.human || f.withAgent || o.Fork != nil:
		return res, exit.Usage(errors.New("--human, --with-agent and --fork need this machine; leave --queue out"))
	case f.batch:
		return res, exit.Usage(errors.New("--batch collects the requests of one process, which needs no workers; leave --queue or --batch out"))
	case f.replaySpeed > 0:
		return res, exit.Usage(errors.New("--replay-speed paces one process; leave --queue or --replay-speed out"))
	}
	finish, err := f.fleet.Join(ctx, p.fleet(), &o)
	if err != nil {
		return res, err
	}
	res, err = harness.Run(ctx, o)
	return res, errors.Join(err, finish(err == nil && res.Manifest.Status == "complete"))
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
	o.Fork, o.Stale, o.ReplaySpeed, o.WithAgent = saved.Fork, f.stale, f.replaySpeed, f.withAgent
	if err = errors.Join(cfg.CheckCaps(), f.narrow.narrow(cfg.Runs, &o), f.addDecide(p, cfg, &o, said)); err != nil {
		return o, cleanup, err
	}
	if dir != "" {
		o.Resume = filepath.Base(dir)
	}
	closePack, err := packing.Use(&o, f.pack)
	closeSim := cleanup
	cleanup = func() { closePack(); closeSim() }
	if err != nil {
		return o, cleanup, err
	}
	if f.human {
		err = p.askOnTerminal(&o)
	}
	if f.batch {
		o.Batch = &batching.Settings{}
	}
	o.Settings = f.save(cfg, o.Fork, o.Caps)
	return o, cleanup, err
}

// stopping answers the first Ctrl-C, which drains a run: it ends within about a second.
const stopping = "\ncupel: stopping: requests in flight have a second to end; Ctrl-C again stops now"
