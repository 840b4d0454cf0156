package expr

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Format is v as the language writes it: 3.21s, $0.0012, 98.5%, 42.
func (u Unit) Format(v float64) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	switch u {
	case Duration:
		switch {
		case v < 1e3:
			return sign + decimals(v, 0) + "us"
		case v < 1e6:
			return sign + decimals(v/1e3, 1) + "ms"
		}
		return sign + decimals(v/1e6, 3) + "s"
	case Money:
		v /= 1e9
		if v > 0 && v < 0.01 { // three significant digits
			return sign + "$" + decimals(v, min(12, 2-int(math.Floor(math.Log10(v)))))
		}
		return sign + "$" + decimals(v, 4)
	case Percent:
		return sign + decimals(100*v, 2) + "%"
	}
	return sign + decimals(v, 4)
}

func decimals(v float64, n int) string {
	s := strconv.FormatFloat(v, 'f', n, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Format is the cell for people: a value in the unit of its column, a time in UTC,
// nothing for null, and no character that a terminal would act on.
func (c Column) Format(cell Cell) string {
	switch {
	case cell.Null:
		return ""
	case c.Type == Text:
		return printable(cell.Text)
	case c.Type == Bool:
		return strconv.FormatBool(cell.Bool)
	case c.Type == Time:
		return timeOf(cell.Number)
	}
	return c.Unit.Format(cell.Number)
}

// Value is the cell for programs: nil, a string, a bool or a float64 in the base
// of its unit; a time is a string, RFC 3339 in UTC.
func (c Column) Value(cell Cell) any {
	switch {
	case cell.Null:
		return nil
	case c.Type == Text:
		return cell.Text
	case c.Type == Bool:
		return cell.Bool
	case c.Type == Time:
		return timeOf(cell.Number)
	}
	return cell.Number
}

func timeOf(us float64) string { return time.UnixMicro(int64(us)).UTC().Format(time.RFC3339Nano) }
