package compare

import (
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/stat"
)

// Names are the candidates to be compared, one of each side.
type Names struct{ Baseline, Trial string }

// kindOf is what went wrong in an episode; false when nothing did.
type kindOf func(ledger.EpisodeRows) (failure.Kind, bool)

// Builder makes a Comparison of episodes that come one by one. It keeps about 150
// bytes of an episode and 8 of a turn, and no pointer into the rows. It is not safe
// for concurrent use.
type Builder struct {
	baseline, trial *side
	pairs           []Names
	rules           Rules

	kindOf      kindOf
	changed     func(baseline, trial ledger.Manifest) map[string][]string
	differences func(baseline, trial ledger.Manifest, pairs []Names) []Difference
}

// NewBuilder returns a builder without episodes. Both sides may be of the same run.
// The rules must be valid.
func NewBuilder(baseline, trial ledger.Manifest, pairs []Names, rules Rules) *Builder {
	b := &Builder{
		baseline: newSide(baseline), trial: newSide(trial), pairs: pairs, rules: rules.Resolved(),
		kindOf: kindByRule, changed: changed, differences: Differences,
	}
	for _, p := range pairs {
		b.baseline.open(p.Baseline)
		b.trial.open(p.Trial)
	}
	return b
}

// AddBaseline counts an episode of the baseline. Those of candidates that are not
// compared are passed over.
func (b *Builder) AddBaseline(rows ledger.EpisodeRows) { b.baseline.add(rows, b.kindOf) }

// AddTrial counts an episode of the run on trial.
func (b *Builder) AddTrial(rows ledger.EpisodeRows) { b.trial.add(rows, b.kindOf) }

// Comparison returns the finished comparison; the builder is of no use afterwards.
func (b *Builder) Comparison() Comparison {
	c := Comparison{
		Format: 1, Baseline: sideOf(b.baseline.manifest), Trial: sideOf(b.trial.manifest), Rules: b.rules,
		Differences: append([]Difference{}, b.differences(b.baseline.manifest, b.trial.manifest, b.pairs)...),
		Pairs:       []Pair{}, Notes: []string{},
	}
	all := b.judge(b.skipped(&c))
	b.describe(all)
	for i := range all {
		c.Pairs = append(c.Pairs, all[i].Pair)
	}
	c.Verdict = worst(all)
	c.Headline = headline(c, all)
	b.noteKnown(&c, all)
	return c
}

// judge compares all pairs by what gates, down to their verdicts.
func (b *Builder) judge(skip map[string][]string) []comparing {
	all := make([]comparing, len(b.pairs))
	for i, names := range b.pairs {
		all[i] = b.compare(names, skip)
	}
	decide(all, b.rules.Alpha)
	for i := range all {
		all[i].conclude()
	}
	return all
}

// describe adds what decides nothing: the power behind the verdicts, the other
// metrics, tasks, and kinds of failure.
func (b *Builder) describe(all []comparing) {
	family := gather(all, func(p *comparing) []measured { return p.gating })
	for _, m := range family {
		m.power(b.rules.Alpha, len(family))
	}
	for i := range all {
		all[i].rest = all[i].measure(b.rules, false)
		all[i].Drift = drift(all[i].tasks, b.rules.Alpha)
	}
	adjust(gather(all, func(p *comparing) []measured { return p.rest }), stat.BenjaminiHochberg)
	b.classify(all)
	for i := range all {
		p := &all[i]
		for _, list := range [][]measured{p.gating, p.rest} {
			for k := range list {
				p.Metrics = append(p.Metrics, list[k].Metric)
			}
		}
	}
}

// worst is the verdict over all pairs.
func worst(all []comparing) stat.Verdict {
	verdicts := make([]stat.Verdict, len(all))
	for i := range all {
		verdicts[i] = all[i].Verdict
	}
	return stat.Worst(verdicts)
}

// comparing is a pair in the making.
type comparing struct {
	Pair
	names        Names
	tasks        []joined
	gating, rest []measured
	// gap says what too much is missing of for a verdict; cut that the run on
	// trial ended before its plan. Both are empty where that is not so.
	gap, cut string
	// replay says that both sides of every pair with a result are one recording.
	replay bool
	// predicate is the sentence without its subject.
	predicate string
}

// compare measures one pair.
func (b *Builder) compare(names Names, skip map[string][]string) comparing {
	p := comparing{
		Pair: Pair{
			Baseline: b.baseline.candidate(names.Baseline), Trial: b.trial.candidate(names.Trial), Metrics: []Metric{}, Tasks: []Task{}, Drift: []Drift{},
		},
		names: names, tasks: b.join(names, skip),
	}
	for i := range p.tasks {
		j := &p.tasks[i]
		p.Episodes += len(j.twins)
		p.BaselineOnly += len(j.baseline) - len(j.twins)
		p.TrialOnly += len(j.trial) - len(j.twins)
		p.WithoutResult += len(j.twins) - len(j.scored)
		if j.left() {
			p.Known += len(j.twins)
		}
	}
	b.missing(&p)
	p.replay = replayed(p.tasks)
	p.gating = p.measure(b.rules, true)
	return p
}

func sideOf(m ledger.Manifest) Side {
	return Side{
		RunID: m.RunID, Suite: m.Suite, Mode: m.Mode, Status: m.Status, Started: m.Started,
		CodeVersion: m.CodeVersion, Trials: m.Trials, Simulated: m.Simulated,
	}
}
