package agent

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/plan"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
)

// planElsewhere are the behaviours that the strategy plan does not have, and why.
var planElsewhere = map[string]string{
	"B011": "a schema is JSON: YAML is refused with feedback, because a schema that is guessed enforces what nobody asked for",
	"B012": "an unknown tool makes the plan invalid, and the known ones are named: dropping it would widen or narrow a restriction in silence",
	"B029": "a valid plan is carried out as it is: steps are not added to it, so that what is compared is one plan's execution",
	"B030": "as B029; the last step is the sink of the graph, not a place in the list",
	"B031": "as B029: no tool lists the steps, because each sees only what it depends on",
}

// planBehaviours are the others, by id. If cupel differs intentionally, a comment says so and the
// test checks cupel's behaviour.
var planBehaviours = map[string]func(t *testing.T){
	"B001": func(t *testing.T) {
		p := readValid(t, bareStep("a"), bareStep("b", "a"), bareStep("c", "b", "a"))
		require.Equal(t, [][]string{{}, {"a"}, {"b", "a"}}, [][]string{p.Steps[0].DependsOn, p.Steps[1].DependsOn, p.Steps[2].DependsOn})
	},
	"B002": func(t *testing.T) {
		require.Equal(t, "circular dependency: a → b → a", faultOf(t, "depends_on.cycle", bareStep("a", "b"), bareStep("b", "a")))
	},
	"B003": func(t *testing.T) {
		require.Contains(t, faultOf(t, "depends_on.unknown", bareStep("a", "nobody")), `"nobody", which is neither a step nor an input`)
	},
	"B004": func(t *testing.T) { // refused, not just recognisable
		require.Contains(t, faultOf(t, "id.duplicate", bareStep("a"), bareStep("a")), `"a"`)
	},
	"B005": func(t *testing.T) { require.Equal(t, `{"a":1}`, fromText(t, "Here:\n```json\n{\"a\":1}\n```\nDone.")) },
	"B006": func(t *testing.T) { require.Equal(t, `{"a":1}`, fromText(t, "```\n{\"a\":1}\n```")) },
	"B007": func(t *testing.T) { require.Equal(t, `{"a":1}`, fromText(t, "First {\"a\":1} then that.")) },
	"B008": func(t *testing.T) {
		require.Equal(t, `{"a":1}`, fromText(t, "<think>{\"b\":2}</think>\n```json\n{\"a\":1}\n```"))
	},
	"B009": func(t *testing.T) {
		for _, none := range []string{"", "I would search."} {
			_, ok := plan.FromText(none)
			require.False(t, ok)
		}
	},
	"B010": func(t *testing.T) {
		schema, err := plan.Tighten(`{"type":"object","properties":{"summary":{"type":"string"}}}`)
		require.NoError(t, err)
		require.JSONEq(t, `{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"],"additionalProperties":false}`, string(schema))
	},
	"B013": func(t *testing.T) {
		require.Equal(t, "a  b", plan.WithoutThinking("a <think>x</think> b"))
		require.Empty(t, plan.WithoutThinking(""))
	},
	"B014": func(t *testing.T) {
		require.Equal(t, "a plan", replySummary(reply("<think>hm</think>a plan")))
		require.Equal(t, "[create_task]", replySummary(reply("", "create_task {}")))
	},
	"B015": func(t *testing.T) {
		s := readValid(t, bareStep("a")).Steps[0]
		require.Equal(t, plan.Step{ID: "a", Instructions: "do a", DependsOn: []string{}}, plan.Step{ID: s.ID, Instructions: s.Instructions, DependsOn: append([]string{}, s.DependsOn...)})
	},
	"B016": func(t *testing.T) {
		require.Equal(t, []string{"a"}, readValid(t, bareStep("a"), bareStep("b", "a")).Steps[1].DependsOn)
	},
	"B017": func(t *testing.T) {
		_, m, _ := playPlan(t, nil, map[string][]any{"": {reply("", planCall(summaryStep))}, "a": {"```json\n{\"status\":\"completed\",\"result\":{\"summary\":\"s\"}}\n```"}})
		require.JSONEq(t, `{"summary":"s"}`, string(m.results["a"]))
		require.Equal(t, plan.Done, m.progress.State("a"))
	},
	"B018": func(t *testing.T) {
		message := feedback(t, `{"status":"completed"}`)
		require.Contains(t, message, "'result'")
	},
	"B019": func(t *testing.T) {
		message := feedback(t, `{"status":"completed","result":{"summary":1}}`)
		require.Contains(t, message, "must fit the schema")
	},
	"B020": func(t *testing.T) {
		require.Equal(t, []string{"search", "finish_step"}, offered(t, strings.Replace(summaryStep, `"depends_on"`, `"tools":["search"],"depends_on"`, 1)))
	},
	"B021": func(t *testing.T) { require.NotContains(t, offered(t, bareStep("a")), "finish_step") },
	"B022": func(t *testing.T) {
		r, err := plan.NewResult(json.RawMessage(`{"type":"number"}`))
		require.NoError(t, err)
		require.JSONEq(t, `{"type":"object","properties":{"result":{"type":"number"}},"required":["result"],"additionalProperties":false}`, string(r.Spec.Schema))
	},
	"B023": func(t *testing.T) {
		r, err := plan.NewResult(nil)
		require.NoError(t, err)
		require.Contains(t, string(r.Spec.Schema), `"result":{"type":"object","additionalProperties":true}`)
	},
	"B024": func(t *testing.T) {
		require.Equal(t, []string{"search"}, offered(t, `{"id":"a","instructions":"i","depends_on":[],"tools":["search"]}`))
	},
	"B025": func(t *testing.T) {
		g := plan.NewProgress(readValid(t, bareStep("fresh"), bareStep("done"), bareStep("next"), bareStep("unmet", "running"), bareStep("running")))
		g.Start("done")
		g.Done("done")
		g.Start("running")
		ready := g.Ready()
		require.Equal(t, []string{"fresh", "next"}, []string{ready[0].ID, ready[1].ID})
		require.Len(t, ready, 2)
	},
	"B026": func(t *testing.T) {
		g := plan.NewProgress(readValid(t, bareStep("a"), bareStep("b")))
		g.Start("b")
		g.Done("b")
		g.Start("a")
		require.False(t, g.Over())
		g.Done("a")
		require.True(t, g.Over())
	},
	"B027": func(t *testing.T) { // there is no sequential mode; the items of a step can be taken one by one
		s, _, f := playPlan(t, func(p *Params) { p.Plan.Concurrency = 1 }, map[string][]any{
			"":     {reply("", planCall(stepList, stepEach))},
			"list": {reply("", finishCall(`["x","y"]`))}, "each[1]": {reply("", finishCall("1"))}, "each[2]": {reply("", finishCall("2"))},
		})
		require.Equal(t, "[1,2]", f.Answer)
		require.Equal(t, 4*time.Second, s.at.Sub(testStart))
	},
	"B028": func(t *testing.T) {
		s, _, _ := playPlan(t, nil, twoSteps("1", "2"))
		require.Equal(t, 3*time.Second, s.at.Sub(testStart), "planning, both at once, bringing them together")
		require.Subset(t, succeeded(s), []string{"a", "b"})
	},
	"B032": func(t *testing.T) {
		s := newStage(t, twoSteps("1", "2"))
		s.took = func(c Command) time.Duration {
			if c.(CallModel).Step == "a" {
				return 5 * time.Second
			}
			return time.Second
		}
		m, err := New("plan", planParams(t), nil)
		require.NoError(t, err)
		s.run(m)
		require.Equal(t, []string{"b", "a", "aggregate"}, succeeded(s)[2:])
	},
	"B033": func(t *testing.T) { // of a step that the model fails; a failure of the provider's ends the episode
		s, _, f := playPlan(t, func(p *Params) { p.MaxIterations = 1 }, map[string][]any{
			"": {reply("", planCall(bareStep("a"), bareStep("b")))}, "a": {reply("", `search {"query":"x"}`)}, "b": {"2"},
		})
		require.Equal(t, stoppedFailedStep, f.StopReason)
		require.Contains(t, succeeded(s), "b")
		require.Contains(t, f.Answer, "a: failed: ")
		require.Contains(t, f.Answer, `b: "2"`)

		down := errors.New("down")
		_, _, f = playPlan(t, nil, map[string][]any{"": {reply("", planCall(bareStep("a"), bareStep("b")))}, "a": {down}, "b": {"2"}})
		require.Equal(t, down, f.Err)
	},
	"B034": func(t *testing.T) { // there are no ready-made plans: what plans is under test, too
		_, m, f := playPlan(t, func(p *Params) { p.AnswerSchema = json.RawMessage(`{"type":"number"}`) },
			map[string][]any{"": {reply("", planCall(summaryStep))}, "a": {reply("", finishCall("7"))}})
		require.Equal(t, "7", f.Answer, "the answer's schema stands in the place of the last step's")
		require.Equal(t, "a", m.last)
	},
	"B035": func(t *testing.T) {
		s, _, f := playPlan(t, nil, twoSteps("1", "2"))
		require.Equal(t, []string{phaseCreation, phasePlanning, "a", "b", "aggregate"}, succeeded(s))
		require.Equal(t, Finish{Status: Answered, Answer: "both"}, f)
	},
	"B036": func(t *testing.T) { // a history is bounded at 100,000 tokens, not 128,000: as upstream's own executor does
		m, err := New("plan", Params{}, nil)
		require.NoError(t, err)
		made := m.(*planMachine)
		require.Equal(t, strategy.PlanBounds{Attempts: 3, Steps: 50, Concurrency: 4, ContextTokens: 100_000}, made.bounds)
		require.Empty(t, made.known.Tools)
		require.Empty(t, made.known.Inputs)
		require.Empty(t, made.System)
		require.Zero(t, made.Open(), "nobody is asked")
	},
	"B037": func(t *testing.T) {
		m, err := New("plan", Params{System: "s", Plan: strategy.PlanBounds{Attempts: 1, Steps: 2, Concurrency: 3, ContextTokens: 4}, MaxIterations: 5, Inputs: []strategy.Input{{Name: "i", Value: json.RawMessage("0")}}}, nil)
		require.NoError(t, err)
		made := m.(*planMachine)
		require.Equal(t, strategy.PlanBounds{Attempts: 1, Steps: 2, Concurrency: 3, ContextTokens: 4}, made.bounds)
		require.Equal(t, 5, made.MaxIterations)
		require.Equal(t, "s", made.System)
		require.Equal(t, "i", made.known.Inputs[0].Name)
		require.Zero(t, made.Open())
	},
	"B038": func(t *testing.T) { // and the names of the arguments
		require.Contains(t, plannerPrompt(Params{Tools: testTools(t)}), "\n- search: Searches. | Args: query (required)")
	},
	"B096": func(t *testing.T) {
		g := plan.NewProgress(readValid(t, bareStep("a"), bareStep("b", "a"), bareStep("c", "b"), bareStep("d", "b", "c")))
		g.Start("a")
		require.Equal(t, []string{"b", "c", "d"}, g.Fail("a", "broken"))
		for _, id := range []string{"b", "c", "d"} {
			require.Equal(t, plan.Cancelled, g.State(id))
			require.Equal(t, `Cancelled: dependency "a" failed`, g.Why(id))
		}
	},
	"B097": func(t *testing.T) {
		g := plan.NewProgress(readValid(t, bareStep("a"), bareStep("b", "a"), bareStep("c")))
		g.Start("a")
		g.Fail("a", "broken")
		require.Equal(t, plan.Pending, g.State("c"))
		require.Empty(t, g.Why("c"))
	},
}

