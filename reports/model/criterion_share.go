package model

import (
	"fmt"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// share fills in and decides a criterion about a share over clusters, which must come to a
// threshold at least. With a threshold of 0 the share is reported and not judged.
func (c *Criterion) share(s sample, threshold float64) {
	c.AtLeast = true
	c.atMost(s, threshold)
}

// atMost is share with a threshold that the share must not exceed, unless c.AtLeast.
func (c *Criterion) atMost(s sample, threshold float64) {
	c.Threshold = threshold
	clusters := s.seen()
	c.measureShare(clusters)
	switch {
	case threshold == 0:
		c.Verdict = stat.NotJudged
	case c.N == 0:
		c.noData()
	default:
		c.decide()
	}
	c.shareNotes(clusters)
	if threshold != 0 && s.lost() {
		e := extremes{worst: stat.Cluster{Den: 1}, best: stat.Cluster{Num: 1, Den: 1}}
		if !c.AtLeast {
			e.worst, e.best = e.best, e.worst
		}
		c.bounds(func(c *Criterion, worst bool) {
			c.measureShare(s.fill(e.of(worst)))
			c.decide()
		})
	}
}

// measureShare fills in a share, with its interval, before it is decided.
func (c *Criterion) measureShare(clusters []stat.Cluster) {
	s := newShare(clusters, c.Confidence)
	c.Kind, c.N, c.Value, c.Interval, c.DesignEffect = kindShare, s.N, s.Value, s.Interval, s.DesignEffect
	c.Test = "exact interval of the share, two-sided " + words.Level(c.Confidence)
	if c.N > len(clusters) {
		c.Test = "interval of the share, clustered by task, two-sided " + words.Level(c.Confidence)
	}
}

// shareNotes says what would settle an inconclusive share, and how much its clusters
// matter.
func (c *Criterion) shareNotes(clusters []stat.Cluster) {
	if c.Verdict == stat.Inconclusive && c.Value != nil {
		c.note(c.moreTasks(clusters))
	}
	tasks := words.Plural(len(clusters), "task")
	switch {
	case c.N <= len(clusters):
	case c.DesignEffect != nil:
		c.aside(fmt.Sprintf("Design effect %s (%s %s of %s).", words.Trimmed(*c.DesignEffect, 2), words.Thousands(int64(c.N)), c.Unit, tasks))
	case len(clusters) > 1:
		c.aside(fmt.Sprintf("All %s %s agree, so they weigh as their %s.", words.Thousands(int64(c.N)), c.Unit, tasks))
	}
}

// moreTasks says how many tasks more would settle an inconclusive share, and where
// these are too few for any share to.
func (c *Criterion) moreTasks(clusters []stat.Cluster) string {
	few, perfect := "", c.Threshold
	if !c.AtLeast {
		perfect = 1 - c.Threshold
	}
	if least, ok := stat.PerfectClusters(perfect, c.Confidence); ok && c.heading() == stat.Pass && least > len(clusters) {
		few = fmt.Sprintf("Too few tasks: %s cannot establish %s, however many %s they have. ",
			words.Thousands(int64(len(clusters))), words.Setting(c.Threshold), c.Unit)
	}
	need, ok := stat.ShareClusters(clusters, c.Threshold, c.Confidence)
	switch more := need - len(clusters); {
	case ok:
		tasks := words.Plural(max(1, more), "more task")
		if c.N > len(clusters) {
			tasks += fmt.Sprintf(" (%s %s)", words.Thousands(int64((max(1, more)*c.N+len(clusters)-1)/len(clusters))), c.Unit)
		}
		return few + fmt.Sprintf("If the rate stays the same, %s would make this a %s.", tasks, c.heading())
	case c.AtLeast && c.Threshold >= 1:
		return "No number of tasks can establish a threshold of 100%; choose a lower one."
	case *c.Value == c.Threshold:
		return few + "The estimate equals the threshold: more tasks alone will not settle it."
	}
	return few + "The estimate is too near the threshold for any number of tasks to settle it."
}
