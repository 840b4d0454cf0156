package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRemember(t *testing.T) {
	history := []Exchange{{"q1", "a1"}, {"q2", ""}, {"q3", "a3"}, {"", "a4"}, {"q5", "a5"}}
	for _, test := range []struct {
		name          string
		turns, tokens int
		want          []Exchange
	}{
		{"no bounds", 0, 0, []Exchange{{"q1", "a1"}, {"q3", "a3"}, {"q5", "a5"}}},
		{"turns", 2, 0, []Exchange{{"q3", "a3"}, {"q5", "a5"}}},
		{"tokens", 0, 5, []Exchange{{"q3", "a3"}, {"q5", "a5"}}},
		{"both", 1, 5, []Exchange{{"q5", "a5"}}},
		{"no room for one", 0, 1, []Exchange{}},
		{"more turns than there are", 9, 100, []Exchange{{"q1", "a1"}, {"q3", "a3"}, {"q5", "a5"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, Remember(history, test.turns, test.tokens))
		})
	}
}

// TestRememberBounds: what is kept is the end of what is worth keeping, within the
// bounds, and one more would not be.
func TestRememberBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var history []Exchange
		for range rapid.IntRange(0, 10).Draw(t, "exchanges") {
			history = append(history, Exchange{
				strings.Repeat("q", rapid.IntRange(0, 20).Draw(t, "request")), strings.Repeat("a", rapid.IntRange(0, 20).Draw(t, "answer")),
			})
		}
		turns, tokens := rapid.IntRange(0, 5).Draw(t, "turns"), rapid.IntRange(0, 20).Draw(t, "tokens")
		kept, all := Remember(history, turns, tokens), Remember(history, 0, 0)
		size := func(list []Exchange) (n int) {
			for _, x := range list {
				require.NotEmpty(t, x.Answer)
				require.NotEmpty(t, x.Request)
				n += estimate(x.Request) + estimate(x.Answer)
			}
			return n
		}
		require.True(t, slices.Equal(all[len(all)-len(kept):], kept), "the end of all")
		require.True(t, turns == 0 || len(kept) <= turns)
		require.True(t, tokens == 0 || size(kept) <= tokens)
		if len(kept) < len(all) {
			more := all[len(all)-len(kept)-1:]
			require.True(t, turns > 0 && len(more) > turns || tokens > 0 && size(more) > tokens)
		}
	})
}
