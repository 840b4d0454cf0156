package load

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/orchestrator/limits"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/world"
)

const full = `
name: demo
title: Demo
description: For tests.
candidates:
  - {name: a, provider: openai, model: GPT-5.Mini, agent: own, mode: native, profile: json, rescue: Big, rescue_on_contradiction: true, compress: true, system: Be brief., fallback: Small, max_iterations: 5, final_retries: 0, no_images: true, memory: {turns: 3, tokens: 500, off: true}, batch: {size: 2, delay: 3s, stop_on_fail: true}, plan: {attempts: 1, steps: 2, concurrency: 3, context_tokens: 4, reasoning_model: Planner}, orchestrator: {turns: 9, idle: 3m, memory: {observe: true}}, base_url: "https://x/v1", key_env: KEY, region: eu, stream: true, headers: {X-Team: a}, query: {v: "1"}, body: {top_k: 5, think: null}, max_tokens: 50, temperature: 0}
tools:
  - name: today_range
    description: Today.
    uncacheable: true
    schema: {type: object, additionalProperties: false}
  - name: get_counts
    description: Counts.
    schema: {type: object, properties: {b: {const: 9007199254740993}, a: {enum: [2026-05-01, 1.50, null, true, "<&>"]}}}
  - {name: get_job_status, description: Job., repeatable: true, schema: {type: object}}
worlds:
  base:
    now: 2026-03-09T03:00:00Z
    zone: America/New_York
    kind: counts
    state: {counts: {2026-03-07: {angry: 1}, 2026-03-08: {angry: 2, praise: 0}}}
    latency: {get_counts: 300ms}
  derived:
    from: base
    state: {counts: {2026-03-07: , 2026-03-09: {angry: 9007199254740991}}}
    latency: {today_range: 1ms}
    clock_step: 15s
defaults: {world: derived, tools: [get_counts, today_range], tier: hard, constraints: Be brief., budgets: {max_steps: 10, max_tool_calls: 9, max_seconds: 30, max_tokens_total: 5000, max_cost_usd: 0.05}}
tasks:
  - tasks/*.yaml
  - tasks/one.yaml
  - {id: C, request: Inline, tools: [], expect: {status: clarify}}
`

const taskOne = `
tags: [x, y]
tasks:
  - id: A
    title: A title
    tags: [y, z]
    probes: [this, that]
    request: |-
      Two
      lines
    replies: [angry, info]
    faults:
      - {tool: get_counts, on_calls: [2, 1], kind: error, status: 503, code: E_X, message: down}
      - {tool: get_counts, kind: replace, value: }
      - {tool: today_range, kind: augment, fields: {n: 12345678901234567890, list: [1, {}]}}
      - {tool: today_range, kind: latency, after: 1.5s}
    expect:
      status: answered
      numbers: [449, -25.50, "7"]
      contains_any: [a]
      contains_all: [b]
      not_contains: [q, 2026-05-01]
      not_numbers: [1495]
      only_numbers: [449, -25.5, 7, 41, 38, 39, 2]
      near: {Cold Ness: 41, Grey Point: "38"}
      matches: ['(?i)\bdone\b']
      not_matches: ["^x"]
      order: in_order
      calls:
        - today_range
        - get_counts: {b: 9007199254740993, a: 2026-05-01}
      forbidden:
        - get_counts: {a: {$in: [1]}}
        - {tool: delete_all, executed: true}
        - {tool: executed, args: {tool: 1}}
        - tool: {a: 1}
        - executed: {}
      at_most: {clarifies: 0, steps: 3, tool_calls: 2}
      signals: {thrash: false, violations: 2, elapsed_seconds: ">= 30", cycle_pattern: false}
      table_label: angry
      note: intended
    also_accept:
      - {status: stopped, stop_reason: thrash, at_most: {clarifies: , steps: 4}, signals: {thrash: true, violations: }, near: {Cold Ness: , Grey Point: 39}}
      - {numbers: , not_numbers: , only_numbers: [], near: , matches: , not_matches: , contains_any: , contains_all: [], not_contains: , order: , calls: , forbidden: , at_most: , signals: , table_label: }
`

const taskTwo = `
tasks:
  - id: B
    scripted: true
    request: Scripted
    tools: [get_job_status]
    tier: harness
    constraints: ""
    budgets: {max_steps: 5}
    world: {from: base, now: 2026-03-08T12:00:00-04:00, state: {job_status: [running, done]}}
    script:
      - text: "raw {"
      - json: {b: 1, a: [x, 1.0, ~]}
        rescue: true
      - call: {get_job_status: {id: "7"}}
        reflect: true
      - call: {nothing: }
      - respond: 'Say "<hi>"'
      - clarify: Which?
    expect: {status: answered}
`

