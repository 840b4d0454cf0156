package recorder

import (
	"slices"
	"strings"
)

// finder finds the first of many words in one pass (Wu and Manber, 1994): a pair
// of bytes says how far ahead a word can end at the earliest.
type finder struct {
	words []string
	// head is the length of the shortest word: only so much of each is looked for
	// with the table.
	head int
	// table says by pair how far to go on, or from ends on which words' heads end.
	table []uint16
	heads [][]int
}

// ends is beyond every distance in the table.
const ends = 1 << 8

// newFinder takes words of at least two bytes.
func newFinder(words []string) *finder {
	f := &finder{words: words}
	if len(words) == 0 {
		return f
	}
	f.head = len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
	f.head = min(f.head, ends)
	f.table = slices.Repeat([]uint16{uint16(f.head - 1)}, 1<<16)
	for _, word := range words {
		for end := 2; end < f.head; end++ {
			p := pair(word, end)
			f.table[p] = min(f.table[p], uint16(f.head-end))
		}
	}
	for w, word := range words {
		p := pair(word, f.head)
		if f.table[p] < ends {
			f.table[p] = ends + uint16(len(f.heads))
			f.heads = append(f.heads, nil)
		}
		k := f.table[p] - ends
		f.heads[k] = append(f.heads[k], w)
	}
	return f
}

func pair(s string, end int) uint16 { return uint16(s[end-2]) | uint16(s[end-1])<<8 }

// find returns where the first word at or after from begins, and which it is; -1
// without one.
func (f *finder) find(s string, from int) (at, word int) {
	if f.head == 0 {
		return -1, -1
	}
	for end := from + f.head; end <= len(s); {
		n := f.table[pair(s, end)]
		if n < ends {
			end += int(n)
			continue
		}
		for _, w := range f.heads[n-ends] {
			if strings.HasPrefix(s[end-f.head:], f.words[w]) {
				return end - f.head, w
			}
		}
		end++
	}
	return -1, -1
}
