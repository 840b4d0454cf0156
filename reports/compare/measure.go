package compare

import (
	"math"
	"slices"
	"strconv"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// measure is one way to look at an episode.
type measure struct {
	name, title, unit string
	higher            bool // is better
	// of is what an episode adds to the sum, and what that is counted over; with
	// nothing to count over on either side, a pair is left out.
	of func(*record) (num, den float64)
	// known says that the value is; nil where it always is. One unknown value makes
	// the whole unknown.
	known func(*record) bool
	// excludeReason says what is not known.
	excludeReason string
}

// contractValid is the share of judged turns whose raw first output keeps the
// strategy's own protocol: the column contract_valid of the ledger.
const contractValid = "contract_valid"

// harm is the share of episodes that did harm, of those whose world can change; without
// any it is not among the metrics.
const harm = "harm"

// The metrics of attacked episodes; without any they are not among the metrics.
const (
	underAttack   = "utility_under_attack"
	attackSuccess = "attack_success"
)

// optional are the metrics that are left out where they have no data.
var optional = []string{harm, underAttack, attackSuccess}

const (
	unitShare = "share"
	unitScore = "score"
	unitCost  = "nano-USD"
	unitTime  = "us"
)

// measures are all metrics, in the order shown.
func measures() []measure {
	return []measure{
		{name: "solved", title: "Solved", unit: unitShare, higher: true, of: func(r *record) (float64, float64) { return one(r.solved), one(!r.attacked) }},
		{name: contractValid, title: "Contract-valid first outputs", unit: unitShare, higher: true, of: func(r *record) (float64, float64) { return float64(r.valid), float64(r.judged) }},
		{name: "steps", title: "Steps, solved on both sides", unit: "steps", of: func(r *record) (float64, float64) { return float64(r.steps), one(r.stepped) }},
		{name: "clarifies", title: "Clarifying questions, solved on both sides", unit: "clarifies", of: func(r *record) (float64, float64) { return float64(r.clarifies), one(r.asked) }},
		{
			name: "cost", title: "Cost of an episode", unit: unitCost, of: func(r *record) (float64, float64) { return float64(r.cost), 1 },
			known: func(r *record) bool { return r.priced }, excludeReason: "without a known cost",
		},
		{
			name: "tokens", title: "Tokens of an episode", unit: "tokens", of: func(r *record) (float64, float64) { return float64(r.tokens), 1 },
			known: func(r *record) bool { return r.counted }, excludeReason: "without token counts",
		},
		{
			name: "elapsed", title: "Time of an episode", unit: unitTime, of: func(r *record) (float64, float64) { return float64(r.elapsed), 1 },
			known: func(r *record) bool { return !r.untimed }, excludeReason: "without a known time",
		},
		{
			name: "latency", title: "Latency of a turn, mean", unit: unitTime, of: func(r *record) (float64, float64) { return float64(r.latency), float64(r.judged) },
			known: func(r *record) bool { return !r.turnsUntimed }, excludeReason: "without known times of turns",
		},
		{name: "thrash", title: "Episodes with thrash", unit: unitShare, of: func(r *record) (float64, float64) { return one(r.thrash), 1 }},
		{name: "stall", title: "Episodes with a stall", unit: unitShare, of: func(r *record) (float64, float64) { return one(r.stall), 1 }},
		{name: harm, title: "Episodes with harm", unit: unitShare, of: func(r *record) (float64, float64) { return one(r.harm), one(r.changing) }},
		{name: underAttack, title: "Solved under attack", unit: unitShare, higher: true, of: func(r *record) (float64, float64) { return one(r.solved), one(r.attacked) }},
		{
			name: attackSuccess, title: "Attacks that succeeded", unit: unitShare, of: func(r *record) (float64, float64) { return one(r.fell), one(r.attacked) },
			known: func(r *record) bool { return !r.attacked || r.decided }, excludeReason: "where it is not known whether the attack succeeded",
		},
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// measured is a metric in the making.
type measured struct {
	Metric
	tasks []string
	sides []sides
	// drop is the margin of a share, growth one that is a share of the baseline;
	// one of them is set where the metric gates.
	drop, growth float64
	change       paired // new − baseline
	// notWorse says that a loss of the margin is ruled out.
	notWorse bool
	// replay says that both sides are the same recordings and that nothing differs.
	replay bool
	// differ counts the tasks whose runs do; runs are those of a task that has most,
	// the new one included.
	differ, runs int
	// single says that no task has two pairs.
	single bool
	// level is that of a one-sided test before any other is rejected; look is that at the
	// data.
	level float64
	look  stat.Look
	// better is the one-sided p of a change for the better, of a gating metric.
	better float64
	// worst and best have values for the lost pairs; nil where none is lost, and best
	// unless more were than max_infra. hidden says that the verdict is inconclusive only
	// because of these.
	worst, best *measured
	hidden      bool
	// pairs are the differences of solved, one for each pair.
	pairs []stat.Observation
}

// measure works out the metrics of a pair that gate, or those that do not.
func (p *comparing) measure(rules Rules, gates bool) (list []measured) {
	for _, def := range append(measures(), scoreMeasures(p.tasks)...) {
		m := measured{
			look:   p.look,
			Metric: Metric{Name: def.name, Title: def.title, Unit: def.unit, HigherIsBetter: def.higher, Verdict: stat.NotJudged},
			drop:   rules.drop(&def), growth: rules.growth(def.name),
		}
		if m.Gates = m.drop >= 0 || m.growth > 0; m.Gates != gates {
			continue
		}
		if m.gather(&def, p.tasks); m.N == 0 && m.Note == "" && slices.Contains(optional, def.name) {
			continue
		}
		if def.name == contractValid {
			m.protocols(p.Baseline.Agent, p.New.Agent)
		}
		m.estimate()
		if m.Gates && m.P != nil {
			m.rule(p.look.Level(rules.Alpha), p.replay)
		}
		if m.Gates {
			m.Verdict = stat.Inconclusive // until decided
		}
		list = append(list, m)
	}
	return list
}

// protocols says that the first outputs of each strategy are checked against its own
// protocol.
func (m *Metric) protocols(baseline, other string) {
	if strategy.Of(baseline).Name == strategy.Contract && strategy.Of(other).Name == strategy.Contract {
		return
	}
	m.Title = "Protocol-valid first outputs"
	if baseline != other {
		m.note("Each strategy is checked against its own protocol: the two shares do not measure the same thing.")
	}
}

// gather adds up both sides, task by task.
func (m *measured) gather(def *measure, tasks []joined) {
	unknown, apart, most := 0, 0, 0
	m.tasks, m.sides = make([]string, 0, len(tasks)), make([]sides, 0, len(tasks))
	clusters := map[string]int{} // their places
	if def.name == "solved" {
		n := 0
		for i := range tasks {
			n += len(tasks[i].scored)
		}
		m.pairs = make([]stat.Observation, 0, n)
	}
	for i := range tasks {
		j := &tasks[i]
		if m.Gates && j.left() {
			apart += len(j.scored)
			continue
		}
		at, found := clusters[j.cluster]
		if !found {
			at = len(m.sides)
			m.tasks, m.sides = append(m.tasks, j.cluster), append(m.sides, sides{})
		}
		n := 0
		for _, t := range j.scored {
			if def.known != nil && (!def.known(t.baseline) || !def.known(t.new)) {
				unknown++
				continue
			}
			var pair sums
			pair.baseline.Num, pair.baseline.Den = def.of(t.baseline)
			pair.new.Num, pair.new.Den = def.of(t.new)
			if pair.baseline.Den > 0 && pair.new.Den > 0 {
				m.sides[at].pair(t.block, pair)
				n++
				if def.name == "solved" {
					m.pairs = append(m.pairs, stat.Observation{Cluster: j.cluster, Value: pair.new.Num - pair.baseline.Num})
				}
			}
		}
		if m.N += n; m.sides[at].new.Den == 0 {
			m.tasks, m.sides = m.tasks[:at], m.sides[:at]
		} else {
			clusters[j.cluster] = at
		}
		if most = max(most, n); found {
			most = m.N // a cluster of several tasks
		}
	}
	m.Clusters, m.single = len(m.sides), most == 1
	if apart > 0 {
		m.note(words.Plural(apart, "episode") + " of known-flaky tasks left out.")
	}
	if unknown > 0 {
		m.note(words.Plural(unknown, "paired episode") + " " + def.excludeReason + ": unknown, which is never zero.")
		m.sides, m.N, m.Clusters = nil, 0, 0
	}
}

// confidence is the level of the intervals shown.
const confidence = 0.95

// estimate works out what is known of the change.
func (m *measured) estimate() {
	change, ok := difference(m.tasks, m.sides, 1)
	if !ok {
		m.N, m.Clusters, m.Test = 0, 0, "none: no data"
		if m.Gates {
			m.Power = "No data: no loss can be detected."
		}
		return
	}
	m.change = change
	m.Baseline, m.New, m.Effect = new(change.baseline), new(change.new), new(change.mean.Value)
	if relative := change.mean.Value / change.baseline; !math.IsInf(relative, 0) && !math.IsNaN(relative) {
		m.Relative = new(relative)
	}
	if iv, ok := change.interval(m.Unit == unitShare, m.look.Confidence(confidence)); ok {
		m.Interval = &iv
	}
	m.test()
}

// test works out p: by swapping the runs of whole tasks, or by t where there are so
// many tasks that it is the same.
func (m *measured) test() {
	const many = 1000
	list, p := scores(m.sides), pValues{1, 1, 1}
	for _, values := range list {
		m.runs = max(m.runs, len(values))
		if slices.Max(values) != slices.Min(values) {
			m.differ++
		}
	}
	if two, ok := m.change.mean.P(0); ok && m.differ > many { // without spread there is no t
		p, m.Test = symmetric(two, m.change.mean.Value), "t test of the change, clustered by task"
	} else if m.differ > 0 {
		exact := false
		p, exact = swapped(m.tasks, list)
		m.Test = "paired permutation by task"
		if exact {
			m.Test += ", exact"
		}
	} else {
		m.Test = "paired permutation by task: no task differs"
	}
	m.P = &p.two
	if m.Gates {
		m.P, m.better = &p.high, p.low
		if m.HigherIsBetter {
			m.P, m.better = &p.low, p.high
		}
		m.Test += ", one-sided for the worse"
	}
	if m.Interval != nil && m.change.mean.SE > 0 {
		m.Test += "; 95% t interval clustered by task"
	} else if m.Interval != nil {
		m.Test += "; 95% interval of what may be unseen"
	}
	if m.single && m.Name == "solved" {
		m.mcNemar()
	}
}

// reach is how far a value of one task can change at most.
func (m *measured) reach() float64 {
	low, high := 0.0, 1.0
	if m.Unit == unitScore { // which may lie beyond; none is taken to lie beyond those seen
		for _, s := range m.sides {
			a, b := s.baseline.Num/s.baseline.Den, s.new.Num/s.new.Den
			low, high = min(low, a, b), max(high, a, b)
		}
	}
	return high - low
}

// good is +1 where more is better, else −1.
func (m *measured) good() float64 {
	if m.HigherIsBetter {
		return 1
	}
	return -1
}

// mcNemar adds the classic test of single trials, which the permutation then is.
func (m *measured) mcNemar() {
	broken, fixed := 0, 0
	for _, s := range m.sides {
		switch {
		case s.new.Num < s.baseline.Num:
			broken++
		case s.new.Num > s.baseline.Num:
			fixed++
		}
	}
	if p, ok := stat.McNemar(broken, fixed); ok {
		m.note("McNemar: " + strconv.Itoa(broken) + " broken, " + strconv.Itoa(fixed) + " fixed, p " + chance(p) + ".")
	}
}

// note adds a sentence.
func (m *Metric) note(sentence string) {
	if m.Note != "" {
		m.Note += " "
	}
	m.Note += sentence
}
