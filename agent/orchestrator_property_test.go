package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
)

// TestRandomOrchestrations covers random task graphs, faults, human scripts and completion
// orders: no task before its dependencies or before approval, none left of a plan that is being
// worked on, no more than five in the background and none of them twice or for too long, nothing
// of a task that was cancelled, one checkpoint at a time, every correction shown to its task, every
// suspension answered or reported, no deadlock and no end twice whatever the budget, no tool outside the matrix, no other plan after a
// denial, and the same commands when run again.
func TestRandomOrchestrations(t *testing.T) {
	tools, statuses, most := instanceTools(t), map[Status]int{}, 0
	for seed := range uint64(testkit.Long(testkit.SlowN(300, 1_000), 10_000)) {
		first := randomRun(t, tools, seed).check()
		statuses[first.finish.Status]++
		most = max(most, first.most)
		if seed%10 == 0 {
			again := randomRun(t, tools, seed)
			require.Equal(t, first.tools, again.tools, seed)
			require.Equal(t, first.finish, again.finish, seed)
			require.Equal(t, first.asked, again.asked, seed)
		}
	}
	require.Equal(t, 5, most, "in the background")
	require.Greater(t, statuses[AwaitingInput], 10)
	require.Greater(t, statuses[Answered]+statuses[answeredAfterClarify], 100)
}

// orchestration is a random run with what its checks need.
type orchestration struct {
	*instanceRun
	deps     map[string][]string // of the tasks of the plan that was approved last, by id
	checks   map[string]bool     // its checkpoints
	approved bool                // the latest plan
	denied   bool                // a plan, in this turn of the user
	most     int                 // background tasks at the same time
	machine  *orchestratorMachine
	seen     map[string][2]time.Time // when each sub-agent was first and last asked
	ended    map[string]bool         // the background tasks that were cancelled
}

