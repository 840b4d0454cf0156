package sides

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
)

// ofAgent returns the candidates of the strategy that names contains instead of a
// candidate. It returns nil if the name is that of a candidate.
func ofAgent(m manifest.Manifest, names []string) (all []string) {
	if len(names) != 1 {
		return nil
	}
	for _, c := range m.Candidates {
		if c.Name == names[0] {
			return nil
		}
		if c.Agent == names[0] {
			all = append(all, c.Name)
		}
	}
	return all
}

// pairModels pairs candidates of two strategies by provider and model.
func pairModels(b, t Side) (pairs []compare.Names, err error) {
	pick := func(side Side, like manifest.Candidate) []string {
		var names []string
		for _, c := range side.Manifest.Candidates {
			if c.Provider == like.Provider && c.Model == like.Model && slices.Contains(side.Names, c.Name) {
				names = append(names, c.Name)
			}
		}
		return names
	}
	for _, c := range t.Manifest.Candidates {
		if !slices.Contains(t.Names, c.Name) {
			continue
		}
		left, right := pick(b, c), pick(t, c)
		switch {
		case len(left) > 1 || len(right) > 1 && len(left) > 0:
			return nil, exit.Usage(fmt.Errorf("several candidates of %s/%s: %s against %s; name one of each, as in RUN:CANDIDATE",
				c.Provider, c.Model, strings.Join(left, ", "), strings.Join(right, ", ")))
		case len(left) == 1 && (left[0] != c.Name || !sameFolder(b.Dir, t.Dir)):
			pairs = append(pairs, compare.Names{Baseline: left[0], New: c.Name})
		}
	}
	if pairs == nil {
		return nil, exit.Usage(fmt.Errorf("no provider and model is on both sides: %s has %s, %s has %s; name one of each, as in RUN:CANDIDATE",
			b.Manifest.RunID, cmp.Or(strings.Join(b.Names, ", "), "none"), t.Manifest.RunID, cmp.Or(strings.Join(t.Names, ", "), "none")))
	}
	return pairs, nil
}
