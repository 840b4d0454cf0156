package model

import (
	"testing"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

// Floor: 9,999 random swaps of 25 tasks, because their sizes are not whole numbers. A
// swap takes 26 ns, so a claim takes 0.3 ms; four of seven metrics need the swaps.
func BenchmarkStrategies(b *testing.B) {
	for name, a := range map[string]reporttest.Arena{
		"3 strategies, 2 models, 25 tasks":            {Models: []string{"m", "n"}, Habits: reporttest.SameHabits("contract", "tools", "plan"), Tasks: 25, Trials: 1},
		"3 strategies, 4 models, 100 tasks, 5 trials": {Models: []string{"m", "n", "o", "p"}, Habits: reporttest.SameHabits("contract", "tools", "plan"), Tasks: 100, Trials: 5},
	} {
		r := build(a.Run())
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.addStrategies()
			}
		})
	}
}

// The time to pair one task with very many trials does not grow with their square.
func TestManyTrialsOfATask(t *testing.T) {
	r := Report{Tasks: []Task{{ID: "t"}}}
	for _, agent := range []string{"contract", "tools"} {
		r.Candidates = append(r.Candidates, Candidate{})
		c := &r.Candidates[len(r.Candidates)-1]
		c.Name, c.Agent = agent, agent
		for trial := range 100_000 {
			r.Episodes = append(r.Episodes, Episode{Task: "t", Candidate: agent, Trial: 100_000 - trial, Solved: trial%2 == 0})
		}
	}
	r.addStrategies()
	if n := r.Strategies.Groups[0].Pairs[0].N; n != 100_000 {
		t.Fatalf("%d pairs", n)
	}
}
