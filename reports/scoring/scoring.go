// Package scoring takes the mean of what scorers and judges found, with intervals clustered by task,
// and adds up what judges and simulated users used.
package scoring

import (
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/stat"
)

// Mean is the mean score of one check.
type Mean struct {
	// Check is the name of the check, such as judge.tone.
	Check string `json:"check"`
	// N is the number of scored episodes with a score, and Clusters that of their tasks. NoScore
	// counts the episodes for which the check passed or failed without a score.
	N        int `json:"n"`
	Clusters int `json:"tasks"`
	NoScore  int `json:"without_score"`
	// Mean and Interval are null without scores. The interval is that of stat.MeanInterval, for
	// scores from 0 to 1; if one lies beyond, none is taken to lie beyond those that were seen.
	Mean     *float64       `json:"mean"`
	Interval *stat.Interval `json:"interval"`
	// Low and High are the limits that the interval rests on.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// AtLeast is the least score that passes; null without one, and if tasks have different ones,
	// which AtLeastVaries says.
	AtLeast       *float64 `json:"at_least"`
	AtLeastVaries bool     `json:"at_least_varies,omitempty"`
	// Passed counts the episodes that passed the check, of N and NoScore, and PassedInterval is
	// that of stat.ShareInterval around their share.
	Passed         int            `json:"passed"`
	PassedInterval *stat.Interval `json:"passed_interval"`
	// Scorers is the number of different programs or judges by which the scores were given: more
	// than one do not measure the same.
	Scorers int `json:"scorers"`
}

// Scored is the number of episodes that the check passed or failed.
func (m Mean) Scored() int { return m.N + m.NoScore }

// Tally gathers the scores of the episodes of a candidate. The zero value is empty. It is not safe
// for concurrent use.
type Tally struct{ by map[string]*scores }

type scores struct {
	sums, passed map[string]*stat.Cluster
	digests      map[string]bool
	low, high    float64
	n, none      int
	least        *float64
	varies       bool
}

// Add counts the scores of an episode of a cluster.
func (t *Tally) Add(cluster string, e *ledger.Episode) {
	for _, score := range e.Scores {
		s := t.by[score.Name]
		if s == nil {
			s = &scores{sums: map[string]*stat.Cluster{}, passed: map[string]*stat.Cluster{}, digests: map[string]bool{}, high: 1, least: score.AtLeast}
			if t.by == nil {
				t.by = map[string]*scores{}
			}
			t.by[strings.Clone(score.Name)] = s
		}
		s.add(cluster, score)
	}
}

func (s *scores) add(cluster string, score ledger.Score) {
	s.varies = s.varies || (s.least == nil) != (score.AtLeast == nil) || s.least != nil && *s.least != *score.AtLeast
	if !s.digests[score.Digest] {
		s.digests[strings.Clone(score.Digest)] = true
	}
	count(s.passed, cluster, map[bool]float64{true: 1}[score.Pass])
	if score.Score == nil {
		s.none++
		return
	}
	s.n++
	s.low, s.high = min(s.low, *score.Score), max(s.high, *score.Score)
	count(s.sums, cluster, *score.Score)
}

func count(by map[string]*stat.Cluster, cluster string, value float64) {
	c := by[cluster]
	if c == nil {
		c = &stat.Cluster{}
		by[strings.Clone(cluster)] = c
	}
	c.Num, c.Den = c.Num+value, c.Den+1
}

// Means returns the means by check, with two-sided intervals.
func (t *Tally) Means(confidence float64) (list []Mean) {
	for _, name := range slices.Sorted(maps.Keys(t.by)) {
		s := t.by[name]
		m := Mean{Check: name, N: s.n, Clusters: len(s.sums), NoScore: s.none, Low: s.low, High: s.high, AtLeast: s.least, AtLeastVaries: s.varies, Scorers: len(s.digests)}
		if s.varies {
			m.AtLeast = nil
		}
		sums, passed := ordered(s.sums), ordered(s.passed)
		if mean, ok := stat.ClusterRatio(sums); ok {
			m.Mean = &mean.Value
		}
		if iv, ok := stat.MeanInterval(sums, stat.Interval{Low: s.low, High: s.high}, confidence); ok {
			m.Interval = &iv
		}
		for _, c := range passed {
			m.Passed += int(c.Num)
		}
		if iv, ok := stat.ShareInterval(passed, confidence); ok {
			m.PassedInterval = &iv
		}
		list = append(list, m)
	}
	return list
}

// ordered lists clusters by name, so that sums do not depend on the order of a map.
func ordered(by map[string]*stat.Cluster) (list []stat.Cluster) {
	for _, name := range slices.Sorted(maps.Keys(by)) {
		list = append(list, *by[name])
	}
	return list
}
