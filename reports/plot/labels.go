package plot

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/plot/vg"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// labels are short, distinct names of candidates in texts, at most limit columns wide.
func labels(r model.Report, limit int) []string { return theme{}.labels(r, limit) }

// label is a name cut to limit columns; the i-th of its list begins with its
// number where it would be empty, or read like one seen before.
func label(name string, i, limit int, seen map[string]bool) string {
	s := fit(strings.TrimSpace(words.Visible(name)), limit)
	if s == "" || seen[s] {
		s = fit(strings.TrimSpace(fmt.Sprintf("%d %s", i+1, words.Visible(name))), limit)
	}
	seen[s] = true
	return s
}

// fit cuts a name so that it is at most as wide as limit columns of wider letters
// than most.
func fit(s string, limit int) string {
	cut := middle(s, limit)
	for n := limit - 1; n > 2 && textWidth(cut, plotFont) > 0.6*textSize*vg.Length(limit); n-- {
		cut = middle(s, n)
	}
	return cut
}

// middle cuts a name in the middle, to at most limit columns: names of candidates
// often differ at the end.
func middle(s string, limit int) string {
	if columns(s) <= limit {
		return s
	}
	r := []rune(s)
	head, tail := 0, len(r)
	for room := limit - 1 - (limit-1)/2; room >= wide(r[head]); head++ {
		room -= wide(r[head])
	}
	for room := (limit - 1) / 2; room >= wide(r[tail-1]); tail-- {
		room -= wide(r[tail-1])
	}
	for unicode.In(r[tail], unicode.Mn, unicode.Me) { // its letter is cut off
		tail++
	}
	return string(r[:head]) + "…" + string(r[tail:])
}

// labels are those of all candidates, as the drawing can show them.
func (t theme) labels(r model.Report, limit int) []string {
	seen, list := map[string]bool{}, make([]string, len(r.Candidates))
	for i, c := range r.Candidates {
		list[i] = t.label(c.Name, i, limit, seen)
	}
	return list
}

// label returns a label that the drawing can show. The font of pictures lacks most scripts,
// so a name with other letters is replaced by its number and those of its letters that the
// font has; substitutes explains the replacement.
func (t theme) label(name string, i, limit int, seen map[string]bool) string {
	if name := words.Visible(name); t.substitutes != nil && !drawable(name) {
		part := strings.Trim(strings.Map(func(r rune) rune {
			if drawable(string(r)) {
				return r
			}
			return -1
		}, name), " -_.:/·")
		if strings.IndexFunc(part, unicode.IsLetter) < 0 {
			part = ""
		}
		substitute := label(words.Join(" ", fmt.Sprintf("#%d", i+1), part), i, limit, seen)
		if said := substitute + " is " + words.Brief(name, 40); !slices.Contains(*t.substitutes, said) {
			*t.substitutes = append(*t.substitutes, said)
		}
		return substitute
	}
	return label(name, i, limit, seen)
}
