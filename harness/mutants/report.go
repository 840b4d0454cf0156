package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// leastGoldens is the share of mutants, in percent, that the golden suites kill
// without any other test.
const leastGoldens = 95

// tally counts the mutants of a class.
type tally struct{ mutants, goldens, all int }

func (t *tally) add(r result) {
	t.mutants++
	if r.Goldens != "" {
		t.goldens++
	}
	if r.Goldens != "" || r.Tests != "" {
		t.all++
	}
}

// report says what was killed, by class, and whether that is enough: 95% by the golden
// suites alone, and all by all tests, unless quick left those out.
func report(results []result, equivalent []mutant, quick bool) (text string, enough bool) {
	var classes []string
	byClass, total := map[string]*tally{}, tally{}
	for _, r := range results {
		if byClass[r.Class] == nil {
			byClass[r.Class] = &tally{}
			classes = append(classes, r.Class)
		}
		byClass[r.Class].add(r)
		total.add(r)
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "class\tmutants\tkilled by goldens\tkilled by all tests\t")
	row := func(name string, t tally) {
		all := fmt.Sprintf("%d (%s)", t.all, percent(t.all, t.mutants))
		if quick {
			all = "not run"
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d (%s)\t%s\t\n", name, t.mutants, t.goldens, percent(t.goldens, t.mutants), all)
	}
	for _, c := range classes {
		row(c, *byClass[c])
	}
	row("total", total)
	_ = w.Flush() // a strings.Builder takes everything

	for _, r := range results {
		switch {
		case r.Goldens == "" && (r.Tests != "" || quick):
			fmt.Fprintf(&out, "survives the goldens: %s/%s (%s)%s\n", r.Class, r.ID, r.Breaks, withoutVerdict(r))
		case r.Goldens == "":
			fmt.Fprintf(&out, "survives all tests: %s/%s (%s)%s\n", r.Class, r.ID, r.Breaks, withoutVerdict(r))
		}
	}
	for _, m := range equivalent {
		fmt.Fprintf(&out, "equivalent, not counted: %s/%s: %s\n", m.Class, m.ID, m.Equivalent)
	}
	return out.String(), 100*total.goldens >= leastGoldens*total.mutants && (quick || total.all == total.mutants)
}

func withoutVerdict(r result) string {
	if r.NoVerdict == 0 {
		return ""
	}
	return fmt.Sprintf("; %d episodes without a verdict: their cassettes are stale under it", r.NoVerdict)
}

func percent(n, of int) string {
	if of == 0 {
		return "100.0%"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of))
}
