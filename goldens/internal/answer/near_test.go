package answer

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/internal/decimal"
)

// FuzzNear: whatever the answer, every name gets a number of it or none, no number
// goes to more names than expect it, and the two forms of the text have the same
// characters.
func FuzzNear(f *testing.F) {
	f.Add("Cold Ness has 41 and Grey Point 38", "Cold Ness", "Grey Point")
	f.Add("a\xff1\x00٤é\n", "a", "\xff")
	f.Fuzz(func(t *testing.T, text, one, two string) {
		near := map[string]string{one: "41", two: "38"}
		if len(near) < 2 || CheckNames(near) != nil {
			return
		}
		count := utf8.RuneCountInString(text)
		require.Equal(t, count, utf8.RuneCountInString(Fold(text)))
		require.Equal(t, count, utf8.RuneCount(normalForm(text)))
		a := Read(text, 2026)
		got := newNearby(text, a, []string{one, two}).numbers([]decimal.Decimal{decimal.Int(41, 0), decimal.Int(38, 0)}, a.Numbers)
		for i, j := range got {
			require.Less(t, j, len(a.Numbers))
			require.False(t, j >= 0 && got[1-i] == j)
		}
	})
}
