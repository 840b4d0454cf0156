package compare

import (
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/judges"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
)

// Names are a name for each side, such as the candidates to be compared.
type Names struct {
	Baseline string `json:"baseline"`
	New      string `json:"new"`
}

// kindOf is what went wrong in an episode; false when nothing did.
type kindOf func(ledger.EpisodeRows) (failure.Kind, bool)

// Builder makes a Comparison of episodes that come one by one. It keeps about 150
// bytes of an episode and 8 of a turn, and no pointer into the rows. It is not safe
// for concurrent use.
type Builder struct {
	baselines []*side
	new       *side
	pairs     []Names
	rules     Rules
	kindOf    kindOf
}

// NewBuilder returns a builder without episodes. baselines are one run or more of an
// unchanged configuration, which are pooled: see CheckPool. The new run may be the
// only one of them. The rules must be valid.
func NewBuilder(baselines []manifest.Manifest, newRun manifest.Manifest, pairs []Names, rules Rules) *Builder {
	b := &Builder{new: newSide(newRun), pairs: pairs, rules: rules.Resolved(), kindOf: kindByRule}
	for i, m := range baselines {
		s := newSide(m)
		s.run = int32(i)
		b.baselines = append(b.baselines, s)
	}
	for _, p := range pairs {
		b.new.open(p.New)
		for _, s := range b.baselines {
			s.open(p.Baseline)
		}
	}
	return b
}

// AddBaseline counts an episode of the run-th baseline, from 0. Those of candidates
// that are not compared are passed over.
func (b *Builder) AddBaseline(run int, rows ledger.EpisodeRows) {
	b.baselines[run].add(rows, b.kindOf)
}

// baseline is the first baseline run, which represents all of them where episodes and settings
// are shown.
func (b *Builder) baseline() *side { return b.baselines[0] }

// AddNew counts an episode of the new run.
func (b *Builder) AddNew(rows ledger.EpisodeRows) { b.new.add(rows, b.kindOf) }

// Comparison returns the finished comparison; do not use the builder afterwards. An
// error says that a p-value cannot be adjusted: a fault of cupel, never of the runs.
func (b *Builder) Comparison() (Comparison, error) {
	c := Comparison{
		Format: 3, OneRun: len(b.pairs) > 0, Baseline: sideOf(b.baseline().manifest), New: sideOf(b.new.manifest), Rules: b.rules,
		Differences: append([]Difference{}, Differences(b.baseline().manifest, b.new.manifest, b.pairs)...),
		Pairs:       []Pair{}, Notes: []string{},
	}
	for _, s := range b.baselines[1:] {
		c.Pooled = append(c.Pooled, sideOf(s.manifest))
		for _, d := range Differences(s.manifest, b.new.manifest, b.pairs) {
			if !slices.Contains(c.Differences, d) {
				c.Differences = append(c.Differences, d)
			}
		}
	}
	all, err := b.judge(b.skipped(&c))
	if err != nil {
		return Comparison{}, err
	}
	if err := b.describe(all); err != nil {
		return Comparison{}, err
	}
	for i := range all {
		c.Pairs = append(c.Pairs, all[i].Pair)
		c.OneRun = c.OneRun && all[i].oneRun
	}
	c.Verdict = worst(all)
	c.Headline = headline(c, all)
	b.noteKnown(&c, all)
	var models []string
	for _, s := range b.baselines {
		models = append(models, modelNotes(s.manifest, b.new.manifest, b.pairs)...)
	}
	c.Notes = append(c.Notes, slices.Compact(slices.Sorted(slices.Values(models)))...)
	c.Notes = append(c.Notes, judges.Uncorrected(b.new.manifest.Judges, "differences between the runs. If a judge errs as often in both, they are larger than they look")...)
	return c, nil
}

// oneRun says that a pair is of two candidates of one run.
func (b *Builder) oneRun(p Names) bool {
	return b.baseline().manifest.RunID == b.new.manifest.RunID && p.Baseline != p.New
}