// summaryStep ends with an object that has a summary.
const summaryStep = `{"id":"a","instructions":"i","output_schema":{"type":"object","properties":{"summary":{"type":"string"}}},"depends_on":[]}`

// bareStep is a step that ends with a text.
func bareStep(id string, deps ...string) string {
	text, _ := json.Marshal(map[string]any{"id": id, "instructions": "do " + id, "depends_on": append([]string{}, deps...)})
	return string(text)
}

func twoSteps(a, b string) map[string][]any {
	return map[string][]any{"": {reply("", planCall(bareStep("a"), bareStep("b")))}, "a": {a}, "b": {b}, "aggregate": {"both"}}
}

func readValid(t *testing.T, steps ...string) plan.Plan {
	p, faults := plan.Read(strings.TrimPrefix(planCall(steps...), "create_task "), plan.Known{})
	require.Empty(t, faults)
	for i := range p.Steps {
		p.Steps[i].DependsOn = append([]string{}, p.Steps[i].DependsOn...)
	}
	return p
}

// faultOf is the only fault of a plan, which must have that code.
func faultOf(t *testing.T, code string, steps ...string) string {
	_, faults := plan.Read(strings.TrimPrefix(planCall(steps...), "create_task "), plan.Known{})
	require.Len(t, faults, 1)
	require.Equal(t, code, faults[0].Code)
	return faults[0].Detail
}

