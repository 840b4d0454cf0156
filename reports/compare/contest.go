package compare

import (
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/stat"
)

// Attempt is what comparisons, those of runs and those of strategies, look at of an episode.
type Attempt struct {
	Solved bool
	// ExpectedStop says that a guard ended the solved attempt, as its task asks: Steps
	// do not count in what solved tasks take.
	ExpectedStop     bool
	Steps, ToolCalls int32
	// Judged turns, and Valid of them. LatencyUs is the time of all of them, which TurnsUntimed
	// says is unknown of some.
	Judged, Valid int32
	LatencyUs     int64
	TurnsUntimed  bool
	// ElapsedUs, Cost in nano-USD and Tokens of all classes; null is unknown.
	ElapsedUs, Cost, Tokens *int64
	// Harm says that a change did harm; null if the world cannot change.
	Harm *bool
}

// AttemptOf returns what is looked at of an episode.
func AttemptOf(rows *ledger.EpisodeRows) Attempt {
	e := &rows.Episode
	a := Attempt{
		Solved: e.Solved, ExpectedStop: e.Solved && !e.CountsSteps(), Steps: e.Steps, ToolCalls: int32(len(rows.ToolCalls)),
		Cost: e.CostNanoUSD, Harm: e.Harm, Tokens: new(int64),
	}
	if e.Timed() {
		a.ElapsedUs = e.ElapsedUs
	}
	for _, n := range []*int64{e.In, e.Out, e.CacheRead, e.CacheWrite, e.Reasoning} {
		if n == nil {
			a.Tokens = nil
			break
		}
		*a.Tokens += *n
	}
	for i := range rows.Turns {
		if t := &rows.Turns[i]; t.Judged() {
			a.Judged++
			a.LatencyUs, a.TurnsUntimed = a.LatencyUs+t.Micros(), a.TurnsUntimed || !t.Timed()
			if t.Valid() {
				a.Valid++
			}
		}
	}
	return a
}

// TaskPairs is a task with what two strategies made of it: the pairs of their attempts.
// An attempt may be in several pairs.
type TaskPairs struct {
	Task  string
	Pairs [][2]Attempt
}

// MeasureStrategies measures two strategies by their bouts, one for each task at most. Every
// metric is that of the package comment: the first of a pair is Baseline, the second
// New, Effect is second − first, and P is two-sided, by swapping the two strategies
// of whole tasks; no metric is gating, and Adjusted is for the caller to fill in, who knows
// how many comparisons there are. An unknown value makes no claim: P is null.
func MeasureStrategies(bouts []TaskPairs) []Metric {
	tasks := make([]joined, len(bouts))
	for i, b := range bouts {
		records := make([]record, 0, 2*len(b.Pairs))
		for _, p := range b.Pairs {
			records = append(records, p[0].record(), p[1].record())
		}
		tasks[i] = joined{id: b.Task, cluster: b.Task, scored: make([]twin, len(b.Pairs))}
		for k := range b.Pairs {
			tasks[i].scored[k] = twin{baseline: &records[2*k], new: &records[2*k+1]}
		}
	}
	list := contested()
	metrics := make([]Metric, 0, len(list))
	for i := range list {
		m := measured{Metric: Metric{Name: list[i].name, Title: list[i].title, Unit: list[i].unit, HigherIsBetter: list[i].higher, Verdict: stat.NotJudged}}
		if m.gather(&list[i], tasks); m.Name == harm && m.N == 0 {
			continue
		}
		m.single = false // what broke and what was fixed is a word for runs
		m.estimate()
		metrics = append(metrics, m.Metric)
	}
	return metrics
}

func (a *Attempt) record() record {
	r := record{
		solved: a.Solved, stepped: a.Solved && !a.ExpectedStop, steps: a.Steps, calls: a.ToolCalls, judged: a.Judged, valid: a.Valid,
		latency: a.LatencyUs, turnsUntimed: a.TurnsUntimed, untimed: a.ElapsedUs == nil,
	}
	if a.ElapsedUs != nil {
		r.elapsed = *a.ElapsedUs
	}
	if a.Cost != nil {
		r.cost, r.priced = *a.Cost, true
	}
	if a.Tokens != nil {
		r.tokens, r.counted = *a.Tokens, true
	}
	if a.Harm != nil {
		r.changing, r.harm = true, *a.Harm
	}
	return r
}

// contested are the metrics of a contest, in the order shown.
func contested() []measure {
	all := measures()
	of := func(name string) measure {
		return all[slices.IndexFunc(all, func(m measure) bool { return m.name == name })]
	}
	steps, valid := of("steps"), of(contractValid)
	steps.title, valid.title = "Steps, solved by both", "Protocol-valid first outputs"
	return []measure{
		of("solved"), steps, of("cost"),
		of("elapsed"),
		of("tokens"),
		{name: "tool_calls", title: "Tool calls of an episode", unit: "calls", of: func(r *record) (float64, float64) { return float64(r.calls), 1 }},
		valid,
		of(harm),
	}
}
