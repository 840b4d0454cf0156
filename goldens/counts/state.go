package counts

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/world"
)

// state is what a dashboard shows. It is read only.
type state struct {
	counts map[string]map[string]int64 // by date and label
	jobs   []string
}

// maxCount is the largest number JSON readers agree on.
const maxCount = 1<<53 - 1

// readState reads a state; the error joins a *world.StateError for each problem.
func readState(raw json.RawMessage) (*state, error) {
	s := &state{counts: map[string]map[string]int64{}}
	fields, err := world.ReadState(raw, "counts", "job_status")
	errs := []error{err}
	fail := func(path, format string, args ...any) { errs = append(errs, world.BadState(path, format, args...)) }
	days, ok := fields["counts"].(map[string]any)
	if !ok && fields["counts"] != nil {
		fail("counts", "must map dates to what was counted on them")
	}
	for _, date := range slices.Sorted(maps.Keys(days)) {
		path := "counts." + date
		if _, err := parseDate(date); err != nil {
			fail(path, "%q %v", date, err)
		}
		day, ok := days[date].(map[string]any)
		if !ok {
			fail(path, "must map labels to numbers")
		}
		s.counts[date] = map[string]int64{}
		for _, label := range slices.Sorted(maps.Keys(day)) {
			number, _ := day[label].(json.Number)
			n, err := number.Int64()
			if err != nil || n < 0 || n > maxCount {
				fail(path+"."+label, "must be a whole number from 0 to %d", maxCount)
			}
			s.counts[date][label] = n
		}
	}
	jobs, ok := fields["job_status"].([]any)
	if fields["job_status"] != nil && (!ok || len(jobs) == 0) {
		fail("job_status", "must be a list of at least one status")
	}
	for _, j := range jobs {
		status, _ := j.(string)
		if strings.TrimSpace(status) == "" {
			fail("job_status", "must have no other items than texts")
		}
		s.jobs = append(s.jobs, status)
	}
	return s, errors.Join(errs...)
}
