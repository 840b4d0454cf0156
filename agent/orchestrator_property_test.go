package agent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/orchestrator/role"
	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// TestRandomOrchestrations covers random task graphs, faults, human scripts and completion
// orders: no task before its dependencies or before approval, no more than five in the
// background, every suspension answered or reported, no deadlock, no tool outside the matrix,
// no destructive call that was not approved, and the same commands when run again.
func TestRandomOrchestrations(t *testing.T) {
	tools, statuses := instanceTools(t), map[Status]int{}
	seeds := uint64(10_000)
	if testing.Short() {
		seeds = 1_000
	}
	for seed := range seeds {
		first := randomRun(t, tools, seed).check()
		statuses[first.finish.Status]++
		if seed%10 == 0 {
			again := randomRun(t, tools, seed)
			require.Equal(t, first.tools, again.tools, seed)
			require.Equal(t, first.finish, again.finish, seed)
			require.Len(t, again.asked, len(first.asked), seed)
		}
	}
	require.Greater(t, statuses[AwaitingInput], 10)
	require.Greater(t, statuses[Answered]+statuses[answeredAfterClarify], 100)
}

// orchestration is a random run with what its checks need.
type orchestration struct {
	*instanceRun
	deps     map[string][]string // of the tasks of approved plans, by id
	approved []time.Time
}

// randomRun makes an episode of a seed.
func randomRun(t testing.TB, tools *tool.Set, seed uint64) *orchestration {
	draw := rand.New(rand.NewPCG(seed, 1)).IntN
	o := &orchestration{deps: map[string][]string{}, instanceRun: &instanceRun{t: t, Params: Params{Tools: tools}, replies: map[string][]any{}}}
	o.after = func(m *orchestratorMachine) {
		running := 0
		for _, a := range m.agents {
			if !a.Inline {
				running++
			}
		}
		require.LessOrEqual(t, running, 5)
	}
	for range 2 + draw(12) {
		o.replies[""] = append(o.replies[""], func(CallModel) providers.Reply { return o.mainReply(draw) })
	}
	for i := range 20 {
		for _, kind := range []string{"bg", "dg"} {
			id := fmt.Sprintf("%s_%d", kind, i+1)
			for range draw(3) {
				o.replies[id] = append(o.replies[id], func(CallModel) providers.Reply { return subReply(draw) })
			}
			if draw(6) == 0 {
				o.replies[id] = append(o.replies[id], calling("cannot_proceed", `{"reason":"no"}`))
			}
		}
	}
	o.takes = func(c CallModel) time.Duration {
		o.observe(c)
		return time.Duration(draw(700)) * time.Second
	}
	o.results = func(c tool.Call) tool.Result {
		r := saves(c)
		switch draw(8) {
		case 0:
			r = tool.Result{Outcome: tool.Error, Code: "E_UPSTREAM", Message: "broken"}
		case 1:
			r = tool.Result{Outcome: tool.Timeout, Code: "E_TIMEOUT", Message: "late"}
		}
		r.Duration = time.Duration(draw(90)) * time.Second
		return r
	}
	o.human = func(q person.Request) (person.Answer, bool) {
		switch draw(7) {
		case 0:
			return person.Answer{}, false
		case 1:
			return person.Answer{Say: person.Deny}, true
		case 2:
			if q.Kind == person.PlanReview {
				return person.Answer{Say: person.Feedback, Text: "otherwise"}, true
			}
		}
		if q.Kind == person.PlanReview {
			o.approved = append(o.approved, o.now)
			var plan struct {
				Tasks []struct {
					ID   string   `json:"id"`
					Deps []string `json:"deps"`
				}
			}
			require.NoError(o.t, json.Unmarshal(q.Payload, &plan))
			for _, task := range plan.Tasks {
				o.deps[task.ID] = task.Deps
			}
		}
		return person.Answer{Say: person.Approve}, true
	}
	for i := range draw(3) {
		o.messages = append(o.messages, userMessage{fmt.Sprintf("message %d", i), time.Duration(draw(2)*draw(2000)) * time.Second})
	}
	o.run()
	return o
}

