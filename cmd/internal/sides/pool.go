package sides

import (
	"errors"
	"fmt"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
)

// OpenBaselines opens the baseline runs, each RUN or RUN:CANDIDATE.
func OpenBaselines(runs string, texts []string) (pool []Side, err error) {
	for _, text := range texts {
		b, err := Open(runs, text, nil)
		if err != nil {
			return nil, fmt.Errorf("baseline: %w", err)
		}
		pool = append(pool, b)
	}
	return pool, nil
}

// checkPool returns every reason why several runs cannot be pooled as one baseline.
func checkPool(pool []Side, newRun Side, pairs []compare.Names) error {
	if len(pool) == 1 {
		return nil
	}
	var errs []error
	whole := manifestsOf(pool)
	for i, b := range pool {
		whole[i].Candidates = b.Ran // the configuration digest covers all candidates
		if b.Selector != pool[0].Selector {
			errs = append(errs, fmt.Errorf("baseline %s and %s: they name different candidates; name the same one, or none, for each",
				selected(pool[0]), selected(b)))
		}
		if sameFolder(b.Dir, newRun.Dir) {
			errs = append(errs, fmt.Errorf("baseline %s: the new run is one of several baselines; leave it out", b.Manifest.RunID))
		}
	}
	var names []string
	for _, p := range pairs {
		names = append(names, p.Baseline)
	}
	if err := errors.Join(append(errs, compare.CheckPool(whole, names))...); err != nil {
		return exit.Usage(err)
	}
	return nil
}

// selected is the id of a run, with the candidate if the command line names one.
func selected(s Side) string {
	if s.Selector == "" {
		return s.Manifest.RunID
	}
	return s.Manifest.RunID + ":" + s.Selector
}

// manifestsOf returns the manifests of runs.
func manifestsOf(pool []Side) (list []manifest.Manifest) {
	for _, s := range pool {
		list = append(list, s.Manifest)
	}
	return list
}
