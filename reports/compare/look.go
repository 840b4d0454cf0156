package compare

import (
	"cmp"
	"slices"
)

// mostPairs is how many pairs of a task are named.
const mostPairs = 4

// look names the pairs of a task worth a look: those whose outcomes differ, then
// those that were not solved, then those solved in another way; among these the
// shortest first. Pairs with the same outcome and the same decisions are left out.
func (b *Builder) look(j *joined, names, labels Names) []EpisodePair {
	type candidate struct {
		twin
		rank, length int
	}
	base, newer := b.baseline().candidates[names.Baseline], b.new.candidates[names.New]
	var list []candidate
	for _, t := range j.twins {
		if t.baseline.run > 0 {
			continue // one run of the baseline is enough to look at
		}
		c := candidate{twin: t, length: t.baseline.to - t.baseline.from + t.new.to - t.new.from}
		switch differs := t.baseline.solved != t.new.solved; {
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
			Trial: int(c.new.trial), BaselineID: c.baseline.id, NewID: c.new.id,
			BaselineEnded: b.baseline().words.list[c.baseline.ended], NewEnded: b.new.words.list[c.new.ended],
		}
		e.Turn, e.What = divergence(labels,
			base.decisions[c.baseline.from:c.baseline.to], &b.baseline().words, newer.decisions[c.new.from:c.new.to], &b.new.words)
		if e.Turn == 0 && c.rank > 1 {
			continue
		}
		if e.Turn == 0 {
			e.What = "the same decisions, a different outcome"
		}
		pairs = append(pairs, e)
	}
	return pairs
}

// ended says that two episodes ended in different ways.
func (b *Builder) ended(t twin) bool {
	return b.baseline().words.list[t.baseline.ended] != b.new.words.list[t.new.ended]
}
