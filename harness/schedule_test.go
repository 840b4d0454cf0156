package harness

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Lanes alternate in proportion to their work. A blocked lane keeps its slots, and the others
// continue.
func TestLanesAlternate(t *testing.T) {
	never := func(*queue) bool { return false }
	deal := func(stuck string) (order string) {
		s := &schedule{queues: []*queue{
			{provider: "a", most: 6, total: 6, places: make([]int32, 6)}, {provider: "b", most: 3, total: 3, places: make([]int32, 3)},
		}}
		for {
			q, _, ok := s.next(never)
			if !ok {
				return order
			}
			if order += q.provider; q.provider != stuck {
				s.ended(q, false)
			}
		}
	}
	require.Equal(t, "abaabaaba", deal(""))
	require.Equal(t, "abbbaaaaa", deal("a"))

	s := &schedule{queues: []*queue{{most: 1, total: 2, places: []int32{7, 8}}}}
	_, _, ok := s.next(func(*queue) bool { return true })
	require.False(t, ok, "a capped lane begins nothing")
	q, place, ok := s.next(never)
	require.True(t, ok)
	require.Equal(t, 7, place)
	_, _, ok = s.next(never)
	require.False(t, ok, "no more than its bound")
	s.ended(q, true)
	require.True(t, s.left)
}