func fromText(t *testing.T, text string) string {
	object, ok := plan.FromText(text)
	require.True(t, ok)
	return object
}

// playPlan runs an episode with scripted replies.
func playPlan(t *testing.T, change func(*Params), replies map[string][]any) (*stage, *planMachine, Finish) {
	p := planParams(t)
	if change != nil {
		change(&p)
	}
	m, err := New("plan", p, nil)
	require.NoError(t, err)
	s := newStage(t, replies)
	f := s.run(m)
	return s, m.(*planMachine), f
}

// feedback is the message after a text that does not finish a step.
func feedback(t *testing.T, text string) string {
	s, m, _ := playPlan(t, nil, map[string][]any{"": {reply("", planCall(summaryStep))}, "a": {text, reply("", finishCall(`{"summary":"s"}`))}})
	require.JSONEq(t, `{"summary":"s"}`, string(m.results["a"]))
	messages := s.models[2].Call.Messages
	require.Len(t, messages, 3)
	require.Equal(t, providers.RoleUser, messages[2].Role)
	return messages[2].Text
}

// offered are the tools that a step sees.
func offered(t *testing.T, step string) []string {
	m, err := New("plan", planParams(t), nil)
	require.NoError(t, err)
	m.Step(Started{At: testStart})
	ready := m.Step(ModelReplied{At: testStart, ID: 1, Reply: reply("", planCall(step))})
	return toolNames(ready.Commands[0].(CallModel))
}

