package sim

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A model's plan is the one thing of its own that it sees again. It keeps there
// what it has learnt, because results in the scratchpad get folded and cut.

const known = "known: "

var knownFact = regexp.MustCompile(`^(\w+) (\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})=(\d+|none)$`)

// recall writes facts for the plan: "known: angry 2026-05-01..2026-05-07=2003".
func recall(facts []fact) string {
	var out []string
	for _, f := range facts {
		value := "none"
		if f.state == counted {
			value = strconv.FormatInt(f.value, 10)
		}
		if f.state != unusable && len(f.missing) == 0 {
			out = append(out, fmt.Sprintf("%s %s..%s=%s", f.label, f.from, f.to, value))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return known + strings.Join(out, ", ")
}

// remember reads the facts of a plan back, those that are not known better.
func (n *notes) remember(plan string) {
	_, list, ok := strings.Cut(plan, known)
	if !ok {
		return
	}
	for item := range strings.SplitSeq(strings.TrimSpace(list), ", ") {
		m := knownFact.FindStringSubmatch(item)
		if m == nil {
			continue
		}
		from, okFrom := parseDay(m[2])
		to, okTo := parseDay(m[3])
		if !okFrom || !okTo {
			continue
		}
		f := fact{query: query{label: m[1], dateRange: dateRange{from, to}}, state: noData}
		if m[4] != "none" {
			value, err := strconv.ParseInt(m[4], 10, 64)
			if err != nil {
				continue
			}
			f.state, f.value = counted, value
		}
		if !slices.ContainsFunc(n.facts, func(g fact) bool { return g.query == f.query }) {
			n.facts = append(n.facts, f)
		}
	}
}
