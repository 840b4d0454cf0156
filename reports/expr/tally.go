package expr

import (
	"maps"
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/stat"
)

// Tally gathers what a criterion needs, episode by episode: sums for each task,
// and for a percentile the values. It is not safe for concurrent use.
type Tally struct {
	of       *Criterion
	worker   *worker
	rows     *ledger.RowVectors
	whole    []cell
	values   []stat.Observation
	episodes int
	clusters map[string]stat.Cluster
	inexact  bool
}

// Evidence is what was gathered.
type Evidence struct {
	// Value is the estimate; OK is false without data.
	Value float64
	OK    bool
	// Known counts the rows that have a value, Missing those that should have one
	// and do not. Episodes counts all that were added.
	Known, Missing, Episodes int
	// Clusters are the sums of each cluster that had rows, in the order of their names,
	// for a Ratio and a Share: rows that meet its condition, of those where it is known.
	Clusters []stat.Cluster
	// Values of a Percentile, in no order.
	Values []stat.Observation
	// Inexact says that a number was beyond 2^53 or not finite: there is no value then.
	Inexact bool
}

// NewTally returns an empty tally.
func (c *Criterion) NewTally() *Tally {
	q := &Query{plan: c.plan}
	return &Tally{
		of: c, worker: newWorker(q, nil), rows: ledger.NewRowVectors(c.table, c.columns),
		whole: make([]cell, len(c.slots)), clusters: map[string]stat.Cluster{},
	}
}

// Add adds an episode of a cluster: its task, or what else it has in common with other
// episodes. It keeps nothing of the rows.
func (t *Tally) Add(rec *ledger.EpisodeRows, cluster string) {
	t.episodes++
	rows, vectors, ok := t.rows.Set(rec)
	if !ok {
		t.inexact = true
		return
	}
	t.worker.batch = batch{rows: rows, columns: vectors}
	for _, g := range t.worker.fold() { // one, or none
		num, den := parts(t.of.left, g.cells)
		if t.of.Form == Ratio || t.of.Form == Share && den > 0 {
			s := t.clusters[cluster]
			t.clusters[cluster] = stat.Cluster{Num: s.Num + num, Den: s.Den + den}
		}
		for i := range g.cells {
			c := &g.cells[i]
			for _, part := range c.values {
				for _, v := range part {
					t.values = append(t.values, stat.Observation{Cluster: cluster, Value: v})
				}
			}
			c.values = nil
			t.whole[i].merge(c)
		}
	}
}

// parts are what an episode adds to a ratio.
func parts(n *node, cells []cell) (num, den float64) {
	if n.kind == binary {
		num, _ = aggregate(n.kids[0], &cells[n.kids[0].slot])
		den, _ = aggregate(n.kids[1], &cells[n.kids[1].slot])
		return num, den
	}
	c := &cells[n.slot]
	if num = c.sum; len(n.kids) > 0 && n.kids[0].typ == Bool {
		num = float64(c.yes)
	}
	if den = float64(c.known); n.op == "rate" {
		den = float64(c.episodes)
	}
	return num, den
}

// Merge adds what another tally of the same criterion gathered of other episodes.
func (t *Tally) Merge(o *Tally) {
	t.episodes += o.episodes
	t.inexact = t.inexact || o.inexact
	t.values = append(t.values, o.values...)
	for task, s := range o.clusters {
		have := t.clusters[task]
		t.clusters[task] = stat.Cluster{Num: have.Num + s.Num, Den: have.Den + s.Den}
	}
	for i := range t.whole {
		c := o.whole[i]
		c.first = "" // of other episodes
		t.whole[i].merge(&c)
	}
}

// Evidence is what there is so far.
func (t *Tally) Evidence() Evidence {
	e := Evidence{Episodes: t.episodes, Inexact: t.inexact}
	seen := map[int]bool{}
	t.of.left.walk(func(n *node) bool {
		if n.kind == call && !seen[n.slot] {
			seen[n.slot] = true
			c := &t.whole[n.slot]
			e.Known = max(e.Known, int(c.known))
			e.Missing += int(c.missing)
		}
		return true
	})
	for _, cluster := range slices.Sorted(maps.Keys(t.clusters)) {
		e.Clusters = append(e.Clusters, t.clusters[cluster])
	}
	switch t.of.Form {
	case Percentile:
		e.Values = t.values
		values := make([]float64, len(t.values))
		for i, o := range t.values {
			values[i] = o.Value
		}
		e.Value, e.OK = quantile(values, t.of.Rank)
	case Ratio:
		var all stat.Cluster
		for _, s := range e.Clusters {
			all = stat.Cluster{Num: all.Num + s.Num, Den: all.Den + s.Den}
		}
		if e.OK = e.Known > 0 && all.Den > 0; e.OK {
			e.Value = all.Num / all.Den
		}
	default:
		e.Value, e.OK = total(t.of.left, t.whole)
		// Of no episodes nothing is known, not even that there is nothing.
		rows := t.episodes > 0 && len(t.of.left.kids) == 0
		e.OK = e.OK && (e.Known > 0 || rows)
	}
	e.OK = e.OK && !e.Inexact
	return e
}
