package expr

import (
	"maps"
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/column"
	"github.com/cupel-eval/cupel/reports/stat"
)

// Tally gathers what a criterion needs, episode by episode: sums for each task,
// and for a percentile the values. It is not safe for concurrent use.
type Tally struct {
	of       *Criterion
	rows     *column.Rows
	whole    []cell
	values   []stat.Observation
	episodes int
	clusters map[string]*Cluster
	size     float64
	inexact  bool
}

// Cluster is what a tally has of one cluster.
type Cluster struct {
	// Name is that of the cluster, and the sums are those of a Ratio or a Share: rows that
	// meet its condition, of those where it is known.
	Name string
	stat.Cluster
	// Missing are rows that should have a value and do not; Lost are episodes without a
	// result, whose rows do not count.
	Missing, Lost int
}

// Evidence is what was gathered.
type Evidence struct {
	// Value is the estimate; OK is false without data.
	Value float64
	OK    bool
	// Known counts the rows that have a value, Missing those that should have one
	// and do not. Episodes counts all that were added.
	Known, Missing, Episodes int
	// Clusters are those with rows of a Ratio or a Share, or with something missing or
	// lost, in the order of their names. Lost counts the episodes of all.
	Clusters []Cluster
	Lost     int
	// Size is the most that one episode adds to the Den of a cluster, or of a Percentile
	// to Values.
	Size float64
	// Values of a Percentile, in no order.
	Values []stat.Observation
	// Inexact says that a number was beyond 2^53 or not finite: there is no value then.
	Inexact bool
}

// NewTally returns an empty tally.
func (c *Criterion) NewTally() *Tally {
	return &Tally{
		of: c, rows: column.NewRows(c.table, c.columns), whole: make([]cell, len(c.slots)), clusters: map[string]*Cluster{},
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
	for _, g := range t.of.fold(rows, vectors, nil) { // one, or none
		num, den := parts(t.of.left, g.cells)
		missing, values := 0, len(t.values)
		for i := range g.cells {
			c := &g.cells[i]
			for _, v := range c.values {
				t.values = append(t.values, stat.Observation{Cluster: cluster, Value: v})
			}
			c.values = nil
			missing += int(c.missing)
			t.whole[i].merge(c)
		}
		switch {
		case t.of.Form == Ratio || t.of.Form == Share && den > 0:
			t.size = max(t.size, den)
			t.cluster(cluster).add(Cluster{Cluster: stat.Cluster{Num: num, Den: den}, Missing: missing})
		case missing > 0:
			t.cluster(cluster).Missing += missing
		}
		t.size = max(t.size, float64(len(t.values)-values))
	}
}

// Lose counts an episode of a cluster that has no result.
func (t *Tally) Lose(cluster string) { t.cluster(cluster).Lost++ }

func (t *Tally) cluster(name string) *Cluster {
	c := t.clusters[name]
	if c == nil {
		c = &Cluster{Name: name}
		t.clusters[name] = c
	}
	return c
}

func (c *Cluster) add(o Cluster) {
	c.Num, c.Den, c.Missing, c.Lost = c.Num+o.Num, c.Den+o.Den, c.Missing+o.Missing, c.Lost+o.Lost
}

// parts are what an episode adds to a ratio.
func parts(n *node, cells []cell) (num, den float64) {
	switch c := &cells[n.slot]; {
	case n.kind == infix:
		num, _ = aggregate(n.kids[0], &cells[n.kids[0].slot])
		den, _ = aggregate(n.kids[1], &cells[n.kids[1].slot])
		return num, den
	case n.op == "rate":
		return c.sum, float64(c.episodes)
	default:
		return c.sum, float64(c.known)
	}
}

// Merge adds what another tally of the same criterion gathered of other episodes.
func (t *Tally) Merge(o *Tally) {
	t.episodes += o.episodes
	t.inexact = t.inexact || o.inexact
	t.values = append(t.values, o.values...)
	t.size = max(t.size, o.size)
	for name, c := range o.clusters {
		t.cluster(name).add(*c)
	}
	for i := range t.whole {
		c := o.whole[i]
		c.first = "" // of other episodes
		t.whole[i].merge(&c)
	}
}

// Evidence is what there is so far.
func (t *Tally) Evidence() Evidence {
	e := Evidence{Episodes: t.episodes, Size: t.size, Inexact: t.inexact}
	for i := range t.whole {
		e.Known = max(e.Known, int(t.whole[i].known))
		e.Missing += int(t.whole[i].missing)
	}
	for _, cluster := range slices.Sorted(maps.Keys(t.clusters)) {
		c := t.clusters[cluster]
		e.Lost += c.Lost
		e.Clusters = append(e.Clusters, *c)
	}
	switch t.of.Form {
	case Percentile:
		e.Values = t.values
		values := make([]float64, len(t.values))
		for i, o := range t.values {
			values[i] = o.Value
		}
		slices.Sort(values)
		e.Value, e.OK = stat.Quantile(values, t.of.Rank)
	case Ratio:
		var all stat.Cluster
		for _, s := range e.Clusters {
			all = stat.Cluster{Num: all.Num + s.Num, Den: all.Den + s.Den}
		}
		if e.OK = e.Known > 0 && all.Den > 0; e.OK {
			e.Value = all.Num / all.Den
		}
	default:
		e.Value, e.OK = aggregate(t.of.left, &t.whole[t.of.left.slot])
		// Of no episodes nothing is known, not even that there is nothing.
		e.OK = e.OK && (e.Known > 0 || t.episodes > 0 && len(t.of.left.kids) == 0)
	}
	e.OK = e.OK && !e.Inexact
	return e
}