// succeeded are the phases that were, in order.
func succeeded(s *stage) []string {
	var out []string
	for _, u := range s.updates {
		if u.Status == statusSuccess {
			out = append(out, u.Phase)
		}
	}
	return out
}

// TestPlanBehaviours checks the behaviours of the systems on which strategy plan is modelled.
func TestPlanBehaviours(t *testing.T) {
	for _, id := range slices.Sorted(maps.Keys(planBehaviours)) {
		t.Run(id, planBehaviours[id])
	}
}

// TestPlanDiffersWhereItSays checks the rows in which cupel differs.
func TestPlanDiffersWhereItSays(t *testing.T) {
	_, faults := plan.Read(`{"title":"t","steps":[{"id":"a","instructions":"i","output_schema":"type: object","tools":["search","browse"]}]}`, plan.Known{Tools: []string{"search"}})
	require.Equal(t, []string{"schema.invalid", "tools.unknown"}, []string{faults[0].Code, faults[1].Code}, "B011, B012")
	require.Len(t, faults, 2)
	for _, name := range offered(t, summaryStep) {
		require.True(t, testTools(t).Has(name) || name == plan.Finish, "B029 to B031: %s changes or lists the plan", name)
	}
}

// TestEveryPlanBehaviour compares the lists with the rows, if those are available.
func TestEveryPlanBehaviour(t *testing.T) {
	var have []string
	have = slices.AppendSeq(have, maps.Keys(planBehaviours))
	have = slices.AppendSeq(have, maps.Keys(planElsewhere))
	require.ElementsMatch(t, testkit.Behaviours(t, "plan"), have)
	for id, why := range planElsewhere {
		require.NotEmpty(t, why, id)
	}
}
