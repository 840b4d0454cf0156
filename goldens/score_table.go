package goldens

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/answer"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
	"github.com/cupel-eval/cupel/goldens/world"
)

// table checks that the answer names a day that today_range returned together
// with that day's count of the label. Around midnight more than one day is right.
func (s *scorer) table(e Expect) {
	label := e.TableLabel
	if label == "" {
		return
	}
	days := s.daysSeen()
	if len(days) == 0 {
		s.check("answer_table", false, "want a date from %s, but no call of it returned one", world.TodayTool)
		return
	}
	var want []string
	for _, day := range days {
		count, ok := s.task.World.Counts[day.Format(time.DateOnly)][label]
		if !ok {
			want = append(want, day.Format(time.DateOnly)+" (no count in the world)")
			continue
		}
		named := slices.ContainsFunc(s.answer.Dates, func(d answer.Date) bool { return d.Names(day) })
		if named && s.answer.Has(decimal.Int(count, 0)) {
			s.check("answer_table", true, "")
			return
		}
		want = append(want, fmt.Sprintf("%s with %s %d", day.Format(time.DateOnly), label, count))
	}
	s.check("answer_table", false, "want %s, got %s", strings.Join(want, " or "), s.quoted())
}

// daysSeen are the days in the results of today_range, in order.
func (s *scorer) daysSeen() []time.Time {
	var days []time.Time
	for _, c := range s.calls {
		if c.Call.Name != world.TodayTool || c.Outcome != tool.OK {
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
