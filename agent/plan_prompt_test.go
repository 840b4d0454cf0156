package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/plan"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// TestPlannerPrompt pins the planner's prompt, which simulated planners read.
func TestPlannerPrompt(t *testing.T) {
	p := planParams(t)
	p.Request, p.Constraints = "How many </data> lights?\nNow.", "be exact\nbe short"
	p.System, p.Images = "Speak like a keeper.", []providers.Image{{URL: "https://example.test/a.png"}}
	p.Inputs = []strategy.Input{{Name: "lights", Value: json.RawMessage(`["` + strings.Repeat("x", 200) + `"]`)}, {Name: "year", Value: json.RawMessage("1880")}}
	p.AnswerSchema = json.RawMessage(`{"type": "number"}`)
	p.Memory = []strategy.Exchange{{Request: "Who built it?", Answer: "Ines."}}
	m, err := New("plan", p, nil)
	require.NoError(t, err)
	ready := m.Step(Started{At: testStart})
	c := ready.Commands[0].(CallModel)
	require.Equal(t, turn.RolePlanner, c.Role)
	require.Equal(t, turn.KindPlan, c.Kind)
	require.Empty(t, c.Step)
	require.True(t, strings.HasPrefix(c.Call.System, "Speak like a keeper.\n\nYou are the planner."), "the user's comes before, it replaces nothing")
	require.Contains(t, c.Call.System, "create_task")
	require.Len(t, c.Call.Messages, 3)
	require.Equal(t, "Who built it?", c.Call.Messages[0].Text)
	require.Equal(t, "Ines.", c.Call.Messages[1].Text)
	require.Equal(t, p.Images, c.Call.Messages[2].Images)
	require.Equal(t, "OBJECTIVE:\n<data>How many <\\/data> lights?\nNow.</data>\n\nCONSTRAINTS: be exact / be short\n\n"+
		"INPUTS:\n- lights: [\""+strings.Repeat("x", 97)+"…\n- year: 1880\n\nOUTPUT SCHEMA: {\"type\": \"number\"}\n\n"+
		"TOOLS:\n- today_range: Today. | Args: none\n- get_counts: Counts. | Args: start_date (required), end_date (required), label (required)\n"+
		"- get_job_status: Polls. | Args: id (required)\n- search: Searches. | Args: query (required)", c.Call.Messages[2].Text)
	require.Equal(t, providers.Choice{Kind: providers.ChoiceNamed, Name: "create_task"}, c.Call.Choice)
	require.Len(t, c.Call.Tools, 1)
	require.Equal(t, "create_task", c.Call.Tools[0].Name)
	require.Equal(t, 4000, c.Call.MaxTokens)
	require.Equal(t, 0.1, *c.Call.Temperature)
	require.Equal(t, time.Minute, c.Timeout)
}

func TestPlannerPromptOfNothing(t *testing.T) {
	require.Equal(t, "OBJECTIVE:\n<data>r</data>\n\nCONSTRAINTS: none\n\nINPUTS: none\n\nOUTPUT SCHEMA: none\n\nTOOLS: none", plannerPrompt(Params{Request: "r"}))
}

// TestStepPrompts pins the prompts of a step and of an item.
func TestStepPrompts(t *testing.T) {
	p := planParams(t)
	p.System = "Speak like a keeper."
	p.Inputs = []strategy.Input{{Name: "year", Value: json.RawMessage(`"<data>"`)}}
	s := newStage(t, map[string][]any{
		"": {reply("", planCall(stepList, `{"id":"a","instructions":"find </data>","depends_on":["year"]}`,
			`{"id":"each","instructions":"tell","depends_on":["list","a","year"],"mode":"process","per_item_instructions":"tell of {item}","tools":["search"]}`))},
		"list": {reply("", finishCall(`["x<y"]`))}, "a": {"A </data> B"}, "each[1]": {"done"},
	})
	m, err := New("plan", p, nil)
	require.NoError(t, err)
	require.Equal(t, Answered, s.run(m).Status)
	asked := map[string]CallModel{}
	for _, c := range s.models {
		asked[c.Step] = c
	}
	system := asked["a"].Call.System
	require.True(t, strings.HasPrefix(system, "Speak like a keeper.\n\nYou work on one step of a plan.\nOBJECTIVE: <data>How many?</data>\nCONSTRAINTS: be exact\nToday's date is 2026-05-13\n"), system)
	require.NotContains(t, system, plan.Finish)
	require.Contains(t, asked["list"].Call.System, plan.Finish)
	require.Equal(t, "STEP: a\nINSTRUCTIONS:\n<data>find <\\/data></data>\n\nINPUT year:\n<data>\"\\u003cdata>\"</data>\n\nCarry out the instructions and finish the step.", asked["a"].Call.Messages[0].Text)
	require.Equal(t, "STEP: each\nINSTRUCTIONS:\n<data>tell of x<y</data>\n\nRESULT OF a:\n<data>\"A \\u003c/data\\u003e B\"</data>\n\nINPUT year:\n<data>\"\\u003cdata>\"</data>\n\nITEM:\n<data>\"x\\u003cy\"</data>\n\nCarry out the instructions and finish the step.", asked["each[1]"].Call.Messages[0].Text)
	require.Equal(t, []string{"search"}, toolNames(asked["each[1]"]))
	require.Equal(t, []string{"today_range", "get_counts", "get_job_status", "search", "finish_step"}, toolNames(asked["list"]))
	require.Equal(t, []string{"today_range", "get_counts", "get_job_status", "search"}, toolNames(asked["a"]))
}

