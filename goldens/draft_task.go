package goldens

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// file writes the draft as a task file.
func (d Draft) file() ([]byte, error) {
	var out strings.Builder
	for _, line := range d.Comments {
		out.WriteString(comment(line) + "\n")
	}
	doc := mapping(0)
	add(doc, "tasks", sequence(0, d.taskNode()), "")
	text, err := write(doc)
	return append([]byte(out.String()), text...), err
}

func (d Draft) taskNode() *yaml.Node {
	t, out := d.Task, mapping(0)
	add(out, "id", word(t.ID), "")
	if t.Title != "" {
		add(out, "title", quotedNode(t.Title), "")
	}
	add(out, "tier", word(t.Tier), "")
	if t.Tags != nil {
		add(out, "tags", each(t.Tags, word), "")
	}
	if t.Probes != nil {
		add(out, "probes", each(t.Probes, quotedNode), "")
	}
	add(out, "request", quotedNode(t.Request), "")
	add(out, "constraints", quotedNode(t.Constraints), "")
	addGiven(out, t)
	add(out, "tools", each(t.Tools, word), "")
	add(out, "world", worldNode(t.World), "")
	if len(t.World.Faults) > 0 {
		list := sequence(0)
		for _, f := range t.World.Faults {
			list.Content = append(list.Content, faultNode(f))
		}
		add(out, "faults", list, "")
	}
	add(out, "budgets", budgetsNode(t), "")
	if t.Replies != nil {
		add(out, "replies", each(t.Replies, quotedNode), "")
	}
	if len(t.Approvals) > 0 {
		list := sequence(yaml.FlowStyle)
		for _, yes := range t.Approvals {
			list.Content = append(list.Content, word(approvalWord(yes)))
		}
		add(out, "approvals", list, "")
	}
	d.addExpect(out)
	return out
}

func approvalWord(yes bool) string {
	if yes {
		return "approve"
	}
	return "deny"
}

func budgetsNode(t Task) *yaml.Node {
	b, out := t.Budgets, mapping(yaml.FlowStyle)
	for _, f := range []struct {
		name  string
		value *yaml.Node
	}{
		{"max_steps", number(int64(b.MaxSteps))}, {"max_tool_calls", number(int64(b.MaxToolCalls))},
		{"max_seconds", number(int64(b.MaxTime / time.Second))}, {"max_tokens_total", number(b.MaxTokens)},
		{"max_cost_usd", plain(strconv.FormatFloat(float64(b.MaxCostNanoUSD)/nanoUSD, 'f', -1, 64))},
	} {
		add(out, f.name, f.value, "")
	}
	return out
}

func worldNode(w WorldSpec) *yaml.Node {
	out := mapping(0)
	add(out, "now", quotedNode(w.Now.In(w.Zone).Format(time.RFC3339Nano)), "")
	add(out, "zone", word(w.Zone.String()), "")
	if w.Counts != nil {
		days := mapping(0)
		for _, date := range slices.Sorted(maps.Keys(w.Counts)) {
			day := mapping(yaml.FlowStyle)
			for _, label := range slices.Sorted(maps.Keys(w.Counts[date])) {
				add(day, label, number(w.Counts[date][label]), "")
			}
			days.Content = append(days.Content, plain(date), day)
		}
		if len(w.Counts) == 0 {
			days.Style = yaml.FlowStyle
		}
		add(out, "counts", days, "")
	}
	if w.Documents != nil {
		add(out, "documents", documentsNode(w.Documents), "")
	}
	if w.Env != nil {
		env := mapping(yaml.FlowStyle)
		for _, name := range slices.Sorted(maps.Keys(w.Env)) {
			add(env, name, quotedNode(w.Env[name]), "")
		}
		add(out, "env", env, "")
	}
	if w.ClockStep > 0 {
		add(out, "clock_step", plain(w.ClockStep.String()), "")
	}
	if w.Latency != nil {
		latency := mapping(yaml.FlowStyle)
		for _, name := range slices.Sorted(maps.Keys(w.Latency)) {
			add(latency, name, plain(w.Latency[name].String()), "")
		}
		add(out, "latency", latency, "")
	}
	if w.JobStatus != nil {
		add(out, "job_status", each(w.JobStatus, quotedNode), "")
	}
	return out
}

func faultNode(f Fault) *yaml.Node {
	out := mapping(yaml.FlowStyle)
	add(out, "tool", word(f.Tool), "")
	if len(f.OnCalls) > 0 {
		calls := sequence(yaml.FlowStyle)
		for _, n := range f.OnCalls {
			calls.Content = append(calls.Content, number(int64(n)))
		}
		add(out, "on_calls", calls, "")
	}
	add(out, "kind", word(string(f.Kind)), "")
	if f.Status > 0 {
		add(out, "status", number(int64(f.Status)), "")
	}
	if f.Code != "" {
		add(out, "code", quotedNode(f.Code), "")
	}
	if f.Message != "" {
		add(out, "message", quotedNode(f.Message), "")
	}
	if f.After > 0 {
		add(out, "after", plain(f.After.String()), "")
	}
	if f.Fields != nil {
		add(out, "fields", valueNode(f.Fields), "")
	}
	if f.Kind == FaultReplace {
		add(out, "value", valueNode(f.Value), "")
	}
	return out
}

// pinnedWords say, above each check that Pin made, what it pins down.
var pinnedWords = map[string]string{
	"status":       "# edit: how the episode ended",
	"stop_reason":  "# edit: why it was stopped",
	"numbers":      "# edit: every number of the answer; keep those that matter",
	"not_numbers":  "# edit: kept from the task it comes from",
	"only_numbers": "# edit: kept from the task it comes from",
	"near":         "# edit: kept from the task it comes from",
	"matches":      "# edit: kept from the task it comes from",
	"not_matches":  "# edit: kept from the task it comes from",
	"contains_any": "# edit: one of these is in the answer",
	"contains_all": "# edit: the answer's words; keep those that matter",
	"not_contains": "# edit: what the answer did well not to say",
	"order":        "# edit: exactly these calls in this order; in_order lets others stand between",
	"calls":        "# edit: what was called; leave arguments that do not matter to {$any: true}",
	"forbidden":    "# edit: what must not be asked for",
	"at_most":      "# edit: what this episode took; leave room if another way is as good",
	"signals":      "# edit: kept from the task it comes from",
	"table_label":  "# edit: kept from the task it comes from",
}

// addExpect writes the accepted outcomes: the first in full, the others by what
// sets them apart from it.
func (d Draft) addExpect(to *yaml.Node) {
	if len(d.Task.Expect) == 0 {
		return
	}
	first := d.Task.Expect[0]
	words := pinnedWords
	switch {
	case !d.Pinned:
		words = nil
	case first.Trajectory.Order == AnyOrder:
		words = maps.Clone(pinnedWords)
		words["order"] = "# edit: these calls, in whatever order: several things were under way at once"
	}
	add(to, "expect", expectNode(first, Expect{}, 0, words), "")
	if len(d.Task.Expect) == 1 {
		return
	}
	base := first
	base.StopReason, base.Note = "", ""
	list := sequence(0)
	for _, e := range d.Task.Expect[1:] {
		list.Content = append(list.Content, expectNode(e, base, yaml.FlowStyle, nil))
	}
	add(to, "also_accept", list, "")
}
