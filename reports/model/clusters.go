package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxSignatures is how many different signatures a report tells apart: those of a
// ledger are untrusted. Each kind has one more cluster for the rest.
const maxSignatures = 1000

// clusters collects the episodes that were not solved, as they come.
type clusters struct {
	at   map[failure.Cause]*signatureGroup
	rest int // episodes whose signature came when there was no more room
}

type signatureGroup struct {
	cause    failure.Cause // one for all episodes of the cluster
	episodes []int
	shortest int
	steps    int // of the shortest
}

// add puts the episode of an index into its cluster, and returns the cluster's
// cause, which may be less than its own.
func (c *clusters) add(own failure.Cause, episode, steps int) *failure.Cause {
	of := c.at[own]
	if of == nil {
		if len(c.at) >= maxSignatures {
			own.Signature = string(own.Kind) + ": other"
			c.rest++
		}
		if of = c.at[own]; of == nil {
			of = &signatureGroup{cause: own, shortest: episode, steps: steps}
			c.at[own] = of
		}
	}
	of.episodes = append(of.episodes, episode)
	if steps < of.steps {
		of.shortest, of.steps = episode, steps
	}
	return &of.cause
}

// addClusters puts them in order: the taxonomy's, then the largest first.
func (r *Report) addClusters(c *clusters) {
	order := map[failure.Kind]int{}
	for i, k := range failure.Kinds() {
		order[k] = i
	}
	for _, of := range c.at {
		tasks, candidates := counts{}, counts{}
		for _, i := range of.episodes {
			tasks[r.Episodes[i].Task]++
			candidates[r.Episodes[i].Candidate]++
		}
		r.Clusters = append(r.Clusters, Cluster{
			Cause: of.cause, Episodes: of.episodes, Shortest: of.shortest, Tasks: tasks.tallies(), Candidates: candidates.tallies(),
		})
	}
	slices.SortFunc(r.Clusters, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(order[a.Kind], order[b.Kind]), cmp.Compare(len(b.Episodes), len(a.Episodes)), cmp.Compare(a.Signature, b.Signature))
	})
	if c.rest > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("More than %s ways to fail: %s that failed in yet another way are in one cluster of each kind.", words.Thousands(maxSignatures), words.Plural(c.rest, "episode")))
	}
}

// Largest are the clusters with the most episodes, at most n, the largest first.
func (r Report) Largest(n int) []Cluster {
	list := slices.Clone(r.Clusters)
	slices.SortStableFunc(list, func(a, b Cluster) int { return cmp.Compare(len(b.Episodes), len(a.Episodes)) })
	return list[:min(n, len(list))]
}