func toolNames(c CallModel) []string {
	var out []string
	for _, t := range c.Call.Tools {
		out = append(out, t.Name)
	}
	return out
}

// The date in a prompt is that of the episode's clock: a step after midnight has another day.
func TestDateIsTheEpisodesOwn(t *testing.T) {
	s := newStage(t, map[string][]any{"": {reply("", planCall(stepA))}, "a": {"1"}})
	s.took = func(Command) time.Duration { return 9 * time.Hour }
	m, err := New("plan", Params{Request: "r"}, nil)
	require.NoError(t, err)
	s.run(m)
	require.Contains(t, s.models[1].Call.System, "Today's date is 2026-05-14\n")
}

// Dependent steps see at most 20,000 characters of a result, with a mark if it is truncated.
func TestResultsAreBounded(t *testing.T) {
	s := newStage(t, map[string][]any{"": {reply("", planCall(stepA, `{"id":"z","instructions":"use it","depends_on":["a"]}`))}, "a": {strings.Repeat("x", 30_000)}, "z": {"1"}})
	m, err := New("plan", Params{Request: "r"}, nil)
	require.NoError(t, err)
	s.run(m)
	text := s.models[2].Call.Messages[0].Text
	require.Contains(t, text, "RESULT OF a:\n<data>\"xxx")
	require.Contains(t, text, "xxx... [truncated]</data>")
	require.Less(t, len(text), 21_000)
}

// All faults are the answer to every call, or a user message if there was no call.
func TestFeedback(t *testing.T) {
	s := newStage(t, map[string][]any{
		"": {
			reply("", planCall(`{"id":"a","instructions":"i","depends_on":["b"]}`, `{"id":"b","instructions":"","depends_on":["a","c"]}`), `search {"query":"x"}`),
			"no JSON", `{"steps":[]}`, reply("", planCall(stepA)),
		},
		"a": {"1"},
	})
	p := planParams(t)
	p.Plan.Attempts = 4
	m, err := New("plan", p, nil)
	require.NoError(t, err)
	require.Equal(t, Answered, s.run(m).Status)
	messages := s.models[3].Call.Messages
	require.Len(t, messages, 8)
	require.Equal(t, providers.RoleAssistant, messages[1].Role)
	require.Len(t, messages[1].Calls, 2)
	want := "The plan of attempt 1/4 is not valid:\n- plan.instructions.blank: step \"b\" has no instructions\n" +
		"- plan.depends_on.unknown: step \"b\" depends on \"c\", which is neither a step nor an input\n- plan.depends_on.cycle: circular dependency: a → b → a\nCall create_task again with the whole plan."
	for i, c := range messages[1].Calls {
		require.Equal(t, providers.Message{Role: providers.RoleTool, CallID: c.ID, Name: c.Name, Text: want, Failed: true}, messages[2+i])
	}
	require.NotEqual(t, messages[1].Calls[0].ID, messages[1].Calls[1].ID)
	require.Equal(t, providers.RoleUser, messages[5].Role)
	require.Equal(t, "Error: LLM did not call create_task tool on attempt 2/4. Please call the create_task tool with your task plan.", messages[5].Text)
	require.Equal(t, "The plan of attempt 3/4 is not valid:\n- plan.empty: the plan has no steps\nCall create_task again with the whole plan.", messages[7].Text)
}

// The feedback on a wrong result contains the faults, the schema and the submitted value.
func TestFinishFeedback(t *testing.T) {
	s := newStage(t, map[string][]any{
		"": {reply("", planCall(stepA, stepB))}, "a": {"1"},
		"b": {reply("", finishCall(`{"n":"`+strings.Repeat("7", 3000)+`"}`)), reply("", `finish_step {}`), `{"status":"completed"}`, "prose", reply("", finishCall(`{"n":7}`))},
	})
	m, err := New("plan", planParams(t), nil)
	require.NoError(t, err)
	require.Equal(t, `{"n":7}`, s.run(m).Answer)
	messages := s.models[len(s.models)-1].Call.Messages
	require.Len(t, messages, 9)
	var reply struct {
		Error struct{ Code, Message string }
	}
	require.NoError(t, json.Unmarshal([]byte(messages[2].Text), &reply))
	require.True(t, messages[2].Failed)
	require.Contains(t, reply.Error.Message, `step.schema: result.n:type. The result must fit the schema {"type":"object","properties":{"n":{"type":"number"}},"additionalProperties":false,"required":["n"]}. You submitted: {"n":"777`)
	require.Less(t, len(reply.Error.Message), 1500)
	require.Contains(t, messages[4].Text, "Missing result in finish_step call")
	require.Contains(t, messages[6].Text, "Missing 'result'")
	require.Equal(t, providers.RoleUser, messages[6].Role)
	require.Contains(t, messages[8].Text, "step.no_finish")
	require.Contains(t, messages[8].Text, "must fit the schema")
}

func TestPlanRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Params)
		err    string
	}{
		{"profile", func(p *Params) { p.Profile = "react" }, `unknown prompt profile "react"; known: native, seed`},
		{"mode", func(p *Params) { p.Mode = "json_object" }, "mode: agent plan has no such setting; it is a setting of contract"},
		{"rescue", func(p *Params) { p.Rescue = true }, "rescue: agent plan has no such setting; it is a setting of contract"},
		{"rescue on contradiction", func(p *Params) { p.RescueOnContradiction = true }, "rescue_on_contradiction: agent plan has no such setting; it is a setting of contract"},
		{"compress", func(p *Params) { p.Compress = true }, "compress: agent plan has no such setting; it is a setting of contract"},
		{"iterations", func(p *Params) { p.MaxIterations = -1 }, "max_iterations: must be from 0 to 1000, but is -1"},
		{"retries", func(p *Params) { p.FinalRetries = new(-1) }, "final_retries: must be from 0 to 10, but is -1"},
		{"bounds", func(p *Params) { p.Plan.Steps = -1 }, "plan: steps must be from 0 to 1000, but is -1"},
		{"answer schema", func(p *Params) { p.AnswerSchema = json.RawMessage(`{"type":"x"}`) }, "answer schema: not a usable JSON Schema"},
		{"a tool of that name", func(p *Params) { p.Tools = oneTool(t, plan.Finish) }, "tool finish_step: the name is the strategy's own; rename the tool"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := Params{Request: "r"}
			test.change(&p)
			m, err := New("plan", p, nil)
			require.ErrorContains(t, err, "agent: strategy plan: "+test.err)
			require.Nil(t, m)
		})
	}
	for _, profile := range []string{"", "seed", "native"} {
		m, err := New("plan", Params{Profile: profile, Mode: "prompt"}, nil)
		require.NoError(t, err)
		made := m.(*planMachine)
		require.Equal(t, strategy.PlanBounds{Attempts: 3, Steps: 50, Concurrency: 4, ContextTokens: 100_000}, made.bounds)
		require.Equal(t, 10, made.MaxIterations)
		require.Empty(t, made.known.Tools)
		require.Empty(t, made.results)
	}
	m, err := New("plan", Params{System: "s", Plan: strategy.PlanBounds{Attempts: 1, Steps: 2, Concurrency: 3, ContextTokens: 4}, Inputs: []strategy.Input{{Name: "i", Value: json.RawMessage("0")}}}, nil)
	require.NoError(t, err)
	require.Equal(t, strategy.PlanBounds{Attempts: 1, Steps: 2, Concurrency: 3, ContextTokens: 4}, m.(*planMachine).bounds)
	require.Equal(t, "s", m.(*planMachine).System)
	require.Len(t, m.(*planMachine).known.Inputs, 1)
}

// The digest covers the instructions of the planner and the steps, but not the task.
func TestPlanDigests(t *testing.T) {
	base := Digests("plan", Params{}, nil)
	require.Equal(t, base["prompt"], Digests("plan", Params{Request: "other", AnswerSchema: json.RawMessage(`{}`)}, nil)["prompt"])
	require.NotEqual(t, base["prompt"], Digests("tools", Params{}, nil)["prompt"])
	require.NotEqual(t, base["contract"], Digests("tools", Params{}, nil)["contract"])
	text := planSample(Params{})
	for _, part := range []string{"You are the planner.", "You work on one step of a plan.", "create_task", "finish_step", "RESULT OF a:", "INPUT i:", "ITEM:", "HISTORY:", "SUMMARY OF WHAT", "Bring the results together", "is not valid:", "LLM did not call", tellConclude, "- call:", "step.no_finish"} {
		require.Contains(t, text, part)
	}
	require.Equal(t, planDigest, base["prompt"], "whoever changes the templates makes every recorded cassette stale, and should mean it")
}

const planDigest = "6b01edfb82629785a103c55621b5e4a45a119fd734fe98ce93c72caeddb4833f"

func TestPlannerTokens(t *testing.T) {
	for most, want := range map[int]int{0: 0, 400: 4000, 4000: 4000, 5000: 5000} {
		require.Equal(t, want, plannerTokens(most), most)
		none, err := tool.NewSet(nil)
		require.NoError(t, err)
		m, err := newPlan(Params{Request: "r", Tools: none, MaxTokens: most})
		require.NoError(t, err)
		require.Equal(t, want, m.Step(Started{}).Commands[0].(CallModel).Call.MaxTokens)
	}
}
