package harness

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
)

func TestFindInAPlan(t *testing.T) {
	p := &plan{}
	for _, id := range []string{"b", "a", "é", "B"} {
		p.tasks = append(p.tasks, plannedTask{Task: goldens.Task{ID: id}})
	}
	for _, name := range []string{"weak", "strong", "strong-anthropic"} {
		p.candidates = append(p.candidates, resolvedCandidate{Candidate: goldens.Candidate{Name: name}})
	}
	for task := range p.tasks {
		for candidate := range p.candidates {
			for _, trial := range []int32{1, 2, 10} {
				p.cells = append(p.cells, cell{int32(task), int32(candidate), trial})
			}
		}
	}
	p.sort()
	for i, c := range p.cells {
		at, ok := p.find(p.tasks[c.task].ID, p.candidates[c.candidate].Name, int(c.trial))
		require.True(t, ok)
		require.Equal(t, i, at)
	}
	for _, absent := range []struct {
		task, candidate string
		trial           int
	}{{"b", "weak", 3}, {"c", "weak", 1}, {"b", "", 1}, {"é", "weak", 11}, {"", "", 0}} {
		_, ok := p.find(absent.task, absent.candidate, absent.trial)
		require.False(t, ok, "%v", absent)
	}
}

func TestEpisodeList(t *testing.T) {
	var l episodeList
	require.False(t, l.has("a", "m", 1))
	line := []byte("b/m")
	l.add(string(line[:1]), string(line[2:]), 2)
	l.add("a", "m", 1)
	l.add("m", "b", 1)
	task, candidate, trial := l.at(1)
	require.Equal(t, "a/m/1", episodeName(task, candidate, trial))
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
		require.Equal(t, c.want, l.has(c.task, c.candidate, c.trial), "%s", episodeName(c.task, c.candidate, c.trial))
	}
}
