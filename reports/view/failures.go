package view

import (
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// unsolved are the episodes of each candidate that were not solved, as indices:
// the model's failures first, then those without a result.
func unsolved(r model.Report) map[string][]int {
	by := map[string][]int{}
	for own := range model.Ranks - 1 { // not the solved ones
		for i := range r.Episodes {
			if e := &r.Episodes[i]; e.Rank() == own {
				by[e.Candidate] = append(by[e.Candidate], i)
			}
		}
	}
	return by
}

// unsolvedCount is how many episodes of a candidate were not solved, and why
// those without a result have none.
func unsolvedCount(c model.Candidate, n int) string {
	count := words.Plural(n, "episode") + " not solved"
	// Episodes without a row are not among them.
	if why := model.WithoutResult(manifest.Outcomes{InfraErrors: c.InfraErrors, HarnessErrors: c.HarnessErrors, BudgetStops: c.BudgetStops, Unfinished: c.Interrupted, NotScored: c.NotScored}); why != "" {
		count += ", without a result: " + why
	}
	return count
}

// Ending is the status with the stop reason or what excluded the episode.
func Ending(e model.Episode) string {
	return words.Join(": ", e.Status, words.Join(", ", e.StopReason, e.Excluded))
}

// CandidateFailures are the episodes that a candidate did not solve.
type CandidateFailures struct {
	Name string
	// Count says how many there are, and why those without a result have none.
	Count string
	// Episodes index Report.Episodes: the model's failures first.
	Episodes []int
}

// failures are those of each candidate that has any.
func failures(r model.Report) (list []CandidateFailures) {
	by := unsolved(r)
	for _, c := range r.Candidates {
		if failed := by[c.Name]; len(failed) > 0 {
			list = append(list, CandidateFailures{c.Name, unsolvedCount(c, len(failed)), failed})
		}
	}
	return list
}
