package decimal

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseDecimal(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"zero", "0", "0"},
		{"negative zero", "-0.00e5", "0"},
		{"trailing zeros", "25.000", "25"},
		{"leading zeros", "0025", "25"},
		{"small", "0.00120", "0.0012"},
		{"beyond 2^53", "9007199254740993", "9007199254740993"},
		{"exponent up", "1.5e3", "1500"},
		{"exponent down", "-15E-1", "-1.5"},
		{"plus in exponent", "1e+2", "100"},
		{"huge exponent costs nothing", "1e999999999", "0.1e1000000000"},
		{"tiny", "3e-9", "0.3e-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, ok := Parse(c.in)
			require.True(t, ok)
			require.Equal(t, c.want, d.String())
		})
	}
}

func TestParseDecimalRefuses(t *testing.T) {
	for _, in := range []string{"", "-", "+1", ".5", "5.", "1e", "1e+", "1e+-5", "1e1234567890", "1x", "0x10", "NaN", "1,000", " 1", "--1", "1e5.0", "٣"} {
		_, ok := Parse(in)
		require.False(t, ok, "%q", in)
	}
}

// lexemes draws decimal numbers as JSON writes them.
func lexemes(t *rapid.T, label string) string {
	return rapid.StringMatching(`-?[0-9]{1,6}(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?`).Draw(t, label)
}

// TestDecimalAgainstRat compares with math/big, which multiplies out.
func TestDecimalAgainstRat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := lexemes(t, "a"), lexemes(t, "b")
		if rapid.Bool().Draw(t, "same value") {
			b = a
			if !strings.ContainsAny(a, ".eE") {
				b += ".0"
			}
		}
		x, okX := Parse(a)
		y, okY := Parse(b)
		require.True(t, okX && okY)
		ratX, _ := new(big.Rat).SetString(a)
		ratY, _ := new(big.Rat).SetString(b)
		require.Equal(t, ratX.Cmp(ratY), x.Compare(y), "%s and %s", a, b)
		require.Equal(t, ratX.Cmp(ratY) == 0, x == y, "%s and %s", a, b)
		back, ok := new(big.Rat).SetString(x.String())
		require.True(t, ok, x.String())
		require.Zero(t, ratX.Cmp(back), "%s is written %s", a, x)
	})
}
