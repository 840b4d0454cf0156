package cmd

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/cmd/internal/sides"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
)

// decideFlags are the flags of run that have it stop once it is decided.
type decideFlags struct {
	On bool `json:"-"`
	// Baselines are RUN or RUN:CANDIDATE; in a saved run RUN is its folder.
	Baselines []string `json:"baselines,omitempty"`
	MaxTrials int      `json:"max_trials"`
	// Chosen says that candidates were named, so that each must have a baseline.
	Chosen bool `json:"chosen,omitempty"`
}

const defaultMaxTrials = 5

func (f *decideFlags) add(fl *pflag.FlagSet) {
	fl.BoolVar(&f.On, "decide", false, "run trials in rounds; stop each candidate once it passes or fails")
	fl.StringSliceVar(&f.Baselines, "baseline", nil, "also test for regressions against this `RUN` (or RUN:CANDIDATE); repeatable (with --decide)")
	fl.IntVar(&f.MaxTrials, "max-trials", defaultMaxTrials, "maximum repetitions of each task (with --decide)")
}

// check refuses flags that do not go together with --decide, or only with it.
func (f *decideFlags) check(fl *pflag.FlagSet) error {
	with, why := []string{"baseline", "max-trials"}, "only with --decide: add it, or remove"
	if f.On {
		with, why = []string{"trials", "shard", "fork", "stale", "failed-in", "changed-since"}, "not with --decide, which judges rounds of all tasks up to --max-trials: remove"
	}
	var given []string
	for _, name := range with {
		if fl.Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if given != nil {
		return exit.Usage(fmt.Errorf("%s %s", why, strings.Join(given, ", ")))
	}
	return nil
}

// decider judges the candidates of a run after each of its rounds: by the acceptance
// criteria and, with baselines, by the comparison with them.
type decider struct {
	pool   []sides.Side
	rules  compare.Rules
	chosen bool // see decideFlags
	pairs  []compare.Names
	// said is called after each round with the manifest as it then is.
	said func(m manifest.Manifest, stops []manifest.Stop)
}

// addDecide adds rounds to the options of a run. It replaces the names of baselines by
// their folders, so that a resumed run has the same ones.
func (f *runFlags) addDecide(p *process, cfg config.Config, o *harness.Options, said func(manifest.Manifest, []manifest.Stop)) (err error) {
	if !f.decide.On {
		return nil
	}
	f.decide.Chosen = f.decide.Chosen || len(f.selection.Candidates) > 0
	d := &decider{rules: cfg.Regression, chosen: f.decide.Chosen, said: said}
	if err := d.rules.Validate(); err != nil {
		return exit.Usage(err)
	}
	if len(d.rules.Flaky) > 0 { // otherwise no verdict depends on the day
		d.rules.Today = p.now().UTC().Truncate(24 * time.Hour)
	}
	if d.pool, err = sides.OpenBaselines(cfg.Runs, f.decide.Baselines); err != nil {
		return err
	}
	var digests, ids []string
	for i, b := range d.pool {
		digests, ids = append(digests, b.Manifest.LedgerDigest, b.Selector), append(ids, b.Manifest.RunID)
		f.decide.Baselines[i] = b.Dir
		if b.Selector != "" {
			f.decide.Baselines[i] += ":" + b.Selector
		}
	}
	rules, err := json.Marshal([]any{d.rules.Resolved(), digests})
	if err != nil {
		return fmt.Errorf("--decide: %w", err)
	}
	o.Decide = &harness.Decide{MaxTrials: f.decide.MaxTrials, Baselines: ids, Rules: string(rules), Before: d.before, After: d.after}
	return nil
}

// before refuses baselines that the run could not be compared with, while nothing is
// spent.
func (d *decider) before(m manifest.Manifest) (err error) {
	if d.pool != nil {
		d.pairs, err = sides.Pair(d.pool, d.side(m, nil), d.rules)
	}
	return err
}

// side is the run as the new side of a comparison.
func (d *decider) side(m manifest.Manifest, episodes iter.Seq2[ledger.EpisodeRows, error]) sides.Side {
	s := sides.Side{Manifest: m, Episodes: episodes, Ran: m.Candidates, Chosen: d.chosen}
	for _, c := range m.Candidates {
		if c.Provider != model.Scripted {
			s.Names = append(s.Names, c.Name)
		}
	}
	return s
}

// judgement is what one of the two tests says of a candidate.
type judgement struct {
	verdict        stat.Verdict
	test, sentence string
}

// after judges every candidate that is still running.
func (d *decider) after(m manifest.Manifest, episodes iter.Seq2[ledger.EpisodeRows, error]) ([]manifest.Stop, error) {
	b := reports.NewBuilder(m)
	calibrations, err := rundir.Calibrations(m)
	if err != nil {
		return nil, err
	}
	b.SetJudges(calibrations)
	for rows, err := range episodes {
		if err != nil {
			return nil, err
		}
		b.Add(rows)
	}
	by := map[string][]judgement{}
	for _, c := range b.Report().Candidates {
		by[c.Name] = append(by[c.Name], judgement{c.Verdict, "acceptance", c.Sentence})
	}
	if d.pool != nil {
		c, err := sides.Compare(d.pool, d.side(m, episodes), d.pairs, d.rules)
		if err != nil {
			return nil, err
		}
		for _, p := range c.Pairs {
			by[p.New.Name] = append(by[p.New.Name], judgement{p.Verdict, "regression", p.Sentence})
		}
	}
	var stops []manifest.Stop
	for _, c := range m.Candidates {
		if _, stopped := m.Decide.Stop(c.Name); stopped {
			continue
		}
		if v, why, stop := settle(by[c.Name], m.Decide.Finished == len(m.Decide.Rounds)); stop {
			stops = append(stops, manifest.Stop{Candidate: c.Name, Round: m.Decide.Finished, Verdict: string(v), Reason: why})
		}
	}
	d.said(m, stops)
	return stops, nil
}

// maxReason bounds the reason of a stop, in characters.
const maxReason = 500

// settle says whether a candidate is decided. A fail of either test decides, a pass (or
// no significant regression) only of both; after the last round, whatever there is.
func settle(by []judgement, last bool) (v stat.Verdict, why string, stop bool) {
	var verdicts []stat.Verdict
	var reasons []string
	for _, j := range by {
		if j.verdict == stat.NotJudged { // a script: more trials say nothing
			return j.verdict, j.sentence, true
		}
		verdicts = append(verdicts, j.verdict)
	}
	v = stat.Worst(verdicts)
	for _, j := range by {
		if j.verdict == v {
			reasons = append(reasons, j.test+": "+j.sentence)
		}
	}
	return v, console.OneLine(strings.Join(reasons, " "), maxReason), last || v != stat.Inconclusive
}
