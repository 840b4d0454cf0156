package cmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/progress"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/text"
)

// nothingToDo says of an error that it means that there was nothing to do; any other it
// returns.
func nothingToDo(p *process, f runFlags, ev *progress.Events, err error) error {
	status := ""
	switch {
	case errors.Is(err, harness.ErrAllFresh):
		status, err = "fresh", harness.ErrAllFresh
	case errors.Is(err, harness.ErrNothingSelected):
		status, err = "nothing", f.narrow.nothing(err)
	case errors.Is(err, harness.ErrComplete):
		status = "complete"
	default:
		return err
	}
	ev.Idle(status, err)
	if !f.asJSON && !f.quiet {
		_, err = fmt.Fprintln(p.stdout, err)
		return err
	}
	return nil
}

// summary prints a report, and compareSummary a comparison, for the terminal there is.
func (p *process) summary(r model.Report) error {
	out, screen := console.Screen(p.stdout, p.env)
	return text.Summary(out, r, screen)
}

func (p *process) compareSummary(c compare.Comparison) error {
	out, screen := console.Screen(p.stdout, p.env)
	return text.CompareSummary(out, c, screen)
}

// printRun prints the summary and the next commands.
func (p *process) printRun(o harness.Options, res harness.Result, report model.Report) error {
	if err := p.summary(report); err != nil {
		return err
	}
	run, next := res.Dir, ""
	if dir, err := rundir.Find(o.Runs, "latest"); err == nil && dir == res.Dir && o.Runs == "runs" {
		run = "latest"
	}
	if example := text.FailedExample(report); example != "" {
		next = fmt.Sprintf("show    cupel show %s %s\n", run, example)
	}
	if n := scriptedLeftOut(o); n > 0 {
		suite := ""
		if o.Suite.Path != builtinPrefix+"counts" {
			suite = " --suite " + o.Suite.Path
		}
		next += fmt.Sprintf("\nNot run: %s, which test cupel and not a model. To run them:\n        cupel run%s --candidate scripted\n", console.Count(n, "scripted task"), suite)
	}
	_, err := fmt.Fprintf(p.stdout, "\n%sledger  %s\nreport  %s\nview    cupel view %s\ngate    cupel gate %s\n%s",
		forkLine(res.Manifest), res.Dir, filepath.Join(res.Dir, "report", "index.html"), run, run, next)
	return err
}

// scriptedLeftOut counts the scripted tasks of the suite if nothing else was left out.
func scriptedLeftOut(o harness.Options) (n int) {
	if s := o.Select; s.Tasks != nil || s.Tags != nil || s.Candidates != nil || s.Episode != nil || o.Fork != nil {
		return 0
	}
	for i := range o.Suite.Tasks {
		if o.Suite.Tasks[i].Scripted {
			n++
		}
	}
	return n
}

// runOutcome turns episodes without a result into one error with its exit code and the way on.
func runOutcome(res harness.Result, resume string) error {
	o, n := res.Manifest.Outcomes, res.Manifest.Outcomes.WithoutResult()
	if n == 0 {
		return nil
	}
	lines := lostLines(res.Excluded.First)
	code := exit.Failed
	for _, kind := range []string{episode.KindCassetteMissing, episode.KindCassetteCorrupt, episode.KindCassetteStale, episode.KindReplayMiss} {
		if res.Excluded.ByKind[kind] > 0 {
			code = exit.Replay
		}
	}
	total := res.Manifest.Episodes + o.Unfinished
	head := fmt.Sprintf("%d of %d episodes have no result; the ledger is in %s", n, total, res.Dir)
	switch {
	case res.Interrupted:
		code = exit.Interrupted
		head = fmt.Sprintf("interrupted after %d of %d episodes; their ledger is in %s", res.Manifest.Episodes, total, res.Dir)
	case res.Manifest.Stopped != "":
		head = res.Manifest.Stopped + "\n" + head
	}
	lines = append(append(lines, res.Waiting...), "resume with: "+resume)
	return exit.With(code, errors.New(head+"\n"+strings.Join(lines, "\n")))
}

// lostLines say why the first few episodes have no result. What a cap stopped, the
// run as a whole tells.
func lostLines(lost []ledger.Episode) []string {
	var lines []string
	for _, e := range lost {
		if e.Status != ledger.StatusBudgetStop && len(lines) < 3 {
			lines = append(lines, fmt.Sprintf("%s: %s", rundir.EpisodeName(e), e.ErrorText))
		}
	}
	return lines
}

// sayNotUnderstood warns of usage that the token counts of a run do not account for,
// once for each provider and field.
func (p *process) sayNotUnderstood(res harness.Result) {
	for _, d := range res.NotUnderstood {
		_, _ = fmt.Fprintf(p.stderr, "cupel: usage of %s: %s, in %d turns, whose cost is unknown; cupel cassette audit shows the replies\n",
			d.Provider, console.Line(d.What), d.Turns)
	}
}
