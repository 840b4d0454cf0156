package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// Bound is what a criterion comes to if everything that is missing had come out at one
// extreme. Value and Interval are null where that cannot be said.
type Bound struct {
	Value    *float64       `json:"value"`
	Interval *stat.Interval `json:"interval"`
	Verdict  stat.Verdict   `json:"verdict"`
}

// sample is what a criterion is computed from: sums by cluster, in the order of their
// names, and how many observations of each are missing at most.
type sample struct {
	clusters []stat.Cluster
	missing  []float64
}

// seen are the clusters of which there is something.
func (s sample) seen() []stat.Cluster { return s.fill(stat.Cluster{}) }

// fill takes each missing observation as the one given.
func (s sample) fill(with stat.Cluster) (list []stat.Cluster) {
	for i, c := range s.clusters {
		c.Num, c.Den = c.Num+s.missing[i]*with.Num, c.Den+s.missing[i]*with.Den
		if c != (stat.Cluster{}) {
			list = append(list, c)
		}
	}
	return list
}

// lost says that something is missing.
func (s sample) lost() bool {
	return slices.ContainsFunc(s.missing, func(n float64) bool { return n > 0 })
}

// extremes are the observations that say least for a criterion and most.
type extremes struct{ worst, best stat.Cluster }

// bounds fills in both cases, for what judge makes of a copy of the criterion: the bounds
// that C. F. Manski, "Nonparametric Bounds on Treatment Effects", American Economic
// Review 80 (1990, Papers and Proceedings) 319–323, gives for outcomes that were not
// observed. They suppose nothing of why these are missing.
func (c *Criterion) bounds(judge func(c *Criterion, worst bool)) {
	bound := func(worst bool) *Bound {
		k := *c
		k.Value, k.Interval, k.Verdict = nil, nil, stat.Inconclusive
		judge(&k, worst)
		return &Bound{k.Value, k.Interval, k.Verdict}
	}
	c.WorstCase, c.BestCase = bound(true), bound(false)
}

// of is the extreme to take.
func (e extremes) of(worst bool) stat.Cluster {
	if worst {
		return e.worst
	}
	return e.best
}

// reach is how many times the threshold a task that was not seen may come to.
const reach = 3

// limits are what the mean of a task is taken to lie within, also of a task that was not
// seen: from 0 to reach times the threshold, or to the largest one seen; where the
// threshold or one seen is negative, from as far below. Without any scale they have no
// distance.
func limits(clusters []stat.Cluster, threshold float64) stat.Interval {
	size := 0.0
	for _, c := range clusters {
		size += c.Den / float64(len(clusters))
	}
	low, high := min(0, reach*threshold), max(0, reach*threshold)
	for _, c := range clusters {
		v := c.Num / c.Den
		if c.Den == 0 {
			v = c.Num / size
		}
		low, high = min(low, v), max(high, v)
	}
	return stat.Interval{Low: low, High: high}
}

// lostEpisode names an episode without a result.
type lostEpisode struct {
	task, candidate string
	trial           int
}

// maxLostNamed is how many lost episodes are named.
const maxLostNamed = 3

// lostWords names the first of n lost episodes: "G07 trial 2, G09 trial 1 and 3 more".
// Candidates are named where there are several.
func lostWords(first []lostEpisode, n int, pooled bool) string {
	var names []string
	for _, e := range first[:min(len(first), maxLostNamed)] {
		name := fmt.Sprintf("%s trial %d", words.Brief(e.task, 40), e.trial)
		if pooled {
			name += " of " + words.Brief(e.candidate, 40)
		}
		names = append(names, name)
	}
	text := strings.Join(names, ", ")
	if more := n - len(names); more > 0 {
		text += fmt.Sprintf(" and %s more", words.Thousands(int64(more)))
	}
	return text
}

// rerun says how the episodes without a result of a run can be run.
func rerun(m *manifest.Manifest) string {
	switch {
	case m.Imported.Format != "":
		return "cupel cannot run them: the run is imported"
	case len(m.MergedFrom) > 0:
		return "To run them: cupel run --resume of the shards, then cupel merge"
	case m.RescoredFrom != "":
		return "To run them: cupel run --resume " + m.RescoredFrom
	case m.LabelledFrom != "":
		return "To run them: cupel run --resume " + m.LabelledFrom
	}
	return "To run them: cupel run --resume " + m.RunID
}
