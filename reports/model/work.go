package model

import (
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/stat"
)

// Work is how a candidate goes about its tasks, over scored episodes: what calls
// side by side and plans gain shows here.
type Work struct {
	// Calls are tool calls, also those that were refused, and CallingTurns the turns
	// that asked for them; CallsPerTurn is their quotient, null without any. Widest is
	// the most calls of one turn.
	Calls        int      `json:"tool_calls"`
	CallingTurns int      `json:"calling_turns"`
	CallsPerTurn *float64 `json:"calls_per_calling_turn"`
	Widest       int      `json:"most_calls_of_a_turn"`
	// BusyUs adds up the durations of all turns and tool calls, ElapsedUs the times
	// from request to end, both in µs. Overlap is their quotient: 1 or less where one
	// thing is done after the other, 2 where two are in progress on average; null
	// without time.
	BusyUs    int64    `json:"busy_us"`
	ElapsedUs int64    `json:"elapsed_us"`
	Overlap   *float64 `json:"overlap"`
	// Planned are episodes with a turn of a planner. Revisions counts them by how often
	// the plan changed, Steps by how many of its steps were begun, Items by the most
	// items that one step was carried out for; all three are empty where Planned is 0.
	Planned   int          `json:"planned_episodes"`
	Revisions []stat.Count `json:"plan_revisions"`
	Steps     []stat.Count `json:"plan_steps"`
	Items     []stat.Count `json:"plan_items"`
}

// worker gathers Work.
type worker struct {
	calls, turns, widest    int
	busy, elapsed           int64
	revisions, steps, items []int
}

// add counts a scored episode.
func (w *worker) add(rows *ledger.EpisodeRows) {
	w.elapsed += max(0, rows.Episode.Micros())
	by := map[int32]int{}
	for i := range rows.ToolCalls {
		c := &rows.ToolCalls[i]
		w.busy += max(0, c.DurationUs)
		by[c.Turn]++
	}
	w.calls += len(rows.ToolCalls)
	w.turns += len(by)
	for _, n := range by {
		w.widest = max(w.widest, n)
	}
	planned, revision, items := false, 0, map[string]int{}
	seen := map[string]bool{}
	for i := range rows.Turns {
		t := &rows.Turns[i]
		w.busy += max(0, t.Micros())
		planned = planned || t.Role == ledger.RolePlanner
		revision = max(revision, int(t.PlanRev))
		if t.PlanStep == "" || seen[t.PlanStep] {
			continue
		}
		seen[t.PlanStep] = true
		step, item, _ := strings.Cut(t.PlanStep, "[")
		if items[step] += 0; item != "" {
			items[step]++
		}
	}
	if !planned {
		return
	}
	widest := 0
	for _, n := range items {
		widest = max(widest, n)
	}
	w.revisions, w.steps, w.items = append(w.revisions, revision), append(w.steps, len(items)), append(w.items, widest)
}

func (w *worker) work() *Work {
	out := &Work{
		Calls: w.calls, CallingTurns: w.turns, Widest: w.widest, BusyUs: w.busy, ElapsedUs: w.elapsed, Planned: len(w.steps),
		Revisions: histogram(w.revisions), Steps: histogram(w.steps), Items: histogram(w.items),
	}
	if w.turns > 0 {
		out.CallsPerTurn = new(float64(w.calls) / float64(w.turns))
	}
	if w.elapsed > 0 {
		out.Overlap = new(float64(w.busy) / float64(w.elapsed))
	}
	return out
}

// histogram is an empty list, not null, without values.
func histogram(values []int) []stat.Count { return append([]stat.Count{}, stat.Histogram(values)...) }

// addWork says how candidates work, in a report that is not of contract agents alone.
func (b *Builder) addWork() {
	if b.r.AllContractual() {
		return
	}
	for i, a := range b.order {
		b.r.Candidates[i].Work = a.meter.worker.work()
	}
}
