package counts

import (
	"errors"
	"regexp"
	"time"
)

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
