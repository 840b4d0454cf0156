package secrets

import "slices"

// wordFinder finds the first of many words in one pass (Wu and Manber, 1994): each pair of bytes
// has the least distance at which a word can end.
type wordFinder struct {
	words []string
	// head is the length of the shortest word. The table finds only the first head bytes of each
	// word.
	head int
	// table has for each pair the distance to skip, or, from ends on, the index in heads of the
	// words whose heads end there.
	table *[1 << 16]uint16
	heads [][]int
	// anyCase means that the words are in lower case and are found in any case of ASCII letters.
	anyCase bool
}

// ends is greater than every distance in the table.
const ends = 1 << 8

// newWordFinder returns a finder of words of at least two bytes. With anyCase they must be in
// lower case.
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
	for _, list := range f.heads { // so that find returns the longest word at a position
		slices.SortStableFunc(list, func(a, b int) int { return len(words[b]) - len(words[a]) })
	}
	return f
}

// pairs returns the pairs of bytes that match the word's two bytes before end.
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

// find returns the position of the first word at or after from and the longest word there; -1 if
// there is none.
func (f *wordFinder) find(s string, from int) (at, word int) { return findWord(f, s, from) }

func findWord[S ~string | ~[]byte](f *wordFinder, s S, from int) (at, word int) {
	if f.head == 0 {
		return -1, -1
	}
	table, far := f.table, f.head-1
	for end := from + f.head; end <= len(s); {
		n := table[uint16(s[end-2])|uint16(s[end-1])<<8]
		if int(n) == far { // a predictable distance, for which the processor need not wait
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

// fold returns s with its ASCII letters in lower case and other bytes unchanged.
func fold(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lowerByte(c)
	}
	return string(b)
}
