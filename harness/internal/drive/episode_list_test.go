package drive

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEpisodeList(t *testing.T) {
	var l EpisodeList
	require.False(t, l.has("a", "m", 1))
	line := []byte("b/m")
	l.Add(string(line[:1]), string(line[2:]), 2)
	l.Add("a", "m", 1)
	l.Add("m", "b", 1)
	task, candidate, trial := l.At(1)
	require.Equal(t, "a/m/1", EpisodeName(task, candidate, trial))
	require.Len(t, l.texts, 3, "a name is kept once, be it a task's or a candidate's")
	l.sort()
	for _, c := range []struct {
		task, candidate string
		trial           int
		want            bool
	}{
		{"b", "m", 2, true}, {"a", "m", 1, true}, {"m", "b", 1, true},
		{"b", "m", 1, false}, {"a", "b", 1, false}, {"c", "m", 1, false}, {"a", "c", 1, false}, {"b", "b", 2, false},
	} {
		require.Equal(t, c.want, l.has(c.task, c.candidate, c.trial), "%s", EpisodeName(c.task, c.candidate, c.trial))
	}
}
