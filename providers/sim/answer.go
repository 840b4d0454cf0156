package sim

import (
	"fmt"
	"math/big"
	"strings"
)

// report answers with the facts, which are those of the queries in order.
func (m *behaviour) report(facts []fact) action {
	for _, f := range facts {
		if f.state == unusable {
			a := giveUp("I cannot give the count of %s messages %s: the tool's result is not usable.", f.label, f.dateRange)
			return a
		}
	}
	a := answer("%s", m.phrase(facts, true))
	a.said = tell(facts)
	return a
}

// phrase words the facts; full adds what follows from all of them together.
func (m *behaviour) phrase(facts []fact, full bool) string {
	r := m.request
	var out []string
	switch {
	case full && r.share && len(facts) > 1:
		return shareSentence(facts)
	case len(facts) > 1 && oneStretch(facts):
		out = append(out, labelList(facts))
	default:
		for _, f := range facts {
			out = append(out, f.sentence())
		}
	}
	if !full {
		return strings.Join(out, " ")
	}
	if r.difference && len(facts) > 1 {
		out = append(out, differences(facts, r.percent))
	}
	if len(facts) > 1 && (r.total || r.labels.every || !r.difference && !oneStretch(facts) && r.pairs == nil) {
		out = append(out, totalSentence(facts))
	}
	if r.average && len(facts) == 1 && facts[0].state == counted {
		f := facts[0]
		out = append(out, fmt.Sprintf("That is %s a day on average.", ratio(f.value, int64(f.days()), 2)))
	}
	return strings.Join(out, " ")
}

// sentence words one fact.
func (f fact) sentence() string {
	if f.state == noData && len(f.missing) > 0 && len(f.missing) < f.days() {
		return fmt.Sprintf("No complete count of %s messages %s: there is no data for %s.", f.label, f.dateRange, f.missingNames())
	}
	if f.state == noData {
		return fmt.Sprintf("No data for %s messages %s.", f.label, f.dateRange)
	}
	return fmt.Sprintf("%s messages %s: %d.%s", f.label, f.dateRange, f.value, f.gaps())
}

// gaps names the days that the value leaves out.
func (f fact) gaps() string {
	if len(f.missing) == 0 || f.state != counted {
		return ""
	}
	return fmt.Sprintf(" Not included, for lack of data: %s.", f.missingNames())
}

func (f fact) missingNames() string {
	const most = 5
	var names []string
	for _, d := range f.missing[:min(most, len(f.missing))] {
		names = append(names, d.String())
	}
	list := strings.Join(names, ", ")
	if more := len(f.missing) - most; more > 0 {
		list += fmt.Sprintf(" and %d more days", more)
	}
	return list
}

func oneStretch(facts []fact) bool {
	for _, f := range facts {
		if f.dateRange != facts[0].dateRange {
			return false
		}
	}
	return true
}

// labelList words the counts of several labels in one stretch.
func labelList(facts []fact) string {
	var parts []string
	gaps := ""
	for _, f := range facts {
		if f.state == noData {
			parts = append(parts, f.label+" no data")
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %d", f.label, f.value))
		gaps = f.gaps()
	}
	s := facts[0].String()
	return strings.ToUpper(s[:1]) + s[1:] + ": " + strings.Join(parts, ", ") + "." + gaps
}

// differences compares the facts: labels within one stretch, or one label
// between two stretches.
func differences(facts []fact, percent bool) string {
	for _, f := range facts {
		if f.state != counted {
			return "They cannot be compared without data."
		}
	}
	switch {
	case len(facts) == 2 && !oneStretch(facts) && facts[0].label == facts[1].label:
		return changeSentence(facts[0], facts[1], percent)
	case len(facts) == 4 && facts[0].label == facts[2].label && facts[1].label == facts[3].label:
		return changeSentence(facts[0], facts[2], percent) + " " + changeSentence(facts[1], facts[3], percent)
	case !oneStretch(facts):
		return leader(facts, func(f fact) string { return f.label + " " + f.String() })
	}
	return leader(facts, func(f fact) string { return f.label }) + ofBase(facts, percent)
}

// changeSentence words the change from the earlier stretch to the later one.
func changeSentence(a, b fact, percent bool) string {
	if b.from.before(a.from) {
		a, b = b, a
	}
	by := b.value - a.value
	word := "more"
	switch {
	case by == 0:
		return fmt.Sprintf("%s: no difference (0).", a.label)
	case by < 0:
		word, by = "fewer", -by
	}
	s := fmt.Sprintf("%d %s %s %s than %s", by, word, b.label, b.dateRange, a.dateRange)
	switch {
	case percent && a.value == 0:
		s += " (no percentage: the earlier count is zero)"
	case percent && word == "fewer":
		s += fmt.Sprintf(" (a decrease of %s%%)", ratio(100*by, a.value, 1))
	case percent:
		s += fmt.Sprintf(" (an increase of %s%%)", ratio(100*by, a.value, 1))
	}
	return s + "."
}

// leader says which fact is the largest, and by how much.
func leader(facts []fact, name func(fact) string) string {
	first, second := facts[0], facts[1]
	if second.value > first.value {
		first, second = second, first
	}
	for _, f := range facts[2:] {
		switch {
		case f.value > first.value:
			first, second = f, first
		case f.value > second.value:
			second = f
		}
	}
	if first.value == second.value {
		return fmt.Sprintf("Equal: %s and %s (difference 0).", name(first), name(second))
	}
	return fmt.Sprintf("More %s than %s, by %d.", name(first), name(second), first.value-second.value)
}

// ofBase words the difference of two labels in percent of the second.
func ofBase(facts []fact, percent bool) string {
	if !percent || len(facts) != 2 || facts[1].value == 0 {
		return ""
	}
	by, word := facts[0].value-facts[1].value, "more"
	if by < 0 {
		by, word = -by, "less"
	}
	return fmt.Sprintf(" %s is %s%% %s than %s.", facts[0].label, ratio(100*by, facts[1].value, 1), word, facts[1].label)
}

// totalSentence words the sum of all facts with data.
func totalSentence(facts []fact) string {
	var sum int64
	incomplete := ""
	for _, f := range facts {
		if f.state != counted {
			incomplete = " without the missing data"
			continue
		}
		sum += f.value
	}
	return fmt.Sprintf("Total%s: %d.", incomplete, sum)
}

// shareSentence words the first fact as a part of all.
func shareSentence(facts []fact) string {
	var sum int64
	for _, f := range facts {
		if f.state != counted {
			return labelList(facts) + " The share is unknown without data."
		}
		sum += f.value
	}
	f := facts[0]
	s := fmt.Sprintf("%s messages %s: %d of %d", f.label, f.dateRange, f.value, sum)
	if sum == 0 {
		return s + "."
	}
	return fmt.Sprintf("%s, which is %s%%.", s, ratio(100*f.value, sum, 1))
}

// ratio is a/b to the given number of decimals, rounded half up, without
// trailing zeros; b is not 0.
func ratio(a, b int64, decimals int) string {
	s := big.NewRat(a, b).FloatString(decimals)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
