package model

import (
	"testing"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

// Floor: of 25 tasks that differ in sizes that are not whole, 9,999 random swaps: 26
// ns for each at 25 tasks, so 0.3 ms a claim; four of seven metrics need them.
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

// One task of very many trials is paired in time that does not grow with the square.
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
