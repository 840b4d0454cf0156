package spell

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"turn", "turns", 1}, {"kitten", "sitting", 3}, {"profil", "profile", 1}, {"ab", "ba", 2}} {
		require.Equal(t, c.want, Distance(c.a, c.b))
		require.Equal(t, c.want, Distance(c.b, c.a))
	}
}

// slowly is the textbook recursion.
func slowly(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	d := 1
	if a[0] == b[0] {
		d = 0
	}
	return min(slowly(a[1:], b[1:])+d, slowly(a[1:], b)+1, slowly(a, b[1:])+1)
}

func TestDistanceAgainstRecursion(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "kitten", "sitting", "numbers", "numebrs", "steps", "step"}
	for _, a := range words {
		for _, b := range words {
			require.Equal(t, slowly(a, b), Distance(a, b), "%s %s", a, b)
		}
	}
}
