package transcripts

import (
	"cmp"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens"
)

// asks says what the fields of an accepted outcome ask for, in words. Other fields have their name.
var asks = map[string]string{
	"status": "Status", "stop_reason": "Stop reason", "numbers": "Numbers in the answer", "only_numbers": "No other numbers than", "not_numbers": "Numbers not in the answer",
	"near": "Numbers next to names", "contains_any": "One of these texts in the answer", "contains_all": "Texts in the answer", "not_contains": "Texts not in the answer",
	"matches": "Answer matches", "not_matches": "Answer does not match", "table_label": "Counts per day for", "calls": "Required calls", "order": "Order of calls",
	"forbidden": "Forbidden calls", "before": "Order of successes", "approvals": "Requests to people", "at_most": "At most", "state": "State", "unchanged": "Unchanged",
	"state_hash": "Hash of the state", "workflow": "Workflow", "effects": "Effects", "score": "Custom checks", "judge": "Judges", "signals": "Signals",
}

// expected is what a task accepts, one demand a line, each free of credentials.
func (d *Transcripts) expected(task string) (lines []string) {
	if d.at == nil {
		d.at = make(map[string]int, len(d.Tasks))
		for i := range d.Tasks {
			d.at[d.Tasks[i].ID] = i
		}
	}
	i, ok := d.at[task]
	if !ok || len(d.Tasks[i].Expect) == 0 {
		return nil
	}
	e := d.Tasks[i].Expect[0]
	e.Note = ""
	for name, value := range pairs(goldens.WriteExpect(e, goldens.Expect{}, 0, false)) {
		demands := []string{demand(value)}
		if name == "state" {
			demands = stateDemands(value)
		}
		for _, text := range demands {
			lines = append(lines, d.redact("expected", cmp.Or(asks[name], name)+": "+text))
		}
	}
	if more := len(d.Tasks[i].Expect) - 1; more > 0 {
		lines = append(lines, fmt.Sprintf("Other outcomes that are accepted, too: %d", more))
	}
	return lines
}

// pairs are the fields of a mapping.
func pairs(n *yaml.Node) func(func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}

// demand writes a value as a suite has it, on one line and without the outermost brackets.
func demand(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value
	case yaml.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, demand(item))
		}
	default:
		for name, value := range pairs(n) {
			parts = append(parts, name+": "+inline(value))
		}
	}
	return strings.Join(parts, ", ")
}

// inline writes a value as YAML on one line.
func inline(n *yaml.Node) string {
	flow := *n
	flow.Style |= yaml.FlowStyle
	text, _ := yaml.Marshal(&flow) // a suite has been read from it
	return strings.TrimSpace(string(text))
}

// operators say what a check of the state demands of the value at a path.
var operators = map[string]string{
	"is": "%s is %s", "not": "%s is not %s", "count": "number of entries of %s: %s", "matches": "%s matches %s", "exists": "%s exists: %s",
	"every": "each entry of %s is %s", "some": "an entry of %s is %s",
}

// stateDemands writes the checks of the state, one sentence each.
func stateDemands(checks *yaml.Node) (out []string) {
	for _, check := range checks.Content {
		path := ""
		for name, value := range pairs(check) {
			if name == "path" {
				path = value.Value
				continue
			}
			text := inline(value)
			for bound, words := range pairs(value) {
				if says := map[string]string{"$gte": "at least ", "$lte": "at most "}[bound]; says != "" {
					text = says + inline(words)
				}
			}
			out = append(out, fmt.Sprintf(cmp.Or(operators[name], "%s "+name+" %s"), path, text))
		}
	}
	return out
}
