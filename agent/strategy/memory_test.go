package strategy

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRememberWhatFits(t *testing.T) {
	history := []Exchange{{Request: "q1", Answer: "a1"}, {Request: "q2", Answer: ""}, {Request: "q3", Answer: "a3"}, {Request: "", Answer: "a4"}, {Request: "q5", Answer: "a5"}}
	long := make([]Exchange, 20)
	for i := range long {
		long[i] = Exchange{Request: "q", Answer: strings.Repeat("a", 1000)}
	}
	for _, test := range []struct {
		name          string
		history       []Exchange
		turns, tokens int
		want          []Exchange
	}{
		{"defaults", history, 0, 0, []Exchange{{Request: "q1", Answer: "a1"}, {Request: "q3", Answer: "a3"}, {Request: "q5", Answer: "a5"}}},
		{"default turns", long, 0, 10_000, long[:10]},
		{"default tokens", long, 20, 0, long[:7]},
		{"turns", history, 2, 0, []Exchange{{Request: "q3", Answer: "a3"}, {Request: "q5", Answer: "a5"}}},
		{"tokens", history, 0, 2, []Exchange{{Request: "q3", Answer: "a3"}, {Request: "q5", Answer: "a5"}}},
		{"both", history, 1, 2, []Exchange{{Request: "q5", Answer: "a5"}}},
		{"no room for one", []Exchange{{Request: "q", Answer: "a"}, {Request: "q", Answer: "four bytes are a token"}}, 0, 1, []Exchange{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, Remember(test.history, test.turns, test.tokens))
		})
	}
}

// TestRememberBounds: what is kept is the end of what is worth keeping, within the
// bounds, and one more would not be.
func TestRememberBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var history []Exchange
		for range rapid.IntRange(0, 10).Draw(t, "exchanges") {
			history = append(history, Exchange{Request: strings.Repeat("q", rapid.IntRange(0, 20).Draw(t, "request")), Answer: strings.Repeat("a", rapid.IntRange(0, 20).Draw(t, "answer"))})
		}
		turns, tokens := rapid.IntRange(1, 5).Draw(t, "turns"), rapid.IntRange(1, 20).Draw(t, "tokens")
		kept, all := Remember(history, turns, tokens), Remember(history, 99, 9999)
		size := func(list []Exchange) (n int) {
			for _, x := range list {
				require.NotEmpty(t, x.Answer)
				require.NotEmpty(t, x.Request)
				n += len(x.Request) + len(x.Answer)
			}
			return n
		}
		require.True(t, slices.Equal(all[len(all)-len(kept):], kept), "the end of all")
		require.LessOrEqual(t, len(kept), turns)
		require.LessOrEqual(t, size(kept), 4*tokens)
		if len(kept) < len(all) {
			more := all[len(all)-len(kept)-1:]
			require.True(t, len(more) > turns || size(more) > 4*tokens)
		}
	})
}
