package wire

import (
	"fmt"
	"math"
	"strconv"
)

// MaxCount bounds a token count; a larger number does not decode.
const MaxCount = 1 << 40

// Count is a token count as servers write it: a JSON integer, a float with a
// whole value, or null for none. Anything else does not decode.
type Count int64

// Value is the count; 0 without one.
func (c *Count) Value() int64 {
	if c == nil {
		return 0
	}
	return int64(*c)
}

// UnmarshalJSON reads a count of 0 to MaxCount.
func (c *Count) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	n, err := parseCount(string(text))
	if err == nil {
		*c = n
	}
	return err
}

func parseCount(text string) (Count, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) || n < 0 || n > MaxCount {
		return 0, fmt.Errorf("%.40q is not a token count", text)
	}
	return Count(n), nil
}
