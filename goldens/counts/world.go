package counts

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Error codes of the tools, for models and for people.
const (
	codeBadDate  = "E_BAD_DATE"
	codeBadRange = "E_BAD_RANGE"
	codeBadLabel = "E_BAD_LABEL"
	codeNotFound = "E_NOT_FOUND"
)

// dashboard is the world of one episode. Nothing in it can change, except that its jobs
// proceed with every question about them.
type dashboard struct {
	*state
	zone  *time.Location
	polls int // answered calls of get_job_status
}

// Call implements world.World.
func (w *dashboard) Call(_ context.Context, c tool.Call, at time.Time) (world.Effect, error) {
	switch c.Name {
	case "today_range":
		return w.todayRange(at), nil
	case "get_counts":
		return w.getCounts(c), nil
	case "get_job_status":
		return w.getJobStatus(c), nil
	}
	return world.NoTool(c), nil
}

// State implements world.World. The world has no state, so it returns nil.
func (w *dashboard) State(context.Context) (json.RawMessage, error) { return nil, nil }

// Close implements world.World.
func (w *dashboard) Close() error { return nil }

// maxMissing bounds how many missing dates a result names.
const maxMissing = 10

// todayRange answers with the date of the call in the dashboard's zone, twice:
// a range of one day.
func (w *dashboard) todayRange(at time.Time) world.Effect {
	today := civilDate(at.In(w.zone))
	return world.Return(map[string]any{"start_date": today, "end_date": today})
}

// gregorian is the first day of the Gregorian calendar.
var gregorian = time.Date(1582, 10, 15, 0, 0, 0, 0, time.UTC)

// civilDate is the date on the calendar of its day: Gregorian, and Julian
// before it (J. D. Richards, Explanatory Supplement to the Astronomical
// Almanac, 3rd ed., §15.11).
func civilDate(local time.Time) string {
	y, m, d := local.Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	if !day.Before(gregorian) {
		return day.Format(dateLayout)
	}
	const day0 = 2440588 // the Julian day number of 1 January 1970
	c := day.Unix()/86400 + day0 + 32082
	yr := (4*c + 3) / 1461
	e := c - 1461*yr/4
	mo := (5*e + 2) / 153
	return fmt.Sprintf("%04d-%02d-%02d", yr-4800+mo/10, mo+3-12*(mo/10), e-(153*mo+2)/5+1)
}

// getCounts sums one label over an inclusive range of dates. A range with a
// date that has no data has no sum: the value is then null, and the result
// names the dates.
func (w *dashboard) getCounts(c tool.Call) world.Effect {
	var args struct {
		Start string `json:"start_date"`
		End   string `json:"end_date"`
		Label string `json:"label"`
	}
	if refused := world.ReadArgs(c, &args); refused != nil {
		return *refused
	}
	start, err := parseDate(args.Start)
	if err != nil {
		return world.Refuse(codeBadDate, "start_date %q %v", clip.Runes(args.Start, maxQuoted), err)
	}
	end, err := parseDate(args.End)
	if err != nil {
		return world.Refuse(codeBadDate, "end_date %q %v", clip.Runes(args.End, maxQuoted), err)
	}
	if start.After(end) {
		return world.Refuse(codeBadRange, "start_date %s is after end_date %s", args.Start, args.End)
	}
	if len(w.counts) > 0 && !hasLabel(w.counts, args.Label) {
		return world.Refuse(codeBadLabel, "label %q is not counted; labels are: %s", clip.Runes(args.Label, maxQuoted), strings.Join(labels(w.counts), ", "))
	}
	out := map[string]any{"label": args.Label, "start": args.Start, "end": args.End}
	sum, found := w.sum(args.Start, args.End, args.Label)
	if days := 1 + int((end.Unix()-start.Unix())/(24*60*60)); found < days {
		missing := w.missing(start, end, args.Label)
		out["value"], out["missing"], out["note"] = nil, missing, missingNote(missing, days-found, days)
		return world.Return(out)
	}
	out["value"] = json.Number(sum.String())
	return world.Return(out)
}

// sum adds a label over the dates in range that have it, and counts them.
// Dates compare as text because they have the same format.
func (w *dashboard) sum(start, end, label string) (sum *big.Int, found int) {
	sum = new(big.Int)
	for date, day := range w.counts {
		if n, ok := day[label]; ok && date >= start && date <= end {
			sum.Add(sum, big.NewInt(n))
			found++
		}
	}
	return sum, found
}

// missing lists the first dates in range without data.
func (w *dashboard) missing(start, end time.Time, label string) []string {
	var out []string
	for d := start; !d.After(end) && len(out) < maxMissing; d = d.AddDate(0, 0, 1) {
		date := d.Format(dateLayout)
		if _, ok := w.counts[date][label]; !ok {
			out = append(out, date)
		}
	}
	return out
}

func missingNote(missing []string, n, days int) string {
	list := strings.Join(missing, ", ")
	if n > len(missing) {
		list += fmt.Sprintf(" and %d more", n-len(missing))
	}
	if n == days {
		return "no data for " + list
	}
	return fmt.Sprintf("no data for %s (%d of %d days)", list, n, days)
}

// getJobStatus answers call by call from the world's list; the last repeats.
func (w *dashboard) getJobStatus(c tool.Call) world.Effect {
	var args struct {
		ID string `json:"id"`
	}
	if refused := world.ReadArgs(c, &args); refused != nil {
		return *refused
	}
	list := w.jobs
	if args.ID == "" || len(list) == 0 {
		return world.Refuse(codeNotFound, "there is no job %q", clip.Runes(args.ID, maxQuoted))
	}
	i := min(w.polls, len(list)-1)
	w.polls++
	return world.Return(map[string]any{"id": args.ID, "status": list[i]})
}

// labels returns the labels of a table in order.
func labels(counts map[string]map[string]int64) []string {
	var out []string
	for _, day := range counts {
		for label := range day {
			if !slices.Contains(out, label) {
				out = append(out, label)
			}
		}
	}
	slices.Sort(out)
	return out
}

// maxQuoted bounds what a model wrote before it is quoted back, in characters.
const maxQuoted = 64