func loadFull(t *testing.T) *goldens.Suite {
	t.Helper()
	s, err := Suite(suitetest.Folder(full, "tasks/one.yaml", taskOne, "tasks/two.yaml", taskTwo), "s", suitetest.Worlds())
	require.NoError(t, err)
	return s
}

func TestLoadSuiteValues(t *testing.T) {
	s := loadFull(t)
	require.Equal(t, []string{"demo", "Demo", "For tests.", "s"}, []string{s.Name, s.Title, s.Description, s.Path})
	require.Equal(t, []goldens.Candidate{{
		Name: "a", Provider: "openai", Model: "GPT-5.Mini", Agent: "own", Mode: "native", Profile: "json", Rescue: "Big", RescueOnContradiction: true, Compress: true,
		System: "Be brief.", Fallback: "Small", MaxIterations: 5, FinalRetries: new(0), NoImages: true, Memory: goldens.Memory{Turns: 3, Tokens: 500, Off: true},
		Batch: strategy.Batch{Size: 2, Delay: 3 * time.Second, StopOnFail: true}, Plan: strategy.PlanBounds{Attempts: 1, Steps: 2, Concurrency: 3, ContextTokens: 4, ReasoningModel: "Planner"},
		Orchestrator: limits.Bounds{Turns: 9, Idle: 3 * time.Minute, Memory: limits.Memory{Observe: true}},
		BaseURL:      "https://x/v1", KeyEnv: "KEY", Region: "eu", Stream: true, Headers: map[string]string{"X-Team": "a"}, Query: map[string]string{"v": "1"}, Body: map[string]any{"top_k": 5.0, "think": nil}, MaxTokens: new(50), Temperature: new(0.0),
	}}, s.Candidates)
	require.Len(t, s.Tools, 3)
	require.True(t, s.Tools[0].Uncacheable)
	require.True(t, s.Tools[2].Repeatable)
	require.Equal(t, `{"type":"object","properties":{"b":{"const":9007199254740993},"a":{"enum":["2026-05-01",1.50,null,true,"<&>"]}}}`, string(s.Tools[1].Schema), "in file order, numbers as written")
	require.Len(t, s.Digest, 64)

	var ids []string
	for _, task := range s.Tasks {
		ids = append(ids, task.ID)
	}
	require.Equal(t, []string{"A", "B", "C"}, ids, "a file named twice is read once")
	_, err := s.FS.Open("tasks/one.yaml")
	require.NoError(t, err)
}

func TestLoadTaskValues(t *testing.T) {
	a := loadFull(t).Tasks[0]
	require.Equal(t, "s/tasks/one.yaml", a.File)
	require.Equal(t, 4, a.Line)
	require.Equal(t, []string{"A title", "hard", "Be brief.", "Two\nlines"}, []string{a.Title, a.Tier, a.Constraints, a.Request})
	require.Equal(t, []string{"x", "y", "z"}, a.Tags)
	require.Equal(t, []string{"this", "that"}, a.Probes)
	require.Equal(t, []string{"get_counts", "today_range"}, a.Tools)
	require.Equal(t, guard.Budgets{MaxSteps: 10, MaxToolCalls: 9, MaxTime: 30 * time.Second, MaxTokens: 5000, MaxCostNanoUSD: 50_000_000}, a.Budgets)

	b := loadFull(t).Tasks[1]
	require.Equal(t, []string{"harness", ""}, []string{b.Tier, b.Constraints})
	require.Equal(t, guard.Budgets{MaxSteps: 5, MaxToolCalls: 9, MaxTime: 30 * time.Second}, b.Budgets)
	require.Empty(t, loadFull(t).Tasks[2].Tools)
}

