package goldens

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/answer"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
)

// near checks which number of the answer is nearest to each name.
func (s *scorer) near(e Expect) {
	near := e.Near
	if len(near) == 0 {
		return
	}
	if err := answer.CheckNames(near); err != nil {
		s.broken("answer_near", err)
		return
	}
	names := slices.Sorted(maps.Keys(near))
	first := func(name string) int { // as a large number where it does not occur
		return int(uint(strings.Index(s.folded, answer.Fold(name))) >> 1)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(first(a), first(b)) })
	want := make([]decimal.Decimal, len(names))
	for i, name := range names {
		want[i], _ = decimal.Parse(near[name])
	}
	var wrong []string
	for i, found := range answer.Nearest(s.o.Answer, s.answer, names, want) {
		switch {
		case found < 0:
			wrong = append(wrong, fmt.Sprintf("want %s near %q, found none", near[names[i]], names[i]))
		case s.answer.Numbers[found] != want[i]:
			wrong = append(wrong, fmt.Sprintf("want %s near %q, found %s", near[names[i]], names[i], foundNumbers{s.answer.Numbers[found]}))
		}
	}
	s.check("answer_near", len(wrong) == 0, "%s in %s", strings.Join(wrong, "; "), s.quoted())
}
