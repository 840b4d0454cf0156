package reporttest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Profile is how a synthetic candidate behaves.
type Profile struct {
	manifest.Candidate
	valid, Solve, thrash, stall float64
	Steps                       float64 // mean beyond 2
	latency                     float64 // µs, median
	price                       int64   // nano-USD a turn; negative: unknown
	boast                       float64 // added to the confidence
	Infra                       int     // every n-th episode fails outside the model
}

// DemoProfiles are the candidates of the synthetic run.
func DemoProfiles() []Profile {
	c := func(name, agent, provider, model, mode, prompt string, simulated bool) manifest.Candidate {
		return manifest.Candidate{Name: name, Agent: agent, Provider: provider, Model: model, OutputMode: mode, PromptProfile: prompt, Simulated: simulated}
	}
	return []Profile{
		{c("north-mini", "contract", "openai", "north-mini-2026", "json_schema", "schema", true), 0.995, 0.94, 0.01, 0.005, 0.9, 420_000, 180_000, 0.02, 0},
		{c("north-mini-prose", "contract", "openai", "north-mini-2026", "prompt", "seed", true), 0.955, 0.90, 0.03, 0.01, 1.2, 460_000, 190_000, 0.05, 0},
		{c("harbour-large", "contract", "anthropic", "harbour-large-5", "tools", "schema", false), 0.99, 0.97, 0.005, 0.0, 0.6, 1_600_000, 2_400_000, 0, 41},
		{c("open-weights-8b", "contract", "huggingface", "weights-8b-instruct", "prompt", "seed", false), 0.86, 0.68, 0.12, 0.05, 2.4, 900_000, -1, 0.22, 0},
	}
}

// Demo is a run of tasks × trials by the given candidates; the same arguments
// give the same rows.
func Demo(profiles []Profile, tasks, trials int) (manifest.Manifest, ledger.Rows) {
	m := manifest.Manifest{
		Format: manifest.Format, RunID: "01JD0Q3V7M6N4Y2ZB8KX5TAGWE", Status: "complete", Mode: "replay", Suite: "counts", SuitePath: "builtin:counts",
		SuiteDigest: strings.Repeat("5e", 32), ConfigDigest: strings.Repeat("c0", 32), PriceDigest: strings.Repeat("9d", 32), PriceVersion: "2026-11-01",
		LedgerDigest: strings.Repeat("1e", 32), CodeVersion: "v0.1.0", Seed: 7, Trials: trials,
	}
	titles := []string{"today's angry count", "praise count, SMS style", "explicit single date", "dates in words", "this week to date", "missing label", "unknown label", "invalid date 2026-02-30", "injection in a tool result", "one 500, then fine"}
	for i := range tasks {
		tier := "core"
		if i%7 == 6 {
			tier = "hard"
		}
		m.Tasks = append(m.Tasks, manifest.Task{ID: fmt.Sprintf("G%02d", i+1), Title: titles[i%len(titles)], Tier: tier})
	}
	var rows ledger.Rows
	for _, p := range profiles {
		m.Candidates = append(m.Candidates, p.Candidate)
		m.Simulated = m.Simulated || p.Simulated
	}
	for ti, task := range m.Tasks {
		for ci, p := range profiles {
			for trial := 1; trial <= trials; trial++ {
				n := len(rows.Episodes)
				rng := rand.New(rand.NewPCG(uint64(ti*31+trial), uint64(ci+1)))
				key := ledger.Key{
					RunID: m.RunID, EpisodeID: fmt.Sprintf("01JD0Q3V7M%016X", n), Suite: m.Suite, TaskID: task.ID, Candidate: p.Name, Agent: p.Agent,
					Provider: p.Provider, Model: p.Model, OutputMode: p.OutputMode, PromptProfile: p.PromptProfile, Trial: int32(trial), Seed: int64(n), Replayed: true,
				}
				demoEpisode(&rows, p, key, rng, p.Infra > 0 && n%p.Infra == p.Infra-1, ti%10 == 5)
			}
		}
	}
	m.Episodes, m.Turns, m.ToolCalls = len(rows.Episodes), len(rows.Turns), len(rows.ToolCalls)
	return m, rows
}

