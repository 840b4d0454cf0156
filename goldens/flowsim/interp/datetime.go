package interp

import (
	"maps"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/formula"
)

var units = map[string]time.Duration{
	"seconds": time.Second, "minutes": time.Minute, "hours": time.Hour, "days": 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
}

var timeFormats = []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly}

// time is a parameter that is a time, or null; one without a zone is in that of the world.
func (c *call) time(name string) (t time.Time, found bool, err error) {
	v, err := c.value(name)
	if err != nil || v == nil {
		return t, false, err
	}
	text, err := formula.Text(v)
	if err != nil {
		return t, false, classify(err, "parameter")
	}
	for _, format := range timeFormats {
		if t, err := time.ParseInLocation(format, text, c.x.env.Start.Location()); err == nil {
			return t, true, nil
		}
	}
	return t, false, wrong("%s must be a time such as 2026-03-02T09:00:00Z", name)
}

func runDateTime(c *call) error {
	output, err := c.field("output")
	if err != nil {
		return err
	}
	return c.each(func(item Item) error {
		v, err := c.dateTime()
		if err != nil {
			return err
		}
		made := maps.Clone(item)
		assign(made, output, v)
		return c.put(made, c.at)
	})
}

// dateTime computes the value for the current item. That of a missing date is missing.
func (c *call) dateTime() (any, error) {
	operation := c.choice("operation")
	if operation == "now" {
		return c.x.now.Format(time.RFC3339), nil
	}
	date, found, err := c.time("date")
	if err != nil || !found {
		return nil, err
	}
	switch operation {
	case "format":
		format, err := c.text("format")
		return dateFormat(format).Replace(date), err
	case "add", "subtract":
		return c.shift(date, operation == "subtract")
	case "difference":
		end, found, err := c.time("endDate")
		if err == nil && !found {
			return nil, nil
		}
		unit := units[c.choice("unit")]
		if err == nil && unit == 0 {
			err = wrong("unit of a difference must be seconds, minutes, hours, days or weeks")
		}
		return float64(end.Sub(date)) / float64(max(unit, 1)), err
	case "part":
		return datePart(date, c.choice("part"))
	}
	return nil, wrong("there is no operation %q", operation)
}

func (c *call) shift(date time.Time, back bool) (any, error) {
	amount, err := c.number("amount", -1e6, 1e6)
	if err != nil {
		return nil, err
	}
	if back {
		amount = -amount
	}
	unit := c.choice("unit")
	n := int(amount)
	switch whole := float64(n) == amount; {
	case unit == "seconds" || unit == "minutes" || unit == "hours":
		date = date.Add(time.Duration(amount * float64(units[unit])))
	case !whole:
		err = wrong("amount must be a whole number of %s", unit)
	case unit == "days":
		date = date.AddDate(0, 0, n)
	case unit == "weeks":
		date = date.AddDate(0, 0, 7*n)
	case unit == "months":
		date = date.AddDate(0, n, 0)
	case unit == "years":
		date = date.AddDate(n, 0, 0)
	default:
		err = wrong("there is no unit %q", unit)
	}
	if err == nil && (date.Year() < 1 || date.Year() > 9999) {
		err = wrong("the time is not within the years 1 to 9999")
	}
	return date.Format(time.RFC3339), err
}

// dateFormat is a format such as dd.MM.yyyy.
type dateFormat string

// Replace returns a time in the format.
func (f dateFormat) Replace(t time.Time) string {
	return strings.NewReplacer(
		"yyyy", t.Format("2006"), "MM", t.Format("01"), "dd", t.Format("02"), "HH", t.Format("15"), "mm", t.Format("04"), "ss", t.Format("05"),
	).Replace(string(f))
}

func datePart(t time.Time, part string) (any, error) {
	switch part {
	case "year":
		return float64(t.Year()), nil
	case "month":
		return float64(t.Month()), nil
	case "day":
		return float64(t.Day()), nil
	case "hour":
		return float64(t.Hour()), nil
	case "minute":
		return float64(t.Minute()), nil
	case "second":
		return float64(t.Second()), nil
	case "weekday":
		return t.Weekday().String(), nil
	}
	return nil, wrong("there is no part %q", part)
}