func TestLoadWorldValues(t *testing.T) {
	s := loadFull(t)
	w := s.Tasks[0].World
	require.Equal(t, "2026-03-08T23:00:00-04:00", w.Now.Format(time.RFC3339))
	require.Equal(t, "America/New_York", w.Zone.String())
	require.Equal(t, "counts", w.Kind)
	require.Equal(t, `{"counts":{"2026-03-08":{"angry":2,"praise":0},"2026-03-09":{"angry":9007199254740991}}}`, string(w.State))
	require.Equal(t, 15*time.Second, w.ClockStep)
	require.Equal(t, map[string]time.Duration{"get_counts": 300 * time.Millisecond, "today_range": time.Millisecond}, w.Latency)
	require.Equal(t, []world.Fault{
		{Tool: "get_counts", OnCalls: []int{2, 1}, Kind: world.FaultError, Status: 503, Code: "E_X", Message: "down"},
		{Tool: "get_counts", Kind: world.FaultReplace},
		{Tool: "today_range", Kind: world.FaultAugment, Fields: map[string]any{"n": json.Number("12345678901234567890"), "list": []any{json.Number("1"), map[string]any{}}}},
		{Tool: "today_range", Kind: world.FaultLatency, After: 1500 * time.Millisecond},
	}, w.Faults)

	base := s.Tasks[1].World
	require.Equal(t, `{"counts":{"2026-03-07":{"angry":1},"2026-03-08":{"angry":2,"praise":0}},"job_status":["running","done"]}`, string(base.State), "a derived world leaves its base alone")
	require.Equal(t, "2026-03-08T12:00:00-04:00", base.Now.Format(time.RFC3339))
	require.Equal(t, map[string]time.Duration{"get_counts": 300 * time.Millisecond}, base.Latency)
}

func TestLoadExpectValues(t *testing.T) {
	got := loadFull(t).Tasks[0].Expect
	main := goldens.Expect{
		Status: "answered", Numbers: []string{"449", "-25.50", "7"},
		ContainsAny: []string{"a"}, ContainsAll: []string{"b"}, NotContains: []string{"q", "2026-05-01"},
		NotNumbers: []string{"1495"}, OnlyNumbers: []string{"449", "-25.5", "7", "41", "38", "39", "2"}, Near: map[string]string{"Cold Ness": "41", "Grey Point": "38"},
		Matches: []string{`(?i)\bdone\b`}, NotMatches: []string{"^x"},
		MaxClarifies: new(0), MaxSteps: new(3), MaxToolCalls: new(2),
		Trajectory: goldens.Trajectory{
			Order:    goldens.InOrder,
			Required: []goldens.CallMatch{{Tool: "today_range"}, {Tool: "get_counts", Args: map[string]any{"b": json.Number("9007199254740993"), "a": "2026-05-01"}}},
			Forbidden: []goldens.CallMatch{
				{Tool: "get_counts", Args: map[string]any{"a": map[string]any{"$in": []any{json.Number("1")}}}},
				{Tool: "delete_all", Executed: true},
				{Tool: "executed", Args: map[string]any{"tool": json.Number("1")}},
				{Tool: "tool", Args: map[string]any{"a": json.Number("1")}},
				{Tool: "executed", Args: map[string]any{}},
			},
		},
		Signals:    map[string]string{"thrash": "false", "violations": "2", "elapsed_seconds": ">=30", "cycle_pattern": "false"},
		TableLabel: "angry", Note: "intended",
	}
	stopped := main
	stopped.Status, stopped.StopReason, stopped.Note = "stopped", "thrash", ""
	stopped.MaxClarifies, stopped.MaxSteps = nil, new(4)
	stopped.Signals = map[string]string{"thrash": "true", "elapsed_seconds": ">=30", "cycle_pattern": "false"}
	stopped.Near = map[string]string{"Grey Point": "39"}
	bare := goldens.Expect{Status: "answered", OnlyNumbers: []string{}, ContainsAll: []string{}}
	require.Equal(t, []goldens.Expect{main, stopped, bare}, got)
}

func TestLoadScriptValues(t *testing.T) {
	const state = `,"state_update":{"plan":"p","observation":"o","confidence":0.5}}`
	require.Equal(t, []goldens.Emit{
		{Text: "raw {"},
		{Text: `{"b":1,"a":["x",1.0,null]}`, Rescue: true},
		{Text: `{"control":{"done":false,"reason":"ok"},"next_action":{"type":"tool","name":"get_job_status","args":{"id":"7"}}` + state, Reflect: true},
		{Text: `{"control":{"done":false,"reason":"ok"},"next_action":{"type":"tool","name":"nothing","args":null}` + state},
		{Text: `{"control":{"done":true,"reason":"ok"},"next_action":{"type":"respond","message":"Say \"<hi>\""}` + state},
		{Text: `{"control":{"done":false,"reason":"need_clarification"},"next_action":{"type":"clarify","message":"Which?"}` + state},
	}, loadFull(t).Tasks[1].Script)
}

