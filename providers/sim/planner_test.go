package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const plannerSystem = "You are the planner. Call create_task once with the whole plan."

// objective is the planner's message for a request.
func objective(request string) string {
	return "OBJECTIVE:\n<data>" + request + "</data>\n\nCONSTRAINTS: Weeks start on Monday.\n\nINPUTS: none\n\nOUTPUT SCHEMA: none\n\nTOOLS:\n- today_range: Returns today's date. | Args: none\n- get_counts: Counts messages. | Args: start_date (required), end_date (required), label (required)\n"
}

// planning is a planner's inquiry, with the feedback to earlier plans.
func planning(request string, turns ...utterance) modelRequest {
	q := modelRequest{talk: talk{system: plannerSystem}, messages: append([]utterance{user(objective(request))}, turns...)}
	q.offer(createTask, json.RawMessage(`{"type":"object"}`))
	q.settle()
	return q
}

// calm are draws without a slip.
var calm = draws{format: 1, decision: 1, trust: 1}

// planned reads the plan out of an output.
func planned(t testing.TB, out spoken) planOf {
	t.Helper()
	require.Len(t, out.calls, 1, "%+v", out)
	require.Equal(t, createTask, out.calls[0].name)
	var plan planOf
	require.NoError(t, json.Unmarshal([]byte(out.calls[0].args), &plan))
	return plan
}

