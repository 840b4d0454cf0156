package reports

import "github.com/cupel-eval/cupel/harness/ledger/manifest"

// unsolved are the episodes of each candidate that were not solved, as indices:
// the model's failures first, then those without a result.
func (r Report) unsolved() map[string][]int {
	by := map[string][]int{}
	for _, own := range []int{rankFailed, rankExcluded} {
		for i := range r.Episodes {
			if e := &r.Episodes[i]; rank(e) == own {
				by[e.Candidate] = append(by[e.Candidate], i)
			}
		}
	}
	return by
}

// unsolvedCount is how many episodes of a candidate were not solved, and why
// those without a result have none.
func (c Candidate) unsolvedCount(n int) string {
	count := plural(n, "episode") + " not solved"
	// Episodes without a row are not among them.
	if why := withoutResult(manifest.Outcomes{InfraErrors: c.InfraErrors, HarnessErrors: c.HarnessErrors, BudgetStops: c.BudgetStops, Unfinished: c.Interrupted}); why != "" {
		count += ", without a result: " + why
	}
	return count
}

// ending is the status with the stop reason or what excluded the episode.
func (e Episode) ending() string { return join(": ", e.Status, join(", ", e.StopReason, e.Excluded)) }
