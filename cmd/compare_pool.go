package cmd

import (
	"errors"
	"fmt"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
)

// openBaselines opens the runs that are the baseline, each RUN or RUN:CANDIDATE.
func openBaselines(runs string, texts []string) (pool []compared, err error) {
	for _, text := range texts {
		b, err := openSide(runs, text, nil)
		if err != nil {
			return nil, fmt.Errorf("baseline: %w", err)
		}
		pool = append(pool, b)
	}
	return pool, nil
}

// checkPool says why several runs are not one baseline of the new run, all of it.
func checkPool(pool []compared, newRun compared, pairs []compare.Names) error {
	if len(pool) == 1 {
		return nil
	}
	var errs []error
	whole := manifestsOf(pool)
	for i, b := range pool {
		whole[i].Candidates = b.ran // the digest of the configuration covers those that were not chosen, too
		if b.selector != pool[0].selector {
			errs = append(errs, fmt.Errorf("baseline %s and %s: they name different candidates; name the same one, or none, for each",
				selected(pool[0]), selected(b)))
		}
		if sameFolder(b.dir, newRun.dir) {
			errs = append(errs, fmt.Errorf("baseline %s: the new run is one of several baselines; leave it out", b.manifest.RunID))
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

// selected names a run with the candidate that was named of it.
func selected(s compared) string {
	if s.selector == "" {
		return s.manifest.RunID
	}
	return s.manifest.RunID + ":" + s.selector
}

// manifestsOf are those of runs.
func manifestsOf(pool []compared) (list []manifest.Manifest) {
	for _, s := range pool {
		list = append(list, s.manifest)
	}
	return list
}
