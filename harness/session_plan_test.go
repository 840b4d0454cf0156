package harness

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// randomPlan returns tasks of which some are in sessions, in an order that differs from that of
// their names.
func randomPlan(rng *rand.Rand) *plan {
	p := &plan{candidates: []resolvedCandidate{{Candidate: goldens.Candidate{Name: "a"}}, {Candidate: goldens.Candidate{Name: "b"}}}}
	for _, i := range rng.Perm(1 + rng.IntN(12)) {
		t := goldens.Task{ID: fmt.Sprintf("T%02d", i)}
		if s := rng.IntN(4); s > 0 {
			t.Session = fmt.Sprintf("s%d", s)
		}
		p.tasks = append(p.tasks, plannedTask{Task: t})
		for c := range int32(2) {
			for trial := range int32(2) {
				p.cells = append(p.cells, drive.Cell{Task: int32(len(p.tasks) - 1), Candidate: c, Trial: trial + 1})
			}
		}
	}
	return p
}

// The queues contain each remaining episode once, in units with the episodes of one session,
// candidate and trial in the order of the suite.
func TestQueuesCoverThePlan(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := randomPlan(rng)
		p.seal()
		todo := make([]bool, p.len())
		for i := range todo {
			todo[i] = rng.IntN(3) > 0
		}
		run := map[int32]int{}
		for i := range int32(p.len()) {
			if !todo[i] || !p.isFirstToRun(i, todo) {
				continue
			}
			unit := p.sessionEpisodes(i)
			require.Contains(t, unit, i)
			for n, place := range unit {
				if todo[place] {
					run[place]++
				}
				a, b := p.cells[unit[max(n-1, 0)]], p.cells[place]
				require.Equal(t, []int32{a.Candidate, a.Trial}, []int32{b.Candidate, b.Trial})
				require.Equal(t, p.tasks[a.Task].Session, p.tasks[b.Task].Session)
				require.True(t, n == 0 || a.Task < b.Task, "in the order of the suite")
			}
		}
		for i, is := range todo {
			require.Equal(t, drive.Count(is), run[int32(i)], "seed %d, place %d", seed, i)
		}
	}
}

// A selection is extended by the earlier tasks of its sessions, and by no others.
func TestEarlierTasksAreSelected(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var all, chosen []goldens.Task
		for _, task := range randomPlan(rng).tasks {
			all = append(all, task.Task)
			if rng.IntN(3) == 0 {
				chosen = append(chosen, task.Task)
			}
		}
		has := func(list []goldens.Task, t goldens.Task) bool {
			return slices.ContainsFunc(list, func(o goldens.Task) bool { return o.ID == t.ID })
		}
		got := withEarlier(all, chosen)
		for i, task := range all {
			want := has(chosen, task) || task.Session != "" && slices.ContainsFunc(all[i+1:], func(o goldens.Task) bool { return o.Session == task.Session && has(chosen, o) })
			require.Equal(t, want, has(got, task), "seed %d, task %s", seed, task.ID)
		}
		require.True(t, slices.IsSortedFunc(got, func(a, b goldens.Task) int {
			place := func(t goldens.Task) int {
				return slices.IndexFunc(all, func(o goldens.Task) bool { return o.ID == t.ID })
			}
			return place(a) - place(b)
		}))
	}
}

// The status of an episode decides what the next episode of its session sees.
func TestSessionHistoryByStatus(t *testing.T) {
	for status, want := range map[string]int{
		"answered": 1, "answered_after_clarify": 1, "respond_error": 1, "cannot_proceed": 1, "clarify": 1, "stopped": 0,
	} {
		var m sessionHistory
		e := episodeRow("A", status)
		m.addEpisode(goldens.Task{Request: "r"}, e)
		require.Len(t, m.exchanges, want, status)
		require.NoError(t, m.err)
		e.Answer = ""
		m.addEpisode(goldens.Task{Request: "r"}, e)
		require.Len(t, m.exchanges, want, "nobody was told anything")
		e.InfraError, e.ErrorKind = true, "overloaded"
		m.addEpisode(goldens.Task{Session: "s"}, e)
		require.EqualError(t, m.err, "session s: the earlier episode A/a/1 has no result (overloaded); resume the run, or record that one again, and this one follows")
		e.ErrorKind = "other"
		m.addEpisode(goldens.Task{Session: "s"}, e)
		require.ErrorContains(t, m.err, "overloaded", "the first")
	}
}

func episodeRow(task, status string) ledger.Episode {
	return ledger.Episode{Key: ledger.Key{TaskID: task, Candidate: "a", Trial: 1}, Status: status, Answer: "a"}
}