func TestPlans(t *testing.T) {
	p, _ := profileFor("sim-strong")
	for name, c := range map[string]struct {
		request string
		want    []string // id: instructions <- dependencies
	}{
		"one count":    {"How many info messages on 2026-05-03?", []string{"answer: How many info messages on 2026-05-03? <- "}},
		"one of today": {"praise today?", []string{"answer: praise today? <- "}},
		"two labels": {"Compare angry and praise on 2026-05-03", []string{
			"angry: Count the angry messages on 2026-05-03 with get_counts. <- ",
			"praise: Count the praise messages on 2026-05-03 with get_counts. <- ",
			"answer: Compare angry and praise on 2026-05-03 <- angry praise"}},
		"two ranges": {"Compare angry messages from 2026-05-01 to 2026-05-05 with 2026-05-06 to 2026-05-10: what is the difference?", []string{
			"angry: Count the angry messages from 2026-05-01 to 2026-05-05 with get_counts. <- ",
			"angry_2: Count the angry messages from 2026-05-06 to 2026-05-10 with get_counts. <- ",
			"answer: Compare angry messages from 2026-05-01 to 2026-05-05 with 2026-05-06 to 2026-05-10: what is the difference? <- angry angry_2"}},
		"relative": {"Did we get more praise or more angry messages last week, and by how many?", []string{
			"today: Find out today's date with today_range. <- ",
			"praise: Count the praise messages last week with get_counts. <- today",
			"angry: Count the angry messages last week with get_counts. <- today",
			"answer: Did we get more praise or more angry messages last week, and by how many? <- today praise angry"}},
		"a relative range": {"angry and info in the last 7 days, please", []string{
			"today: Find out today's date with today_range. <- ",
			"angry: Count the angry messages last 7 days with get_counts. <- today",
			"info: Count the info messages last 7 days with get_counts. <- today",
			"answer: angry and info in the last 7 days, please <- today angry info"}},
		"unsupported":    {"Delete all angry and praise messages from yesterday.", []string{"answer: Delete all angry and praise messages from yesterday. <- "}},
		"chat":           {"hi", []string{"answer: hi <- "}},
		"something open": {"How many complaints today and yesterday?", []string{"answer: How many complaints today and yesterday? <- "}},
		"a bad date":     {"angry and praise on 2026-02-30", []string{"answer: angry and praise on 2026-02-30 <- "}},
	} {
		t.Run(name, func(t *testing.T) {
			out, ok := p.converse(planning(c.request), calm)
			require.True(t, ok)
			var got []string
			for _, s := range planned(t, out).Steps {
				got = append(got, s.ID+": "+s.Instructions+" <- "+strings.Join(s.DependsOn, " "))
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestPlansAreSelfContained: what was said before, or at length, is told in the
// instructions in few words.
func TestPlansAreSelfContained(t *testing.T) {
	p, _ := profileFor("sim-strong")
	q := planning("And yesterday?")
	q.messages = append([]utterance{user("How many angry messages today?"), {own: true, text: "angry messages on 2026-05-13: 394."}}, q.messages...)
	out, _ := p.converse(q, calm)
	require.Equal(t, "Count the angry messages yesterday with get_counts.", planned(t, out).Steps[0].Instructions)
	long := strings.Repeat("The weather was fine. ", 20) + "How many praise messages on 2026-05-03?"
	out, _ = p.converse(planning(long), calm)
	require.Equal(t, "Count the praise messages on 2026-05-03 with get_counts.", planned(t, out).Steps[0].Instructions)
}

// TestPlansFitTheLimit: a plan with a step for each label stays within what a policy
// lets a model put out.
func TestPlansFitTheLimit(t *testing.T) {
	p, _ := profileFor("sim-strong")
	out, _ := p.converse(planning("Give me today's counts for angry, praise and info."), calm)
	require.Len(t, planned(t, out).Steps, 5)
	require.Less(t, estimateTokens(out.calls[0].args), 600)
}

// TestPlanSlips: each slip is what its name says, and what is refused makes careful.
func TestPlanSlips(t *testing.T) {
	steps := []planStep{
		{ID: "a", Instructions: "A.", DependsOn: []string{}},
		{ID: "b", Instructions: "B.", DependsOn: []string{"a"}},
	}
	plan := planOf{Title: "t", Steps: steps}
	require.Equal(t, []string{"b"}, misplan(cyclic, plan).Steps[0].DependsOn)
	require.Equal(t, []string{"a", "lookup"}, misplan(unknownStep, plan).Steps[1].DependsOn)
	require.Equal(t, "a", misplan(duplicateStep, plan).Steps[2].ID)
	require.Equal(t, []string{"web_search"}, misplan(unknownTools, plan).Steps[0].Tools)
	require.False(t, json.Valid([]byte(misplan(brokenSchema, plan).Steps[0].OutputSchema)))
	require.Equal(t, []planStep{}, misplan(noSteps, plan).Steps)
	require.Equal(t, []string{}, steps[0].DependsOn, "the plan itself stays as it was")
	one := planOf{Steps: steps[:1]}
	require.Equal(t, []string{"a"}, misplan(cyclic, one).Steps[0].DependsOn, "a step that waits for itself")
	require.Equal(t, planOf{}, misplan(cyclic, planOf{}))
}

// TestPlanRates holds plans to the documented rates, fresh and after a refusal.
func TestPlanRates(t *testing.T) {
	const request = "Compare angry and praise on 2026-05-03"
	refused := []utterance{
		{own: true, calls: []invocation{{"c1", createTask, "{}"}}},
		{results: []result{{id: "c1", text: "- empty: the plan has no steps", failed: true}}},
	}
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			for care, turns := range map[float64][]utterance{1: nil, p.careful: refused} {
				seen := map[planSlip]int{}
				for i := range protocolSamples {
					out, ok := p.converse(planning(request, turns...), drawsFor(7, p.name, fmt.Sprint(i), nil))
					require.True(t, ok)
					seen[planSlipOf(t, out)]++
				}
				total := 0.0
				for _, r := range p.planning {
					rate := r.p * care * timesIn(p, request)
					requireRate(t, string(r.kind), seen[r.kind], protocolSamples, rate)
					total += rate
				}
				requireRate(t, "no slip", seen[""], protocolSamples, 1-total)
			}
		})
	}
}

// planSlipOf tells a plan's slip without knowing what was drawn.
func planSlipOf(t *testing.T, out spoken) planSlip {
	t.Helper()
	switch {
	case strings.Contains(out.text, "```json"):
		return fencedPlan
	case len(out.calls) == 0:
		return prosePlan
	}
	plan := planned(t, out)
	switch {
	case len(plan.Steps) == 0:
		return noSteps
	case len(plan.Steps) == 4:
		return duplicateStep
	case len(plan.Steps[0].DependsOn) > 0:
		return cyclic
	case len(plan.Steps[2].DependsOn) > 2:
		return unknownStep
	case len(plan.Steps[0].Tools) > 1:
		return unknownTools
	case !json.Valid([]byte(plan.Steps[0].OutputSchema)):
		return brokenSchema
	}
	return ""
}

// TestForcedPlanIsACall: where the call is required, no text comes in its place.
func TestForcedPlanIsACall(t *testing.T) {
	p, _ := profileFor("sim-weak")
	for i := range protocolSamples {
		q := planning("angry on 2026-05-03")
		q.choice, q.tool = choiceNamed, createTask
		out, _ := p.converse(q, drawsFor(8, p.name, fmt.Sprint(i), nil))
		planned(t, out)
	}
}