// judge compares all pairs by their gating metrics, down to their verdicts.
func (b *Builder) judge(skip map[string][]string) ([]comparing, error) {
	all := make([]comparing, len(b.pairs))
	for i, names := range b.pairs {
		all[i] = b.compare(names, skip)
	}
	if err := decide(all, b.rules); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].conclude(b.rules)
	}
	return all, nil
}

// describe adds what decides nothing: the power behind the verdicts, the other
// metrics, tasks, and kinds of failure.
func (b *Builder) describe(all []comparing) error {
	for _, m := range gather(all, func(p *comparing) []measured { return p.gating }) {
		m.power(b.rules.Alpha)
	}
	for i := range all {
		all[i].rest = all[i].measure(b.rules, false)
		kinds, err := failureChanges(all[i].tasks, b.rules.Alpha)
		if err != nil {
			return err
		}
		all[i].FailureChanges = kinds
	}
	rest := gather(all, func(p *comparing) []measured { return p.rest })
	if err := adjust(rest, func(m *measured) *measured { return m }, multiple.BenjaminiHochberg); err != nil {
		return err
	}
	if err := b.classify(all); err != nil {
		return err
	}
	for i := range all {
		p := &all[i]
		for _, list := range [][]measured{p.gating, p.rest} {
			for k := range list {
				p.Metrics = append(p.Metrics, list[k].Metric)
			}
		}
	}
	return nil
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
	// look is the one at the new run's trials, of a run that was decided round by round.
	look stat.Look
	// lost names the pairs that infrastructure and harness took a result from, resume the
	// runs that can run them.
	lost, resume []string
	// gap says that more was lost than max_infra; cut that a run ended before its plan.
	// Both are empty if that is not so.
	gap, cut string
	// oneRun says that both candidates are of one run.
	oneRun bool
	// replay says that both sides of every pair with a result are one recording.
	replay bool
	// short is the reason of the verdict for the headline, better the improvement of a pass;
	// empty if there is none.
	short, better string
}

// compare measures one pair.
func (b *Builder) compare(names Names, skip map[string][]string) comparing {
	p := comparing{
		Pair: Pair{
			Labels: Names{"baseline", "new"}, Baseline: candidate(b.baseline().manifest, names.Baseline), New: candidate(b.new.manifest, names.New),
			Metrics: []Metric{}, Tasks: []Task{}, FailureChanges: []FailureChange{},
		},
		names: names, tasks: b.join(names, skip), oneRun: b.oneRun(names),
	}
	if d := b.new.manifest.Decide; d != nil {
		p.look = stat.Look{Rounds: d.Rounds, At: d.Look(names.New)}
	}
	if p.oneRun {
		p.Labels = Names{clip.FirstBytes(names.Baseline, maxWord), clip.FirstBytes(names.New, maxWord)}
	}
	for i := range p.tasks {
		j := &p.tasks[i]
		p.Episodes += len(j.twins)
		without, extra := j.unpaired()
		p.BaselineOnly, p.NewOnly = p.BaselineOnly+without, p.NewOnly+extra
		p.WithoutResult += len(j.twins) - len(j.scored)
		if j.left() {
			p.Known += len(j.twins)
		}
	}
	b.missing(&p)
	p.replay = replayed(p.tasks)
	p.gating = p.measure(b.rules, true)
	if len(p.lost) > 0 {
		worst := p.extreme(b.rules, false)
		for i := range p.gating {
			p.gating[i].worst = worst[p.gating[i].Name]
		}
	}
	if p.gap != "" {
		best := p.extreme(b.rules, true)
		for i := range p.gating {
			p.gating[i].best = best[p.gating[i].Name]
		}
	}
	return p
}

func sideOf(m manifest.Manifest) Side {
	return Side{
		RunID: m.RunID, Suite: m.Suite, Mode: m.Mode, Status: m.Status, Started: m.Started,
		CodeVersion: m.CodeVersion, Trials: m.Trials, Simulated: m.Simulated,
	}
}
