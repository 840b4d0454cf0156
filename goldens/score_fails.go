package goldens

import (
	"fmt"
	"slices"
	"strings"
)

// scoreFails scores a task that proves the scoring: it is solved if its script
// fails the named checks, and no others, of the accepted outcome that it fails
// least.
func scoreFails(t Task, o Outcome) (solved bool, checks []CheckResult) {
	want := slices.Sorted(slices.Values(t.Fails))
	t.Fails = nil
	met, checks := Score(t, o)
	var failed []string
	for _, c := range checks {
		if !c.Passed {
			failed = append(failed, c.Name)
		}
	}
	slices.Sort(failed)
	c := CheckResult{Name: "fails", Passed: !met && slices.Equal(want, failed)}
	if !c.Passed {
		c.Detail = fmt.Sprintf("want exactly these checks to fail: %s; failed: %s", strings.Join(want, ", "), orNone(strings.Join(failed, ", ")))
	}
	return c.Passed, []CheckResult{c}
}
