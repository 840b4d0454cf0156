package transcripts

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens"
)

// expected is what a task accepts, one demand a line, each free of credentials.
func (d *Transcripts) expected(task string) []string {
	i := slices.IndexFunc(d.Tasks, func(t goldens.Task) bool { return t.ID == task })
	if i < 0 || len(d.Tasks[i].Expect) == 0 {
		return nil
	}
	t := d.Tasks[i]
	lines := demands(t.Expect[0])
	if t.Budgets.MaxSteps > 0 {
		lines = append(lines, fmt.Sprintf("Budget: %d steps, %d tool calls", t.Budgets.MaxSteps, t.Budgets.MaxToolCalls))
	}
	if more := len(t.Expect) - 1; more > 0 {
		lines = append(lines, fmt.Sprintf("%d other outcomes are accepted, too", more))
	}
	for i := range lines {
		lines[i] = d.redact("expected", lines[i])
	}
	return lines
}

// demands are those of one accepted outcome.
func demands(e goldens.Expect) (lines []string) {
	add := func(what string, values ...string) {
		if len(values) > 0 && values[0] != "" {
			lines = append(lines, what+": "+strings.Join(values, ", "))
		}
	}
	add("Status", strings.TrimSuffix(e.Status+" ("+e.StopReason+")", " ()"))
	add("Numbers in the answer", e.Numbers...)
	add("No other numbers than", e.OnlyNumbers...)
	add("Numbers not in the answer", e.NotNumbers...)
	for _, name := range slices.Sorted(maps.Keys(e.Near)) {
		add("Number near "+name, e.Near[name])
	}
	add("One of these texts in the answer", quoted(e.ContainsAny)...)
	add("Texts in the answer", quoted(e.ContainsAll)...)
	add("Texts not in the answer", quoted(e.NotContains)...)
	add("Answer matches", e.Matches...)
	add("Answer does not match", e.NotMatches...)
	add("Counts per day for", e.TableLabel)
	add("Required calls"+strings.TrimSuffix(" ("+string(e.Trajectory.Order)+")", " ()"), calls(e.Trajectory.Required)...)
	add("Forbidden calls", calls(e.Trajectory.Forbidden)...)
	for _, c := range e.State {
		add("State at "+c.Path, text(c.Wants))
	}
	add("Unchanged", e.Unchanged...)
	var limits []string
	for _, limit := range []struct {
		what string
		n    *int
	}{{"steps", e.MaxSteps}, {"tool calls", e.MaxToolCalls}, {"questions", e.MaxClarifies}} {
		if limit.n != nil {
			limits = append(limits, fmt.Sprintf("%d %s", *limit.n, limit.what))
		}
	}
	add("At most", limits...)
	for _, name := range slices.Sorted(maps.Keys(e.Signals)) {
		add(name, e.Signals[name])
	}
	return lines
}

func quoted(texts []string) (list []string) {
	for _, s := range texts {
		list = append(list, fmt.Sprintf("%q", s))
	}
	return list
}

func calls(list []goldens.CallMatch) (out []string) {
	for _, c := range list {
		call := c.Tool
		if c.Args != nil {
			call += text(c.Args)
		}
		out = append(out, call)
	}
	return out
}

// text is a value as JSON, whose keys are sorted.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(b)
}
