package transcripts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens"
)

// asked are the fields of an accepted outcome, in the order shown, and what they ask.
var asked = [][2]string{
	{"Status", "Status"}, {"StopReason", "Stop reason"}, {"Numbers", "Numbers in the answer"}, {"OnlyNumbers", "No other numbers than"}, {"NotNumbers", "Numbers not in the answer"},
	{"Near", "Number near a name"}, {"ContainsAny", "One of these texts in the answer"}, {"ContainsAll", "Texts in the answer"}, {"NotContains", "Texts not in the answer"},
	{"Matches", "Answer matches"}, {"NotMatches", "Answer does not match"}, {"TableLabel", "Counts per day for"}, {"Required", "Required calls"}, {"Order", "Order of calls"}, {"Forbidden", "Forbidden calls"},
	{"State", "State"}, {"Unchanged", "Unchanged"}, {"MaxSteps", "Most steps"}, {"MaxToolCalls", "Most tool calls"}, {"MaxClarifies", "Most questions"}, {"Signals", "Signals"},
}

// expected is what a task accepts, one demand a line, each free of credentials.
func (d *Transcripts) expected(task string) (lines []string) {
	i := slices.IndexFunc(d.Tasks, func(t goldens.Task) bool { return t.ID == task })
	if i < 0 || len(d.Tasks[i].Expect) == 0 {
		return nil
	}
	e := d.Tasks[i].Expect[0]
	var fields map[string]any
	text, err := json.Marshal(struct {
		goldens.Expect
		goldens.Trajectory
	}{e, e.Trajectory})
	if err != nil || json.Unmarshal(text, &fields) != nil {
		return nil
	}
	for _, a := range asked {
		if value := demand(fields[a[0]]); value != "" {
			lines = append(lines, d.redact("expected", a[1]+": "+value))
		}
	}
	if more := len(d.Tasks[i].Expect) - 1; more > 0 {
		lines = append(lines, fmt.Sprintf("Other outcomes that are accepted, too: %d", more))
	}
	return lines
}

// demand is a value in words: lists joined, a call as its tool and arguments.
func demand(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		var list []string
		for _, item := range v {
			list = append(list, demand(item))
		}
		return strings.Join(list, ", ")
	case map[string]any:
		if tool, ok := v["Tool"].(string); ok && v["Args"] == nil {
			return tool
		} else if ok {
			return tool + demand(v["Args"])
		}
	}
	text, _ := json.Marshal(v) // it came from JSON
	return string(text)
}
