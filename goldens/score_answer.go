package goldens

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/answer"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
)

// maxExpression bounds an expression of matches and not_matches, in bytes.
const maxExpression = 1000

// compileAll compiles the expressions of one field; the error joins every fault.
func compileAll(field string, list []string) ([]*regexp.Regexp, error) {
	out, errs := make([]*regexp.Regexp, len(list)), []error(nil)
	for i, text := range list {
		var err error
		switch out[i], err = regexp.Compile(text); {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s[%d]: is not a regular expression of RE2: %w", field, i, err))
		case len(text) > maxExpression:
			errs = append(errs, fmt.Errorf("%s[%d]: is %d bytes long; at most %d are allowed", field, i, len(text), maxExpression))
		}
	}
	return out, errors.Join(errs...)
}

// parseDecimals reads the numbers of one field; the error joins every fault.
func parseDecimals(field string, list []string) ([]decimal.Decimal, error) {
	out, errs := make([]decimal.Decimal, len(list)), []error(nil)
	for i, text := range list {
		var ok bool
		if out[i], ok = decimal.Parse(text); !ok {
			errs = append(errs, fmt.Errorf("%s[%d]: %q is not a number", field, i, text))
		}
	}
	return out, errors.Join(errs...)
}

// numbers checks which numbers the answer has.
func (s *scorer) numbers(e *Expect) {
	if want, ok := s.wanted("answer_numbers", "numbers", e.Numbers); ok && len(want) > 0 {
		missing := foundNumbers(keep(want, func(n decimal.Decimal) bool { return !s.answer().Has(n) }))
		s.check("answer_numbers", len(missing) == 0, "want %s, found %s in %s", missing, foundNumbers(s.answer().Numbers), s.quoted())
	}
}

// notNumbers checks which numbers the answer must not have.
func (s *scorer) notNumbers(e *Expect) {
	if want, ok := s.wanted("answer_not_numbers", "not_numbers", e.NotNumbers); ok && len(want) > 0 {
		present := foundNumbers(keep(want, s.answer().Has))
		s.check("answer_not_numbers", len(present) == 0, "want none of %s, got %s", present, s.quoted())
	}
}

// onlyNumbers checks that the answer has no other numbers.
func (s *scorer) onlyNumbers(e *Expect) {
	if want, ok := s.wanted("answer_only_numbers", "only_numbers", e.OnlyNumbers); ok && want != nil {
		others := foundNumbers(keep(s.answer().Numbers, func(n decimal.Decimal) bool { return !slices.Contains(want, n) }))
		s.check("answer_only_numbers", len(others) == 0, "want no number but %s, found %s in %s", allowed(e.OnlyNumbers), others, s.quoted())
	}
}

func allowed(list []string) string {
	if len(list) == 0 {
		return "those of dates"
	}
	return strings.Join(list, ", ")
}

// wanted reads the numbers of a field; nil stays nil. If one of them is not a
// number, the check fails and ok is false.
func (s *scorer) wanted(check, field string, texts []string) (want []decimal.Decimal, ok bool) {
	if texts == nil {
		return nil, true
	}
	want, err := parseDecimals(field, texts)
	if err != nil {
		s.broken(check, err)
	}
	return want, err == nil
}

// matches checks expressions on the answer as it was written.
func (s *scorer) matches(e *Expect) {
	s.expressions("answer_matches", "matches", e.Matches, true, "want a match of")
}

func (s *scorer) notMatches(e *Expect) {
	s.expressions("answer_not_matches", "not_matches", e.NotMatches, false, "want no match of")
}

func (s *scorer) expressions(name, field string, list []string, want bool, wanted string) {
	if len(list) == 0 {
		return
	}
	compiled, err := compileAll(field, list)
	if err != nil {
		s.broken(name, err)
		return
	}
	var wrong quotedList
	for i, re := range compiled {
		if re.MatchString(s.o.Answer) != want {
			wrong = append(wrong, list[i])
		}
	}
	s.check(name, len(wrong) == 0, "%s %s, got %s", wanted, wrong, s.quoted())
}

// near checks which number of the answer is nearest to each name.
func (s *scorer) near(e *Expect) {
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
	for i, found := range answer.Nearest(s.o.Answer, s.answer(), names, want) {
		switch {
		case found < 0:
			wrong = append(wrong, fmt.Sprintf("want %s near %q, found none", near[names[i]], names[i]))
		case s.answer().Numbers[found] != want[i]:
			wrong = append(wrong, fmt.Sprintf("want %s near %q, found %s", near[names[i]], names[i], foundNumbers{s.answer().Numbers[found]}))
		}
	}
	s.check("answer_near", len(wrong) == 0, "%s in %s", strings.Join(wrong, "; "), s.quoted())
}