func (o *orchestration) mainReply(draw func(int) int) providers.Reply {
	switch draw(9) {
	case 0, 1, 2:
		var words []string
		for i := range 2 + draw(4) {
			var deps []string
			for j := range i {
				if draw(3) == 0 {
					deps = append(deps, fmt.Sprint("t", j))
				}
			}
			kind := []string{"delegate", "build-workflow", "manage-data-tables", "research", "checkpoint"}[draw(5)]
			word := kind + " " + fmt.Sprint("t", i)
			if len(deps) > 0 {
				word += "<" + strings.Join(deps, ",")
			}
			words = append(words, word)
		}
		return planning(words...)
	case 3:
		return delegating([]string{"list-workflows", "create-data-table", "plan", "run-workflow"}[draw(4)])
	case 4:
		return building(fmt.Sprint("task ", draw(9)))
	case 5:
		return calling("cancel-background-task", fmt.Sprintf(`{"taskId":"bg_%d"}`, 1+draw(4)), "publish-workflow", `{"workflowId":"wf_1"}`)
	case 6:
		return calling("correct-background-task", fmt.Sprintf(`{"taskId":"bg_%d","correction":"%d"}`, 1+draw(4), draw(99)))
	case 7:
		return calling("report-verification-verdict", fmt.Sprintf(`{"workItemId":"wi_%d","verdict":%q}`, 1+draw(3), []string{"verified", "needs_patch", "x"}[draw(3)]))
	}
	return saying(fmt.Sprint("answer ", draw(99)))
}

func subReply(draw func(int) int) providers.Reply {
	name := []string{"list-workflows", "build-workflow", "create-data-table", "plan", "delegate", "run-workflow", "publish-workflow", "web-search"}[draw(8)]
	return calling(name, fmt.Sprintf(`{"code":%q}`, []string{"{}", "broken"}[draw(2)]+fmt.Sprint(draw(50))))
}

// observe checks a model call when it is made.
func (o *orchestration) observe(c CallModel) {
	if !strings.HasPrefix(c.Agent, "bg_") || len(c.Call.Messages) != 1 {
		return
	}
	text := c.Call.Messages[0].Text
	_, id, planned := strings.Cut(text, "spec of ")
	if !planned {
		return
	}
	id = strings.Fields(id)[0]
	require.NotEmpty(o.t, o.approved, "a task before any approval")
	for _, dep := range o.deps[id] {
		require.Regexp(o.t, `(?m)(^|<data>)`+dep+`: \S`, text, "%s before its dependency %s", id, dep)
	}
}

// check looks at the whole run.
func (o *orchestration) check() *orchestration {
	for _, c := range o.tools {
		spec, known := o.Tools.Spec(c.Call.Name)
		if c.Given == nil {
			require.True(o.t, known, "a tool of the strategy is not run")
			r := role.Orchestrator
			for _, asked := range o.asked {
				if asked.Agent == c.Agent {
					r = role.Role(asked.Role)
				}
			}
			require.True(o.t, role.May(r, spec.Group, spec.Name), "%s may not call %s", r, spec.Name)
		}
	}
	reviews := 0
	for _, q := range o.requests {
		if q.Kind == person.PlanReview {
			reviews++
		}
	}
	plans := 0
	for _, c := range o.calls("plan") {
		if c.Given != nil && (strings.Contains(string(c.Given.Value), `"taskCount":`) && !strings.Contains(string(c.Given.Value), `"faults"`) || c.Given.Code == "E_DENIED") {
			plans++
		}
	}
	require.True(o.t, plans == reviews || o.finish.Status != Answered && plans <= reviews, "%d reviews, %d answered", reviews, plans)
	if o.finish.Status == AwaitingInput {
		require.NotEmpty(o.t, o.open)
	}
	require.True(o.t, slices.Contains([]Status{Answered, answeredAfterClarify, respondError, AwaitingInput, Stopped, CannotProceed}, o.finish.Status), "%v", o.finish)
	return o
}