func TestDigest(t *testing.T) {
	const text = suitetest.Head + "tasks:\n  - {id: A, title: T, request: Hi, expect: {status: answered, numbers: [1], note: n}}\n"
	load := func(text string) string {
		s, err := Suite(suitetest.Folder(text), "s", suitetest.Worlds())
		require.NoError(t, err)
		return s.Digest
	}
	base := load(text)
	same := map[string][2]string{
		"comment":      {"name: demo", "# a comment\n\nname:   demo"},
		"title":        {"title: T", "title: Other, probes: [p]"},
		"note":         {"note: n", "note: other"},
		"candidates":   {"tools:", "candidates: [{name: a, provider: p, model: m}]\ntools:"},
		"schema space": {"{type: object, additionalProperties: false}", "{type: object,   additionalProperties: false}"},
		"same moment":  {"2026-05-13T12:00:00-04:00", "2026-05-13T16:00:00Z"},
		"style":        {"request: Hi", "request: \"Hi\""},
	}
	for name, edit := range same {
		t.Run("keeps for "+name, func(t *testing.T) {
			require.Contains(t, text, edit[0])
			require.Equal(t, base, load(strings.Replace(text, edit[0], edit[1], 1)))
		})
	}
	changes := map[string][2]string{
		"name":        {"name: demo", "name: demo2"},
		"request":     {"request: Hi", "request: Ho"},
		"tool text":   {"Counts.", "Counts!"},
		"schema":      {"enum: [angry, praise]", "enum: [praise, angry]"},
		"count":       {"{angry: 1}", "{angry: 2}"},
		"now":         {"12:00:00-04:00", "12:00:01-04:00"},
		"zone":        {"-04:00\n    zone: America/New_York", "-04:00\n    zone: America/Detroit"},
		"budget":      {"max_steps: 10", "max_steps: 11"},
		"expectation": {"numbers: [1]", "numbers: [2]"},
		"constraints": {"request: Hi", "request: Hi, constraints: x"},

		"a text":             {"numbers: [1]", "contains_any: [a]"},
		"no other numbers":   {"numbers: [1]", "contains_any: [a], only_numbers: []"},
		"only these numbers": {"numbers: [1]", "numbers: [1], only_numbers: [1]"},
		"not these numbers":  {"numbers: [1]", "numbers: [1], not_numbers: [2]"},
		"near":               {"numbers: [1]", "numbers: [1], near: {a: 1}"},
		"matches":            {"numbers: [1]", "numbers: [1], matches: [a]"},
		"not matches":        {"numbers: [1]", "numbers: [1], not_matches: [a]"},
		"forbidden":          {"numbers: [1]", "numbers: [1], forbidden: [a]"},
		"executed":           {"numbers: [1]", "numbers: [1], forbidden: [{tool: a, executed: true}]"},
	}
	seen := map[string]string{base: "nothing"}
	for name, edit := range changes {
		require.Contains(t, text, edit[0])
		d := load(strings.Replace(text, edit[0], edit[1], 1))
		require.NotContains(t, seen, d, "%s and %s", name, seen[d])
		seen[d] = name
	}
}

// BenchmarkLoad reads a suite of 100 tasks. The lower bound is parsing the text with yaml.v3, about a
// third of the time.
func BenchmarkLoad(b *testing.B) {
	var tasks strings.Builder
	for i := range 100 {
		tasks.WriteString("  - {id: T" + time.Duration(i).String() + ", request: Hi, expect: {status: answered, numbers: [1], calls: [today_range, get_counts]}}\n")
	}
	fsys := suitetest.Folder(suitetest.Head + "tasks:\n" + tasks.String())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Suite(fsys, "s", suitetest.Worlds()); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWorldsDoNotShareState(t *testing.T) {
	s, err := Suite(suitetest.Folder(full, "tasks/one.yaml", taskOne, "tasks/two.yaml", taskTwo), "s", suitetest.Worlds())
	require.NoError(t, err)
	noon := time.Date(2026, 5, 13, 16, 0, 0, 0, time.UTC)
	for range 2 {
		w, err := goldens.OpenWorld(t.Context(), s.Tasks[0], 1)
		require.NoError(t, err)
		counted, err := w.Call(t.Context(), tool.Call{Name: "get_counts", Args: json.RawMessage(`{"start_date":"2026-03-08","end_date":"2026-03-08","label":"angry"}`)}, noon)
		require.NoError(t, err)
		require.Equal(t, tool.Error, counted.Outcome)
		today, err := w.Call(t.Context(), tool.Call{Name: "today_range"}, noon)
		require.NoError(t, err)
		require.Equal(t, `{"end_date":"2026-05-13","list":[1,{}],"n":12345678901234567890,"start_date":"2026-05-13"}`, string(today.Value))
		reply, _ := w.Reply("?")
		require.Equal(t, "angry", reply)
	}
}
