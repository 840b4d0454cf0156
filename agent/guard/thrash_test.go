package guard

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestThrash(t *testing.T) {
	// An upper-case letter is an action that must be thrash. A "!" after a letter means
	// that it fails. "p" is a repeatable tool.
	for _, test := range []struct{ name, actions string }{
		{"same twice", "aA"},
		{"different", "abc"},
		{"cycle of two seen twice", "abaB"},
		{"cycle of two, then the same again", "abaBB"},
		{"cycle after other actions", "cdabaB"},
		{"cycle of three is thrash only at the third time", "abcabcABC"},
		{"third time, never adjacent", "abacA"},
		{"two retries of a failure", "a!a!a!A!"},
		{"failures need not be adjacent to count", "a!ba!ca!dA"},
		{"a retry that succeeded", "a!aA"},
		{"a retry is never thrash, even in a cycle", "a!ba!c"},
		{"polling", "ppppp"},
		{"polling between hides adjacency only", "apapA"},
		{"polling does not count as half of a cycle", "papa"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var th Thrash
			for i, letter := range test.actions {
				if letter == '!' {
					continue
				}
				key, want := string(letter|0x20), letter < 'a'
				repeatable, failed := key == "p", i+1 < len(test.actions) && test.actions[i+1] == '!'
				require.Equal(t, want, th.Repeats(key, repeatable), "action %d of %s", i+1, test.actions)
				th.Record(key, repeatable, failed)
			}
		})
	}
}

func TestThrashAlternates(t *testing.T) {
	for actions, want := range map[string]bool{"abab": true, "cabab": true, "aaaa": false, "aba": false, "abcabc": false, "abaa": false, "acab": false, "papa": false} {
		var th Thrash
		for _, letter := range actions[:len(actions)-1] {
			th.Record(string(letter), letter == 'p', false)
		}
		require.Equal(t, want, th.Alternates(actions[len(actions)-1:]), actions)
	}
}

func TestThrashRetryIndex(t *testing.T) {
	var th Thrash
	require.Zero(t, th.RetryIndex("a"))
	th.Record("a", false, true)
	th.Record("b", false, true)
	th.Record("a", false, true)
	th.Record("a", false, false)
	require.Equal(t, 2, th.RetryIndex("a"))
	require.Equal(t, 1, th.RetryIndex("b"))
}

// TestThrashIsBounded checks that the history does not grow with the episode.
func TestThrashIsBounded(t *testing.T) {
	var th Thrash
	for i := range 5000 {
		th.Record(strconv.Itoa(i), false, false)
		require.LessOrEqual(t, len(th.keys), maxKeys)
		require.Len(t, th.order, len(th.keys))
	}
	th.Record("4900", false, false)
	require.Len(t, th.keys, maxKeys)
	th.Record("x", false, false)
	require.True(t, th.Repeats("4900", false), "a key of late is counted")
	th.Record("0", false, false)
	th.Record("y", false, false)
	require.False(t, th.Repeats("0", false), "a forgotten one is counted again")
}

// slowThrash decides from the list of all actions, with one check for each rule of the
// specification.
type slowThrash []slowAction

type slowAction struct {
	key                string
	repeatable, failed bool
}

func (s slowThrash) repeats(key string, repeatable bool) bool {
	if repeatable {
		return false
	}
	times, failures, lastFailed := 0, 0, false
	for _, a := range s {
		if a.key == key {
			times, lastFailed = times+1, a.failed
			if a.failed {
				failures++
			}
		}
	}
	if lastFailed && failures-1 < MaxRetries { // the retry index of the last call
		return false
	}
	n := len(s)
	adjacent := n >= 1 && s[n-1].key == key
	cycle := n >= 3 && s[n-3].key == s[n-1].key && s[n-2].key == key && s[n-1].key != key && !s[n-1].repeatable
	return adjacent || cycle || times >= 2
}

func TestThrashAgainstSlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var fast Thrash
		var slow slowThrash
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			key := rapid.SampledFrom([]string{"a", "b", "c", "p"}).Draw(t, "key")
			repeatable := key == "p"
			require.Equal(t, slow.repeats(key, repeatable), fast.Repeats(key, repeatable), "%v then %s", slow, key)
			failed := rapid.Bool().Draw(t, "failed")
			fast.Record(key, repeatable, failed)
			slow = append(slow, slowAction{key, repeatable, failed})
		}
	})
}
