// Package counts is the built-in golden suite about message counts: its YAML files and the
// recordings of its simulated models, ready for load.Suite, and the kind of world that it
// runs in.
package counts

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"regexp"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
)

// FS is the suite's folder: suite.yaml, playbook.yaml, tasks and cassettes. It is read-only and
// safe for concurrent use.
//
//go:embed suite.yaml playbook.yaml tasks cassettes
var FS embed.FS

// Worlds are the kinds of worlds that the suite needs: counts, a dashboard. Its state has
// counts, which maps dates (YYYY-MM-DD) and labels to numbers, and job_status, what
// get_job_status answers call by call; the last repeats. A date that is absent has no data,
// which is not zero.
func Worlds() map[string]world.Kind { return map[string]world.Kind{"counts": kind{}} }

// kind makes dashboards. With a state, all of them have this one.
type kind struct{ read *state }

// tools are those of every dashboard.
var tools = []tool.Spec{
	{Name: "today_range", Description: "Returns today's date as start_date and end_date, in the dashboard's time zone.", Uncacheable: true, Hint: "If you need today's dates, call today_range first.",
		Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)},
	{Name: "get_counts", Description: "Returns how many messages of one label were counted from start_date to end_date, both days included.",
		Schema: json.RawMessage(`{"type":"object","properties":{"start_date":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},"end_date":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},"label":{"type":"string"}},"required":["start_date","end_date","label"],"additionalProperties":false}`)},
	{Name: "get_job_status", Description: "Returns the status of an export job.", Repeatable: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`)},
}

// Tools implements world.Kind.
func (k kind) Tools() []tool.Spec { return tools }

// Bind implements world.Binder.
func (k kind) Bind(raw json.RawMessage) (world.Kind, error) {
	s, err := readState(raw)
	return kind{s}, err
}

// Open implements world.Kind.
func (k kind) Open(_ context.Context, s world.Start) (world.World, error) {
	read := k.read
	if read == nil {
		var err error
		if read, err = readState(s.State); err != nil {
			return nil, err
		}
	}
	return &dashboard{state: read, zone: s.Zone}, nil
}

// dateLayout is how dates are written in counts and in tool arguments.
const dateLayout = time.DateOnly

var (
	datePattern    = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	errNotPattern  = errors.New("is not written YYYY-MM-DD")
	errNotCalendar = errors.New("is not a date of the calendar")
)

// parseDate reads a date of the calendar, as midnight UTC.
func parseDate(s string) (time.Time, error) {
	if !datePattern.MatchString(s) {
		return time.Time{}, errNotPattern
	}
	d, err := time.Parse(dateLayout, s)
	if err != nil {
		return time.Time{}, errNotCalendar
	}
	return d, nil
}

// hasLabel reports whether some date has a number for the label.
func hasLabel(counts map[string]map[string]int64, label string) bool {
	for _, day := range counts {
		if _, ok := day[label]; ok {
			return true
		}
	}
	return false
}
