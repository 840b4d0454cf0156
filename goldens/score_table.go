package goldens

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/answer"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// table checks that the answer names a day that a call returned together with that day's
// number of the label, in the state that the world begins with. Around midnight more than
// one day is right.
func (s *scorer) table(e *Expect) {
	label := e.TableLabel
	if label == "" {
		return
	}
	days := s.daysSeen()
	if len(days) == 0 {
		s.check("answer_table", false, "want a date from a call's start_date and end_date, but none returned one")
		return
	}
	table := s.task.Table(label)
	var want []string
	for _, day := range days {
		number, ok := table[day.Format(time.DateOnly)]
		if !ok {
			want = append(want, day.Format(time.DateOnly)+" (no count in the world)")
			continue
		}
		named := slices.ContainsFunc(s.answer().Dates, func(d answer.Date) bool { return d.Names(day) })
		if count, _ := decimal.Parse(number); named && s.answer().Has(count) {
			s.check("answer_table", true, "")
			return
		}
		want = append(want, fmt.Sprintf("%s with %s %s", day.Format(time.DateOnly), label, number))
	}
	s.check("answer_table", false, "want %s, got %s", strings.Join(want, " or "), s.quoted())
}

// Table returns the numbers that the state of the task's world has for a label, by day:
// those of every mapping of dates (YYYY-MM-DD) to mappings with the label.
func (t Task) Table(label string) map[string]string {
	table := map[string]string{}
	addToTable(table, yamlfile.DecodeJSON(t.World.State), label)
	return table
}

func addToTable(table map[string]string, state any, label string) {
	members, _ := state.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) { // of two tables the last decides
		v := members[name]
		addToTable(table, v, label)
		day, _ := v.(map[string]any)
		number, is := day[label].(json.Number)
		if _, err := time.Parse(time.DateOnly, name); is && err == nil {
			table[name] = number.String()
		}
	}
}

// daysSeen are the days in the results of calls, in order.
func (s *scorer) daysSeen() []time.Time {
	var days []time.Time
	for _, c := range s.calls {
		if c.Outcome != tool.OK {
			continue
		}
		var result struct {
			Start string `json:"start_date"`
			End   string `json:"end_date"`
		}
		if json.Unmarshal(c.Result, &result) != nil {
			continue
		}
		for _, text := range []string{result.Start, result.End} {
			day, err := time.Parse(time.DateOnly, text)
			if err == nil && !slices.ContainsFunc(days, day.Equal) {
				days = append(days, day)
			}
		}
	}
	return days
}