// randomRun makes an episode of a seed.
func randomRun(t testing.TB, tools *tool.Set, seed uint64) *orchestration {
	draw := rand.New(rand.NewPCG(seed, 1)).IntN
	o := &orchestration{seen: map[string][2]time.Time{}, ended: map[string]bool{}, instanceRun: &instanceRun{t: t, Params: Params{Tools: tools}, replies: map[string][]any{}}}
	o.after = o.look
	if draw(4) == 0 {
		o.Budgets = guard.Budgets{MaxSteps: 1 + draw(12), MaxToolCalls: draw(2) * draw(20)}
	}
	calm := draw(3) == 0 // builds succeed, and little is late
	for range 2 + draw(12) {
		o.replies[""] = append(o.replies[""], func(CallModel) providers.Reply { return o.mainReply(draw) })
	}
	for i := range 20 {
		for _, kind := range []string{"bg", "dg"} {
			id := fmt.Sprintf("%s_%d", kind, i+1)
			for range draw(3) {
				o.replies[id] = append(o.replies[id], func(c CallModel) providers.Reply {
					if calm && c.Role == "builder" {
						return calling("build-workflow", fmt.Sprintf(`{"code":"%d"}`, draw(50)))
					}
					return subReply(draw)
				})
			}
			if !calm && draw(6) == 0 {
				o.replies[id] = append(o.replies[id], calling("cannot_proceed", `{"reason":"no"}`))
			}
		}
	}
	o.takes = func(c CallModel) time.Duration {
		o.observe(c)
		if calm {
			return time.Duration(draw(100)) * time.Second
		}
		return time.Duration(draw(700)*(1+draw(2))) * time.Second
	}
	o.results = func(c tool.Call) tool.Result {
		r := saves(c)
		switch n := draw(8); {
		case calm && n > 0:
		case n == 0:
			r = tool.Result{Outcome: tool.Error, Code: "E_UPSTREAM", Message: "broken"}
		case n == 1:
			r = tool.Result{Outcome: tool.Timeout, Code: "E_TIMEOUT", Message: "late"}
		}
		r.Duration = time.Duration(draw(90)) * time.Second
		return r
	}
	o.human = func(q person.Request) (person.Answer, bool) {
		require.False(o.t, q.Kind == person.PlanReview && o.denied, "another plan after a denial")
		if q.Kind == person.PlanReview {
			o.approved = false
		}
		switch draw(7) {
		case 0:
			return person.Answer{}, false
		case 1:
			o.denied = q.Kind == person.PlanReview && len(o.messages) == 0
			return person.Answer{Say: person.Deny}, true
		case 2:
			if q.Kind == person.PlanReview {
				return person.Answer{Say: person.Feedback, Text: "otherwise"}, true
			}
		}
		if q.Kind == person.PlanReview {
			var plan struct {
				Tasks []struct {
					ID, Kind    string
					Deps, Tools []string
				}
			}
			require.NoError(o.t, json.Unmarshal(q.Payload, &plan))
			o.approved, o.deps, o.checks = true, map[string][]string{}, map[string]bool{}
			for _, task := range plan.Tasks {
				o.deps[task.ID], o.checks[task.ID] = task.Deps, task.Kind == "checkpoint"
				o.allowed("delegate", task.Tools...)
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
		built := "" // a task that a checkpoint can check
		for i := range 2 + draw(4)*(1+draw(3)) {
			var deps []string
			for j := range i {
				if draw(3+i) == 0 {
					deps = append(deps, fmt.Sprint("t", j))
				}
			}
			kind := []string{"delegate", "build-workflow", "manage-data-tables", "research", "checkpoint"}[draw(5)]
			id := fmt.Sprint("t", i)
			switch {
			case kind == "checkpoint" && built == "":
				kind, built = "build-workflow", id
			case kind == "checkpoint" && !slices.Contains(deps, built):
				deps = append(deps, built)
			case kind == "build-workflow" && built == "":
				built = id
			}
			word := kind + " " + id
			if len(deps) > 0 {
				word += "<" + strings.Join(deps, ",")
			}
			words = append(words, word)
		}
		plan := planning(words...)
		if draw(4) == 0 {
			plan.Calls[0].Args = strings.Replace(plan.Calls[0].Args, "list-workflows", []string{"create-data-table", "mcp_echo", "delegate", "run-workflow"}[draw(4)], 1)
		}
		if draw(6) == 0 {
			plan.Calls = append(plan.Calls, planning(words...).Calls...)
		}
		return plan
	case 3:
		handed := delegating([]string{"list-workflows", "create-data-table", "plan", "run-workflow"}[draw(4)])
		if draw(2) == 0 {
			handed.Calls = append(handed.Calls, building(fmt.Sprint("task ", draw(9))).Calls...)
		}
		return handed
	case 4:
		return building(fmt.Sprint("task ", draw(9)))
	case 5:
		return calling("cancel-background-task", fmt.Sprintf(`{"taskId":"bg_%d"}`, 1+draw(4)), "publish-workflow", `{"workflowId":"wf_1"}`)
	case 6:
		id, n := 1+draw(4), len(o.tools)
		return calling("correct-background-task", fmt.Sprintf(`{"taskId":"bg_%d","correction":"fix %d"}`, id, n), "correct-background-task", fmt.Sprintf(`{"taskId":"bg_%d","correction":"fix %d again"}`, id, n))
	case 7:
		return calling("report-verification-verdict", fmt.Sprintf(`{"workItemId":"wi_%d","verdict":%q}`, 1+draw(3), []string{"verified", "needs_patch", "x"}[draw(3)]))
	}
	o.denied = false // this turn ends
	return saying(fmt.Sprint("answer ", draw(99)))
}

func subReply(draw func(int) int) providers.Reply {
	name := []string{"list-workflows", "build-workflow", "create-data-table", "plan", "delegate", "run-workflow", "publish-workflow", "web-search"}[draw(8)]
	return calling(name, fmt.Sprintf(`{"code":%q}`, []string{"{}", "broken"}[draw(2)]+fmt.Sprint(draw(50))))
}

// look checks the machine after a step.
func (o *orchestration) look(m *orchestratorMachine) {
	o.machine = m
	running, work := 0, map[string]bool{}
	for _, a := range m.agents {
		if a.Inline {
			continue
		}
		running++
		text, _, _ := strings.Cut(a.Opening, "\n\n")
		require.False(o.t, work[string(a.Role)+a.Task+text], "%s runs twice", text)
		work[string(a.Role)+a.Task+text] = true
	}
	require.LessOrEqual(o.t, running, 5)
	require.Equal(o.t, running > 0, m.thread.Busy(), "a slot is taken by a task that runs")
	o.most = max(o.most, running)
}

// observe checks a model call when it is made.
func (o *orchestration) observe(c CallModel) {
	if c.Agent == "" {
		var shown strings.Builder // since the last reply
		for i := len(c.Call.Messages) - 1; i >= 0 && c.Call.Messages[i].Role != providers.RoleAssistant; i-- {
			shown.WriteString(c.Call.Messages[i].Text)
		}
		require.NotRegexp(o.t, `SUM UP(?s:.)*\bt\d+ failed:`, shown.String(), "a failure asks for another plan")
		checking := 0
		for id, status := range o.statuses() {
			if o.checks[id] && status == "in_progress" {
				checking++
			}
		}
		require.LessOrEqual(o.t, checking, 1, "checkpoints at the same time")
		for _, call := range o.calls("cancel-background-task") {
			if call.Given != nil && strings.Contains(string(call.Given.Value), `"found":true`) {
				_, id, _ := strings.Cut(string(call.Call.Args), `"taskId":"`)
				o.ended[strings.TrimSuffix(id, `"}`)] = true
			}
		}
	}
	if !strings.HasPrefix(c.Agent, "bg_") {
		return
	}
	require.False(o.t, o.ended[c.Agent], "%s was cancelled", c.Agent)
	for _, correction := range o.corrections(c.Agent) {
		require.True(o.t, strings.Contains(fmt.Sprint(c.Call.Messages), correction), "%s is not told to %s", c.Agent, correction)
	}
	times, asked := o.seen[c.Agent]
	if !asked {
		times[0], times[1] = o.now, o.now
	}
	require.Less(o.t, o.now.Sub(times[0]), 30*time.Minute, "lifetime of %s", c.Agent)
	require.LessOrEqual(o.t, o.now.Sub(times[1]), 10*time.Minute+90*time.Second, "a reply and a result of %s", c.Agent)
	o.seen[c.Agent] = [2]time.Time{times[0], o.now}
	text := c.Call.Messages[0].Text
	_, id, planned := strings.Cut(text, "spec of ")
	if !planned || asked {
		return
	}
	id = strings.Fields(id)[0]
	require.True(o.t, o.approved, "a task before approval")
	for _, dep := range o.deps[id] {
		require.Regexp(o.t, `(?m)(^|<data>)`+dep+`: \S`, text, "%s before its dependency %s", id, dep)
		require.NotRegexp(o.t, `(?m)(^|<data>)`+dep+`: (cannot proceed|timed out)`, text, "%s after its dependency %s failed", id, dep)
	}
}

// corrections are the texts that were queued for a background task, as a model reads them.
func (o *orchestration) corrections(id string) (texts []string) {
	for _, c := range o.calls("correct-background-task") {
		var args struct{ TaskID, Correction string }
		require.NoError(o.t, json.Unmarshal(c.Call.Args, &args))
		if args.TaskID == id && c.Given != nil && strings.Contains(string(c.Given.Value), `"queued"`) {
			texts = append(texts, "<data>"+args.Correction+"</data>")
		}
	}
	return texts
}

// statuses are those of the tasks of the plan, by id.
func (o *orchestration) statuses() map[string]string {
	var list []struct{ ID, Status string }
	require.NoError(o.t, json.Unmarshal([]byte(o.machine.thread.Checklist()), &list))
	status := map[string]string{}
	for _, item := range list {
		status[item.ID] = item.Status
	}
	return status
}

// allowed checks tools that a role was given.
func (o *orchestration) allowed(role string, tools ...string) {
	for _, name := range tools {
		require.Contains(o.t, mayCall[role], " "+name+" ", "%s may not call it", role)
	}
}

// mayCall are the tools of instanceTools that each role may call.
var mayCall = map[string]string{
	"orchestrator": " list-workflows build-workflow publish-workflow run-workflow verify-built-workflow query-data-table-rows web-search mcp_echo ",
	"delegate":     " list-workflows build-workflow publish-workflow run-workflow query-data-table-rows web-search ",
	"builder":      " list-workflows build-workflow publish-workflow ",
	"tables":       " query-data-table-rows create-data-table ",
	"researcher":   " web-search ",
}

// check looks at the whole run.
func (o *orchestration) check() *orchestration {
	for _, c := range o.tools {
		spec, known := o.Tools.Spec(c.Call.Name)
		if c.Given == nil {
			require.True(o.t, known, "a tool of the strategy is not run")
			i := slices.IndexFunc(o.asked, func(asked CallModel) bool { return asked.Agent == c.Agent })
			r := o.asked[i].Role
			o.allowed(r, spec.Name)
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
	for _, c := range o.calls("delegate") {
		if c.Given == nil || c.Given.Outcome == tool.OK {
			var d struct{ Tools []string }
			require.NoError(o.t, json.Unmarshal(c.Call.Args, &d))
			o.allowed("delegate", d.Tools...)
		}
	}
	o.checkEnd()
	require.True(o.t, slices.Contains([]Status{Answered, answeredAfterClarify, respondError, AwaitingInput, Stopped, CannotProceed}, o.finish.Status), "%v", o.finish)
	return o
}

// checkEnd looks at what is left at the end.
func (o *orchestration) checkEnd() {
	if o.finish.Status == AwaitingInput {
		require.NotEmpty(o.t, o.open)
	}
	last := o.of("")[len(o.of(""))-1].Call.Messages
	for _, c := range o.tools {
		if slices.Contains(o.open, c.ID) && c.Agent != "" {
			for _, m := range last {
				require.NotContains(o.t, m.Text, c.Agent+"):\n<data>timed out", "it waits for a person")
			}
		}
	}
	status := o.statuses()
	require.False(o.t, o.finish.Status == Answered && slices.Contains(slices.Collect(maps.Values(status)), "in_progress"), "%v", status)
	for _, task := range o.work {
		if task.State == "succeeded" && len(o.of(task.Agent)) > 0 {
			calls := o.of(task.Agent)
			for _, correction := range o.corrections(task.Agent) {
				require.Contains(o.t, fmt.Sprint(calls[len(calls)-1].Call.Messages), correction, "%s ended without it", task.Agent)
			}
		}
	}
	for id, deps := range o.deps {
		for _, dep := range deps {
			lost := status[dep] == "failed" || status[dep] == "cancelled"
			require.False(o.t, o.approved && lost && status[id] != "cancelled", "%s after %s: %v", id, dep, status)
		}
	}
}
