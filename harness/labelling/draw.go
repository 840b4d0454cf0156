// Package labelling draws episodes of a run for people to label, and writes runs with labels.
package labelling

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Stratum is a part of a run that a sample has a share of.
type Stratum struct {
	Candidate string
	// Outcome is how the episodes ended: the word that the caller of Draw gave.
	Outcome string
	// Episodes is how many there are, Drawn how many of them the sample has.
	Episodes, Drawn int
}

// Sample is what was drawn of a run.
type Sample struct {
	// Strata are sorted by candidate and outcome.
	Strata []Stratum
	// Episodes are the keys of the drawn ones, in random order.
	Episodes []ledger.Key
	// NoResult counts the episodes without a result, which cannot be judged.
	NoResult int
}

// drawn is an episode with the number that orders it.
type drawn struct {
	key   ledger.Key
	order [sha256.Size]byte
}

// Draw draws size episodes by candidate and outcome: each stratum gets the share that it has of the
// run, and at least one episode if size is large enough. The seed decides which; a larger sample
// has the episodes of a smaller one of each stratum. outcomeOf says how an episode ended; empty
// leaves it out. Episodes without a result are left out, except those that only lack a verdict.
func Draw(episodes iter.Seq2[ledger.EpisodeRows, error], size int, seed int64, outcomeOf func(ledger.EpisodeRows) string) (s Sample, err error) {
	type name struct{ candidate, outcome string }
	by := map[name][]drawn{}
	for rows, err := range episodes {
		if err != nil {
			return s, err
		}
		e := &rows.Episode
		if why := e.Excluded(); why != "" && why != manifest.NotScored {
			s.NoResult++
			continue
		}
		outcome := outcomeOf(rows)
		if outcome == "" {
			continue
		}
		d := drawn{key: ledger.Key{EpisodeID: strings.Clone(e.EpisodeID), TaskID: strings.Clone(e.TaskID), Candidate: strings.Clone(e.Candidate), Trial: e.Trial}}
		h := sha256.New()
		_ = binary.Write(h, binary.BigEndian, seed) // a hash takes everything
		_, _ = fmt.Fprintf(h, "%q %q %d", d.key.TaskID, d.key.Candidate, d.key.Trial)
		h.Sum(d.order[:0])
		n := name{d.key.Candidate, outcome}
		by[n] = append(by[n], d)
	}
	for n, list := range by {
		s.Strata = append(s.Strata, Stratum{n.candidate, n.outcome, len(list), 0})
	}
	slices.SortFunc(s.Strata, func(a, b Stratum) int {
		return cmp.Or(cmp.Compare(a.Candidate, b.Candidate), cmp.Compare(a.Outcome, b.Outcome))
	})
	allot(s.Strata, size)
	var taken []drawn
	byOrder := func(a, b drawn) int { return slices.Compare(a.order[:], b.order[:]) }
	for _, stratum := range s.Strata {
		list := by[name{stratum.Candidate, stratum.Outcome}]
		slices.SortFunc(list, byOrder)
		taken = append(taken, list[:stratum.Drawn]...)
	}
	slices.SortFunc(taken, byOrder)
	for _, d := range taken {
		s.Episodes = append(s.Episodes, d.key)
	}
	return s, nil
}

// allot divides size among strata: one each as far as it goes, the largest first, and then one
// after another to the one that has least for its share.
func allot(strata []Stratum, size int) {
	order := make([]*Stratum, len(strata))
	all := 0
	for i := range strata {
		order[i] = &strata[i]
		all += strata[i].Episodes
	}
	slices.SortStableFunc(order, func(a, b *Stratum) int { return cmp.Compare(b.Episodes, a.Episodes) })
	size = min(size, all)
	for ; size > 0; size-- {
		var best *Stratum
		for _, s := range order {
			if s.Drawn == 0 {
				best = s
				break
			}
			if s.Drawn < s.Episodes && (best == nil || (s.Drawn+1)*best.Episodes < (best.Drawn+1)*s.Episodes) {
				best = s
			}
		}
		best.Drawn++
	}
}
