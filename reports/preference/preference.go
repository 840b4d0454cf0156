// Package preference counts which of two candidates a judge prefers, and how far its preferences
// depend on the order in which it saw the two.
package preference

import (
	"maps"
	"slices"

	"github.com/cupel-eval/cupel/goldens/rubric"
	"github.com/cupel-eval/cupel/reports/stat"
)

// Outcome is what both orders together say of the new candidate.
type Outcome string

// The outcomes.
const (
	Win  Outcome = "win"  // both orders prefer the new one
	Loss Outcome = "loss" // both prefer the baseline
	// Tie: both orders see a tie, or the judge would see no difference.
	Tie Outcome = "tie"
	// PositionDependent: the orders disagree. It counts as a tie.
	PositionDependent Outcome = "position-dependent"
)

// Of returns the outcome of two preferences: with the baseline shown first, and with the new one
// shown first.
func Of(baselineFirst, newFirst rubric.Better) Outcome {
	switch [2]rubric.Better{baselineFirst, newFirst} {
	case [2]rubric.Better{rubric.Second, rubric.First}:
		return Win
	case [2]rubric.Better{rubric.First, rubric.Second}:
		return Loss
	case [2]rubric.Better{rubric.Tie, rubric.Tie}:
		return Tie
	}
	return PositionDependent
}

// Share is a share with its interval; both are null without data.
type Share struct {
	Value    *float64       `json:"value"`
	Interval *stat.Interval `json:"interval"`
}

// Summary counts the pairs that a judge compared.
type Summary struct {
	// Pairs = Wins + Ties + Losses, in Tasks tasks that are independent evidence.
	Pairs  int `json:"pairs"`
	Tasks  int `json:"tasks"`
	Wins   int `json:"wins"`
	Ties   int `json:"ties"`
	Losses int `json:"losses"`
	// Same are the ties in which the judge would have seen no difference, PositionDependent those
	// in which the orders disagree.
	Same              int `json:"same"`
	PositionDependent int `json:"position_dependent"`
	// Preferred is the share of pairs in which the new candidate wins, a tie being half of one.
	// Its interval is that of stat.MeanInterval, clustered by task.
	Preferred Share `json:"preferred"`
	// Disagreement is the share of position-dependent pairs among those that the judge was asked
	// about, with the interval of stat.ShareInterval.
	Disagreement Share `json:"disagreement"`
	// First is the share of preferences for what was shown first among all that are not ties; 50%
	// of a judge without a preference for a place. Its interval is clustered by task.
	First Share `json:"first"`
	// Labelled are the pairs of which people passed one episode and failed the other, and Agreement
	// the share of them in which the judge prefers the passed one, with the interval of
	// stat.ShareInterval.
	Labelled  int   `json:"labelled"`
	Agreement Share `json:"agreement"`
}

// Tally counts pairs. The zero value is empty. It is not safe for concurrent use.
type Tally struct {
	s                                   Summary
	preferred, disagreed, first, agreed map[string]*stat.Cluster
}

// Same counts a pair without a difference. It returns the outcome.
func (t *Tally) Same(cluster string) Outcome {
	t.s.Same++
	t.count(cluster, Tie)
	return Tie
}

// Add counts a pair by the preferences with the baseline shown first, and with the new one shown
// first. It returns the outcome.
func (t *Tally) Add(cluster string, baselineFirst, newFirst rubric.Better) Outcome {
	o := Of(baselineFirst, newFirst)
	t.count(cluster, o)
	add(&t.disagreed, cluster, map[bool]float64{true: 1}[o == PositionDependent])
	for _, p := range []rubric.Better{baselineFirst, newFirst} {
		if p != rubric.Tie {
			add(&t.first, cluster, map[bool]float64{true: 1}[p == rubric.First])
		}
	}
	return o
}

// Label counts a pair of which people passed one episode and failed the other: want is the outcome
// that agrees with them.
func (t *Tally) Label(cluster string, want, got Outcome) {
	t.s.Labelled++
	add(&t.agreed, cluster, map[bool]float64{true: 1}[want == got])
}

func (t *Tally) count(cluster string, o Outcome) {
	t.s.Pairs++
	worth := 0.5
	switch o {
	case Win:
		t.s.Wins++
		worth = 1
	case Loss:
		t.s.Losses++
		worth = 0
	case PositionDependent:
		t.s.PositionDependent++
		t.s.Ties++
	case Tie:
		t.s.Ties++
	}
	add(&t.preferred, cluster, worth)
}

func add(by *map[string]*stat.Cluster, cluster string, value float64) {
	if *by == nil {
		*by = map[string]*stat.Cluster{}
	}
	c := (*by)[cluster]
	if c == nil {
		c = &stat.Cluster{}
		(*by)[cluster] = c
	}
	c.Num, c.Den = c.Num+value, c.Den+1
}

// Summary returns the counts with two-sided intervals.
func (t *Tally) Summary(confidence float64) Summary {
	s := t.s
	s.Tasks = len(t.preferred)
	preferred := ordered(t.preferred)
	s.Preferred = share(preferred)
	if iv, ok := stat.MeanInterval(preferred, stat.Interval{High: 1}, confidence); ok {
		s.Preferred.Interval = &iv
	}
	for to, by := range map[*Share]map[string]*stat.Cluster{&s.Disagreement: t.disagreed, &s.First: t.first, &s.Agreement: t.agreed} {
		list := ordered(by)
		*to = share(list)
		if iv, ok := stat.ShareInterval(list, confidence); ok {
			to.Interval = &iv
		}
	}
	return s
}

func share(clusters []stat.Cluster) (s Share) {
	if m, ok := stat.ClusterRatio(clusters); ok {
		s.Value = &m.Value
	}
	return s
}

// ordered lists clusters by name, so that sums do not depend on the order of a map.
func ordered(by map[string]*stat.Cluster) (list []stat.Cluster) {
	for _, name := range slices.Sorted(maps.Keys(by)) {
		list = append(list, *by[name])
	}
	return list
}
