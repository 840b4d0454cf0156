package compare

import (
	"cmp"
	"slices"
)

// mostPairs is how many pairs of a task are named.
const mostPairs = 4

// look names the pairs of a task worth a look: those whose outcomes differ, then
// those that were not solved, then those solved in another way; among these the
// shortest first. Pairs alike in outcome and every decision are not.
func (b *Builder) look(j *joined, names Names) []EpisodePair {
	type candidate struct {
		twin
		rank, length int
	}
	base, trial := b.baseline.books[names.Baseline], b.trial.books[names.Trial]
	var list []candidate
	for _, t := range j.twins {
		c := candidate{twin: t, length: t.baseline.to - t.baseline.from + t.trial.to - t.trial.from}
		switch differs := t.baseline.solved != t.trial.solved; {
		case differs && t.scored():
		case b.ended(t):
			c.rank = 1
		case !t.baseline.solved:
			c.rank = 2
		default:
			c.rank = 3
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(p, q candidate) int { return cmp.Or(cmp.Compare(p.rank, q.rank), cmp.Compare(p.length, q.length)) })
	pairs := []EpisodePair{}
	for _, c := range list {
		if len(pairs) == mostPairs {
			break
		}
		e := EpisodePair{
			Trial: int(c.trial.trial), BaselineID: c.baseline.id, TrialID: c.trial.id,
			BaselineEnded: b.baseline.words.list[c.baseline.ended], TrialEnded: b.trial.words.list[c.trial.ended],
		}
		e.Turn, e.What = divergence(
			base.decisions[c.baseline.from:c.baseline.to], &b.baseline.words, trial.decisions[c.trial.from:c.trial.to], &b.trial.words)
		if e.Turn == 0 && c.rank > 1 {
			continue
		}
		if e.Turn == 0 {
			e.What = "the same decisions, another outcome"
		}
		pairs = append(pairs, e)
	}
	return pairs
}

// ended says that two episodes ended in different ways.
func (b *Builder) ended(t twin) bool {
	return b.baseline.words.list[t.baseline.ended] != b.trial.words.list[t.trial.ended]
}
