package answer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/goldens/internal/decimal"
)

// maxNear bounds the names of near: pairing takes time exponential in them.
const maxNear = 10

// CheckNames reports every entry of near that no answer could be checked against.
func CheckNames(near map[string]string) error {
	var errs []error
	if len(near) > maxNear {
		errs = append(errs, fmt.Errorf("near: has %d names; at most %d are allowed", len(near), maxNear))
	}
	folded := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(near)) {
		if strings.TrimSpace(name) == "" {
			errs = append(errs, errors.New("near: a name must not be blank"))
		}
		if first, twice := folded[Fold(name)]; twice {
			errs = append(errs, fmt.Errorf("near: %q and %q are the same name; case is ignored", first, name))
		}
		folded[Fold(name)] = name
		if _, ok := decimal.Parse(near[name]); !ok {
			errs = append(errs, fmt.Errorf("near.%s: %q is not a number", name, near[name]))
		}
	}
	return errors.Join(errs...)
}

// Nearest returns, for each of names, the index of the number of the answer that is
// nearest to it, or -1 if it has no number. text is what a was read from, and want the number that
// each name should have.
func Nearest(text string, a Text, names []string, want []decimal.Decimal) []int {
	return newNearby(text, a, names).numbers(want, a.Numbers)
}

// nearby measures how far the numbers of an answer are from names.
//
// A name occurs where its text does, case ignored, and not within a longer name of
// the list. The distance is the number of characters between the two. Spaces in a row
// count as one character, a comma as 5, a semicolon and the end of a sentence as 100,
// the end of a line as 1,000. A number that is part of a name does not count. If two
// numbers are equally far, the one after the name is nearer.
type nearby struct {
	numbersAt []span   // by number, in characters
	namesAt   [][]span // by name, in the order of the text
	// upTo is the distance of each character from the start of the answer.
	upTo []int
	// named are the characters that belong to a name.
	named []bool
}

// span is where a number or a name is in a text.
type span struct{ start, end int }

func newNearby(text string, a Text, names []string) *nearby {
	n := &nearby{upTo: distances(text), namesAt: make([][]span, len(names))}
	normal := characters(string(normalForm(text)))
	for _, at := range a.at {
		n.numbersAt = append(n.numbersAt, span{normal[at.start], normal[at.end]})
	}
	n.named = make([]bool, len(n.upTo))
	folded := Fold(text)
	index := characters(folded)
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(len(names[j]), len(names[i])) })
	for _, i := range order {
		n.find(i, folded, Fold(names[i]), index)
	}
	return n
}

// find notes where name i is; index is the character of each byte of the text.
func (n *nearby) find(i int, text, name string, index []int) {
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return
		}
		found := span{index[from+at], index[from+at+len(name)]}
		from += at + len(name)
		if slices.Contains(n.named[found.start:found.end], true) {
			continue // of a longer name
		}
		for k := found.start; k < found.end; k++ {
			n.named[k] = true
		}
		n.namesAt[i] = append(n.namesAt[i], found)
	}
}

// characters is the index of the character that each byte of a text belongs to, and
// behind them the number of characters.
func characters(text string) []int {
	out := make([]int, 0, len(text)+1)
	count := 0
	for at := range text {
		for len(out) < at {
			out = append(out, count-1)
		}
		out = append(out, count)
		count++
	}
	for len(out) < len(text) {
		out = append(out, count-1)
	}
	return append(out, count)
}

// distances is how far each character of a text, and its end, is from its start.
func distances(text string) []int {
	out := make([]int, 1, utf8.RuneCountInString(text)+1)
	runes := []rune(text)
	for i, r := range runes {
		next := ' '
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		length := 1
		switch spaced := unicode.IsSpace(next); {
		case r == '\n':
			length = 1000
		case unicode.IsSpace(r) && spaced:
			length = 0
		case strings.ContainsRune(";；؛。！？؟", r), spaced && strings.ContainsRune(".!?", r):
			length = 100
		case strings.ContainsRune("，、،", r), spaced && r == ',':
			length = 5
		}
		out = append(out, out[i]+length)
	}
	return out
}

// distance is that of number j from name i, doubled, and one more where the number
// comes first; -1 where the name does not occur.
func (n *nearby) distance(i, j int) int {
	number, names := n.numbersAt[j], n.namesAt[i]
	after, _ := slices.BinarySearchFunc(names, number.start, func(s span, at int) int { return cmp.Compare(s.start, at) })
	best := -1
	if after > 0 {
		best = 2 * (n.upTo[number.start] - n.upTo[names[after-1].end])
	}
	if after < len(names) {
		if d := 2*(n.upTo[names[after].start]-n.upTo[number.end]) + 1; best < 0 || d < best {
			best = d
		}
	}
	return best
}

// pairing assigns numbers to some names.
type pairing struct {
	cost int          // the sum of the distances; -1: there is no such pairing
	of   [maxNear]int // by name; -1: none
}

// before reports whether p is nearer than q, or as near and more in the order of the
// text.
func (p pairing) before(q pairing) bool {
	return p.cost < q.cost || p.cost == q.cost && slices.Compare(p.of[:], q.of[:]) < 0
}

// numbers pairs each name with a number, -1 for none, so that as many names as
// possible have one and the distances add up to as little as possible; among equals
// the names take the numbers in the order of the text. A number goes to one name, or
// to as many as expect its value.
func (n *nearby) numbers(want, values []decimal.Decimal) []int {
	best := slices.Repeat([]pairing{{cost: -1}}, 1<<len(want))
	best[0].cost = 0
	for i := range best[0].of {
		best[0].of[i] = -1
	}
	for _, j := range n.candidates(len(want)) {
		far := make([]int, len(want))
		for i := range far {
			far[i] = n.distance(i, j)
		}
		copies := 0 // of the number: one for each name that expects its value
		for _, w := range want {
			if w == values[j] {
				copies++
			}
		}
		for range max(1, copies) {
			for names := len(best) - 1; names >= 0; names-- {
				for i, d := range far {
					if best[names].cost < 0 || names&(1<<i) != 0 || d < 0 {
						continue
					}
					next := best[names]
					next.cost, next.of[i] = next.cost+d, j
					if with := &best[names|1<<i]; with.cost < 0 || next.before(*with) {
						*with = next
					}
				}
			}
		}
	}
	chosen := 0
	for names := range best {
		more := cmp.Compare(bits.OnesCount(uint(names)), bits.OnesCount(uint(chosen)))
		if best[names].cost >= 0 && (more > 0 || more == 0 && best[names].cost < best[chosen].cost) {
			chosen = names
		}
	}
	return best[chosen].of[:len(want)]
}

// candidates are the numbers that a pairing of most names can need: those nearest to
// each.
func (n *nearby) candidates(most int) (out []int) {
	for i := range n.namesAt {
		var all [][2]int // distance, number
		for j, at := range n.numbersAt {
			if d := n.distance(i, j); d >= 0 && !slices.Contains(n.named[at.start:at.end], true) {
				all = append(all, [2]int{d, j})
			}
		}
		slices.SortFunc(all, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
		for _, c := range all[:min(len(all), most)] {
			out = append(out, c[1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
