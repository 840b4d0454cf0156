package draft

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/world"
)

// file writes the draft as a task file.
func (d Draft) file() ([]byte, error) {
	var out strings.Builder
	for _, line := range d.Comments {
		out.WriteString(comment(line) + "\n")
	}
	doc := yamlfile.Mapping(0)
	yamlfile.Add(doc, "tasks", yamlfile.Sequence(0, d.taskNode()), "")
	text, err := yamlfile.Write(doc)
	return append([]byte(out.String()), text...), err
}

func (d Draft) taskNode() *yaml.Node {
	t, out := d.Task, yamlfile.Mapping(0)
	yamlfile.Add(out, "id", yamlfile.Word(t.ID), "")
	if t.Title != "" {
		yamlfile.Add(out, "title", yamlfile.QuotedNode(t.Title), "")
	}
	yamlfile.Add(out, "tier", yamlfile.Word(t.Tier), "")
	if t.Tags != nil {
		yamlfile.Add(out, "tags", yamlfile.Each(t.Tags, yamlfile.Word), "")
	}
	if t.Probes != nil {
		yamlfile.Add(out, "probes", yamlfile.Each(t.Probes, yamlfile.QuotedNode), "")
	}
	yamlfile.Add(out, "request", yamlfile.QuotedNode(t.Request), "")
	yamlfile.Add(out, "constraints", yamlfile.QuotedNode(t.Constraints), "")
	addGiven(out, t)
	yamlfile.Add(out, "tools", yamlfile.Each(t.Tools, yamlfile.Word), "")
	yamlfile.Add(out, "world", worldNode(t.World), "")
	if len(t.World.Faults) > 0 {
		list := yamlfile.Sequence(0)
		for _, f := range t.World.Faults {
			list.Content = append(list.Content, faultNode(f))
		}
		yamlfile.Add(out, "faults", list, "")
	}
	yamlfile.Add(out, "budgets", budgetsNode(t), "")
	if t.Replies != nil {
		yamlfile.Add(out, "replies", yamlfile.Each(t.Replies, yamlfile.QuotedNode), "")
	}
	if len(t.Approvals) > 0 {
		list := yamlfile.Sequence(yaml.FlowStyle)
		for _, yes := range t.Approvals {
			list.Content = append(list.Content, yamlfile.Word(approvalWord(yes)))
		}
		yamlfile.Add(out, "approvals", list, "")
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

func budgetsNode(t goldens.Task) *yaml.Node {
	b, out := t.Budgets, yamlfile.Mapping(yaml.FlowStyle)
	for _, f := range []struct {
		name  string
		value *yaml.Node
	}{
		{"max_steps", yamlfile.Number(int64(b.MaxSteps))}, {"max_tool_calls", yamlfile.Number(int64(b.MaxToolCalls))},
		{"max_seconds", yamlfile.Number(int64(b.MaxTime / time.Second))}, {"max_tokens_total", yamlfile.Number(b.MaxTokens)},
		{"max_cost_usd", yamlfile.Plain(strconv.FormatFloat(float64(b.MaxCostNanoUSD)/load.NanoUSD, 'f', -1, 64))},
	} {
		yamlfile.Add(out, f.name, f.value, "")
	}
	return out
}

func worldNode(w world.Spec) *yaml.Node {
	out := yamlfile.Mapping(0)
	yamlfile.Add(out, "now", yamlfile.QuotedNode(w.Now.In(w.Zone).Format(time.RFC3339Nano)), "")
	yamlfile.Add(out, "zone", yamlfile.Word(w.Zone.String()), "")
	if w.Counts != nil {
		days := yamlfile.Mapping(0)
		for _, date := range slices.Sorted(maps.Keys(w.Counts)) {
			day := yamlfile.Mapping(yaml.FlowStyle)
			for _, label := range slices.Sorted(maps.Keys(w.Counts[date])) {
				yamlfile.Add(day, label, yamlfile.Number(w.Counts[date][label]), "")
			}
			days.Content = append(days.Content, yamlfile.Plain(date), day)
		}
		if len(w.Counts) == 0 {
			days.Style = yaml.FlowStyle
		}
		yamlfile.Add(out, "counts", days, "")
	}
	if w.Documents != nil {
		yamlfile.Add(out, "documents", documentsNode(w.Documents), "")
	}
	if w.Env != nil {
		env := yamlfile.Mapping(yaml.FlowStyle)
		for _, name := range slices.Sorted(maps.Keys(w.Env)) {
			yamlfile.Add(env, name, yamlfile.QuotedNode(w.Env[name]), "")
		}
		yamlfile.Add(out, "env", env, "")
	}
	if w.ClockStep > 0 {
		yamlfile.Add(out, "clock_step", yamlfile.Plain(w.ClockStep.String()), "")
	}
	if w.Latency != nil {
		latency := yamlfile.Mapping(yaml.FlowStyle)
		for _, name := range slices.Sorted(maps.Keys(w.Latency)) {
			yamlfile.Add(latency, name, yamlfile.Plain(w.Latency[name].String()), "")
		}
		yamlfile.Add(out, "latency", latency, "")
	}
	if w.JobStatus != nil {
		yamlfile.Add(out, "job_status", yamlfile.Each(w.JobStatus, yamlfile.QuotedNode), "")
	}
	return out
}

func faultNode(f world.Fault) *yaml.Node {
	out := yamlfile.Mapping(yaml.FlowStyle)
	yamlfile.Add(out, "tool", yamlfile.Word(f.Tool), "")
	if len(f.OnCalls) > 0 {
		calls := yamlfile.Sequence(yaml.FlowStyle)
		for _, n := range f.OnCalls {
			calls.Content = append(calls.Content, yamlfile.Number(int64(n)))
		}
		yamlfile.Add(out, "on_calls", calls, "")
	}
	yamlfile.Add(out, "kind", yamlfile.Word(string(f.Kind)), "")
	if f.Status > 0 {
		yamlfile.Add(out, "status", yamlfile.Number(int64(f.Status)), "")
	}
	if f.Code != "" {
		yamlfile.Add(out, "code", yamlfile.QuotedNode(f.Code), "")
	}
	if f.Message != "" {
		yamlfile.Add(out, "message", yamlfile.QuotedNode(f.Message), "")
	}
	if f.After > 0 {
		yamlfile.Add(out, "after", yamlfile.Plain(f.After.String()), "")
	}
	if f.Fields != nil {
		yamlfile.Add(out, "fields", yamlfile.ValueNode(f.Fields), "")
	}
	if f.Kind == world.FaultReplace {
		yamlfile.Add(out, "value", yamlfile.ValueNode(f.Value), "")
	}
	return out
}

// addExpect writes the accepted outcomes: the first in full, the others by what
// sets them apart from it.
func (d Draft) addExpect(to *yaml.Node) {
	if len(d.Task.Expect) == 0 {
		return
	}
	first := d.Task.Expect[0]
	yamlfile.Add(to, "expect", goldens.WriteExpect(first, goldens.Expect{}, 0, d.Pinned), "")
	if len(d.Task.Expect) == 1 {
		return
	}
	base := first
	base.StopReason, base.Note = "", ""
	list := yamlfile.Sequence(0)
	for _, e := range d.Task.Expect[1:] {
		list.Content = append(list.Content, goldens.WriteExpect(e, base, yaml.FlowStyle, false))
	}
	yamlfile.Add(to, "also_accept", list, "")
}
