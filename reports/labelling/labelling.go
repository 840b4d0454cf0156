// Package labelling measures how far the labels of people agree with the automatic verdicts of a
// run, and with each other.
package labelling

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/stat/agreement"
)

// Automatic is the first rater of a Row that compares with the automatic verdict.
const Automatic = "automatic"

// Row is the agreement of two raters on one check.
type Row struct {
	// Check is the name of the check; empty means the whole episode.
	Check string `json:"check"`
	// First is Automatic or a labeller, Second a labeller.
	First  string `json:"first"`
	Second string `json:"second"`
	// Clusters are the tasks of the labelled episodes.
	Clusters int `json:"tasks"`
	agreement.Agreement
}

// pair names a row. The first rater is empty for the automatic verdict, which a labeller cannot be.
type pair struct{ check, first, second string }

// Tally gathers labels by task. The zero value is empty. It is not safe for concurrent use.
type Tally struct {
	by map[pair]map[string]*agreement.Table
}

// Add counts the labels of an episode of a cluster.
func (t *Tally) Add(cluster string, e *ledger.Episode) {
	for i, l := range e.Labels {
		if pass, ok := e.Automatic(l.Check); ok {
			t.add(pair{l.Check, "", l.Labeller}, cluster, pass, l.Pass)
		}
		for _, other := range e.Labels[:i] {
			if other.Check == l.Check {
				t.add(pair{l.Check, other.Labeller, l.Labeller}, cluster, other.Pass, l.Pass)
			}
		}
	}
}

func (t *Tally) add(p pair, cluster string, first, second bool) {
	if t.by == nil {
		t.by = map[pair]map[string]*agreement.Table{}
	}
	of := t.by[p]
	if of == nil {
		of = map[string]*agreement.Table{}
		t.by[pair{strings.Clone(p.check), strings.Clone(p.first), strings.Clone(p.second)}] = of
	}
	table := of[cluster]
	if table == nil {
		table = &agreement.Table{}
		of[strings.Clone(cluster)] = table
	}
	table.Add(first, second)
}

// Rows returns the agreements, by check; those with the automatic verdict come first.
func (t *Tally) Rows(confidence float64) (list []Row) {
	pairs := slices.SortedFunc(maps.Keys(t.by), func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.check, b.check), cmp.Compare(a.first, b.first), cmp.Compare(a.second, b.second))
	})
	for _, p := range pairs {
		var clusters []agreement.Table
		for _, name := range slices.Sorted(maps.Keys(t.by[p])) {
			clusters = append(clusters, *t.by[p][name])
		}
		list = append(list, Row{p.check, cmp.Or(p.first, Automatic), p.second, len(clusters), agreement.Of(clusters, confidence)})
	}
	return list
}
