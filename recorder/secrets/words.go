package secrets

import "slices"

// wordFinder finds the first of many words in one pass (Wu and Manber, 1994): a pair
// of bytes says how far ahead a word can end at the earliest.
type wordFinder struct {
	words []string
	// head is the length of the shortest word: only so much of each is looked for
	// with the table.
	head int
	// table says by pair how far to go on, or from ends on which words' heads end.
	table *[1 << 16]uint16
	heads [][]int
	// anyCase: the words are in lower case, and found in any case of ASCII letters.
	anyCase bool
}

// ends is beyond every distance in the table.
const ends = 1 << 8

// newWordFinder takes words of at least two bytes. If they shall be found in any case,
// they must be in lower case.
func newWordFinder(words []string, anyCase bool) *wordFinder {
	f := &wordFinder{words: words, anyCase: anyCase}
	if len(words) == 0 {
		return f
	}
	f.head = len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
	f.head = min(f.head, ends)
	f.table = new([1 << 16]uint16)
	for i := range f.table {
		f.table[i] = uint16(f.head - 1)
	}
	for _, word := range words {
		for end := 2; end < f.head; end++ {
			for _, p := range f.pairs(word, end) {
				f.table[p] = min(f.table[p], uint16(f.head-end))
			}
		}
	}
	for w, word := range words {
		pairs := f.pairs(word, f.head)
		k := f.table[pairs[0]]
		if k < ends {
			k = ends + uint16(len(f.heads))
			f.heads = append(f.heads, nil)
		}
		for _, p := range pairs {
			f.table[p] = k
		}
		f.heads[k-ends] = append(f.heads[k-ends], w)
	}
	for _, list := range f.heads { // the longest word at a place is the one that is found
		slices.SortStableFunc(list, func(a, b int) int { return len(words[b]) - len(words[a]) })
	}
	return f
}

// pairs returns the pairs of bytes that are taken for the one before end.
func (f *wordFinder) pairs(word string, end int) (all []uint16) {
	for _, a := range f.cases(word[end-2]) {
		for _, b := range f.cases(word[end-1]) {
			all = append(all, uint16(a)|uint16(b)<<8)
		}
	}
	return all
}

func (f *wordFinder) cases(c byte) []byte {
	if f.anyCase && c >= 'a' && c <= 'z' {
		return []byte{c, c - 'a' + 'A'}
	}
	return []byte{c}
}

// find returns where the first word at or after from begins, and the longest one
// there; -1 without one.
func (f *wordFinder) find(s string, from int) (at, word int) { return findWord(f, s, from) }

func findWord[S ~string | ~[]byte](f *wordFinder, s S, from int) (at, word int) {
	if f.head == 0 {
		return -1, -1
	}
	table, far := f.table, f.head-1
	for end := from + f.head; end <= len(s); {
		n := table[uint16(s[end-2])|uint16(s[end-1])<<8]
		if int(n) == far { // a distance that is known beforehand need not be waited for
			end += far
			continue
		}
		if n < ends {
			end += int(n)
			continue
		}
		for _, w := range f.heads[n-ends] {
			if beginsWith(f, s[end-f.head:], f.words[w]) {
				return end - f.head, w
			}
		}
		end++
	}
	return -1, -1
}

func beginsWith[S ~string | ~[]byte](f *wordFinder, s S, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := range len(word) {
		c := s[i]
		if f.anyCase {
			c = lowerByte(c)
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// fold returns s with its ASCII letters in lower case, and every other byte as it is.
func fold(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lowerByte(c)
	}
	return string(b)
}
