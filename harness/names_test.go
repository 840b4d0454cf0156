package harness

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/internal/drive"
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
				p.cells = append(p.cells, drive.Cell{Task: int32(task), Candidate: int32(candidate), Trial: trial})
			}
		}
	}
	p.sort()
	for i, c := range p.cells {
		at, ok := p.find(p.tasks[c.Task].ID, p.candidates[c.Candidate].Name, int(c.Trial))
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