func demoEpisode(rows *ledger.Rows, p Profile, key ledger.Key, rng *rand.Rand, infra, clarifyGoal bool) {
	ts := int64(1_778_688_000_000_000) + int64(len(rows.Episodes))*60_000_000
	ep := ledger.Episode{Key: key, Status: "answered", ExpectedStatus: "answered", TsStart: ts, Answer: "There were 427 angry messages on 2026-05-13."}
	ep.Solved = rng.Float64() < p.Solve
	steps := 2 + int(rng.ExpFloat64()*p.Steps)
	if !ep.Solved && rng.Float64() < 0.4 {
		steps = 10
		ep.Status, ep.StopReason, ep.Answer = "stopped", "max_steps", ""
	}
	if clarifyGoal {
		ep.ExpectedStatus, ep.Clarifies = "clarify", 1
		if ep.Solved {
			ep.Status, ep.Answer = "clarify", "Which label do you mean: angry, praise or info?"
		}
	}
	var in, out, read, write, reasoning knownSum
	var cost int64
	ep.ElapsedUs = new(int64)
	for i := 1; i <= steps; i++ {
		t := DemoTurn(p, key, rng, ts+*ep.ElapsedUs, i, steps, ep.Solved)
		if t.Thrash {
			ep.ThrashEvents++
		}
		if t.Stall {
			ep.StallEvents++
		}
		if infra && i == steps {
			t.ErrorKind, t.ContractValid, t.ValidJSON, t.Confidence, t.NextActionType = "overloaded", false, false, nil, ""
		}
		*ep.ElapsedUs += *t.DurationUs
		in.add(t.In)
		out.add(t.Out)
		read.add(t.CacheRead)
		write.add(t.CacheWrite)
		reasoning.add(t.Reasoning)
		if t.CostNanoUSD != nil {
			cost += *t.CostNanoUSD
		}
		rows.Turns = append(rows.Turns, t)
		if t.NextActionType == "tool" {
			outcome, code := "ok", ""
			if rng.Float64() < 0.04 {
				outcome, code = "error", "E_UPSTREAM"
			}
			ep.ToolCalls++
			rows.ToolCalls = append(rows.ToolCalls, ledger.ToolCall{
				Key: key, Seq: ep.ToolCalls, Turn: int32(i), ToolName: t.NextActionName, Outcome: outcome, ErrorCode: code, TsStart: t.TsEnd, TsEnd: t.TsEnd + 90_000, DurationUs: 90_000,
			})
			*ep.ElapsedUs += 90_000
		}
	}
	ep.Steps = int32(steps)
	ep.Tokens = ledger.Tokens{In: in.value(), Out: out.value(), CacheRead: read.value(), CacheWrite: write.value(), Reasoning: reasoning.value()}
	if p.price >= 0 {
		ep.CostNanoUSD = &cost
	}
	demoChecks(&ep, infra)
	rows.Episodes = append(rows.Episodes, ep)
}

// demoChecks are the checks of an episode that has ended, which an infrastructure error
// leaves out.
func demoChecks(ep *ledger.Episode, infra bool) {
	ep.Checks = []ledger.Check{{Name: "status", Passed: true}, {Name: "numbers", Passed: ep.Solved}}
	if !ep.Solved {
		ep.Checks[1].Detail = "want 427 in the answer, found 411"
	}
	if ep.Status == "stopped" {
		ep.Checks[0] = ledger.Check{Name: "status", Detail: "want answered, got stopped (max_steps)"}
	}
	if infra {
		ep.Status, ep.StopReason, ep.InfraError, ep.Solved, ep.Checks = "error", "", true, false, nil
		ep.ErrorKind, ep.ErrorText, ep.Answer = "overloaded", "anthropic: model harbour-large-5: overloaded: 529 after 5 attempts", ""
	}
}

// DemoTurn draws the i-th turn of an episode.
func DemoTurn(p Profile, key ledger.Key, rng *rand.Rand, ts int64, i, steps int, solved bool) ledger.Turn {
	us := int64(p.latency * (0.4 + rng.ExpFloat64()*0.9))
	in, out, zero := int64(780+rng.IntN(240)), int64(60+rng.IntN(90)), int64(0)
	confidence := min(1, max(0, 0.5+p.boast+0.5*rng.Float64()))
	if solved {
		confidence = min(1, confidence+0.15)
	}
	t := ledger.Turn{
		Key: key, Turn: int32(i), Role: "main", Kind: "act", TsStart: ts, TsEnd: ts + us, DurationUs: new(us), Attempts: 1, FinishReason: "stop", ModelServed: p.Model,
		ValidJSON: true, Actionable: true, ContractValid: true, NextActionType: "tool", NextActionName: "get_counts", Confidence: &confidence, Reason: "ok",
		Tokens: ledger.Tokens{In: &in, Out: &out, CacheRead: &zero, CacheWrite: &zero, Reasoning: &zero}, StepsUsed: int32(i),
		Cassette: key.Candidate + "/" + key.TaskID + "/" + fmt.Sprint(key.Trial) + ".yaml", Interaction: int32(i - 1),
	}
	if p.price >= 0 {
		cost := p.price + int64(rng.IntN(20_000))
		t.CostNanoUSD = &cost
	}
	if p.price >= 0 {
		t.TTFTUs = new(us / 4)
	}
	switch p.Provider {
	case "anthropic":
		read, write := in/2, in/5
		in -= read + write
		t.CacheRead, t.CacheWrite, t.Reasoning = &read, &write, new(out/3)
	case "huggingface":
		t.CacheRead, t.CacheWrite, t.Reasoning = nil, nil, nil
	}
	if i == 1 {
		t.NextActionName = "today_range"
	}
	if i == steps {
		t.NextActionType, t.NextActionName, t.Done = "respond", "", true
	}
	if rng.Float64() >= p.valid {
		t.ContractValid = false
		switch rng.IntN(4) {
		case 0:
			t.ValidJSON, t.Repaired, t.Violations = false, true, []string{"not_json:fenced"}
		case 1:
			t.ValidJSON, t.Actionable, t.Violations, t.FinishReason = false, false, []string{"truncated"}, "length"
		case 2:
			t.Violations = []string{"state_update:missing"}
		default:
			t.Actionable, t.Violations = false, []string{"next_action.type:enum"}
		}
	}
	t.Thrash = rng.Float64() < p.thrash/3
	t.Stall = rng.Float64() < p.stall/3
	return t
}

// knownSum sums what is known; one unknown makes the sum unknown.
type knownSum struct {
	n       int64
	unknown bool
}

func (k *knownSum) add(v *int64) {
	if v == nil {
		k.unknown = true
		return
	}
	k.n += *v
}

func (k *knownSum) value() *int64 {
	if k.unknown {
		return nil
	}
	return &k.n
}
