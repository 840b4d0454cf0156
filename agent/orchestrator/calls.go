package orchestrator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/agent/orchestrator/background"
	"github.com/cupel-eval/cupel/agent/orchestrator/build"
	"github.com/cupel-eval/cupel/agent/orchestrator/graph"
	"github.com/cupel-eval/cupel/agent/orchestrator/role"
	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Error codes of calls that are refused.
const (
	codeDenied     = "E_DENIED"
	codePlanDenied = "plan.denied"
	codePlanActive = "plan.active"
	codeDelegate   = "E_DELEGATE"
	codeWorkItem   = "E_WORK_ITEM_BLOCKED"
)

// Outcome is what follows from a call of a tool of the strategy.
type Outcome struct {
	// Result answers the call; it has no outcome where the answer comes later.
	Result tool.Result
	// Violations are codes of what was wrong with the call.
	Violations []string
	// Insists names what was refused before, so that the episode ends.
	Insists string
	// Ask is what a person is asked before the call is answered.
	Ask *person.Request
	// Start is a sub-agent to start, whose end answers the call if it is inline.
	Start *Agent
	// Abandon are the conversations that end without a word.
	Abandon []string
}

// What is insisted on.
const (
	InsistsPlan    = "plan_denied"
	InsistsBlocked = "blocked"
)

func value(v any) tool.Result {
	text, _ := json.Marshal(v) // of plain values
	return tool.Result{Outcome: tool.OK, Value: text}
}

func refusal(code, message string) tool.Result {
	return tool.Result{Outcome: tool.Rejected, Code: code, Message: message}
}

// Result is the result of an inline delegate.
func Result(v any) tool.Result { return value(v) }

// own are the tools of the strategy, of tasks with and without workflows to build. Many
// episodes share them.
func own(builds bool) *tool.Set { return ownSets()[builds] }

var ownSets = sync.OnceValue(func() map[bool]*tool.Set {
	builder, _ := tool.NewSet([]tool.Spec{{Name: submitTool, Schema: json.RawMessage(`{}`)}})
	without, _ := tool.NewSet(ownSpecs(nil)) // which are constants, here and below
	with, _ := tool.NewSet(ownSpecs(builder))
	return map[bool]*tool.Set{true: with, false: without}
})

// Call carries out a call of the orchestrator, whose arguments fit the schema; false if the
// tool is not one of the strategy's, and its result is not known.
func (t *Thread) Call(name string, args json.RawMessage) (Outcome, bool) {
	var task struct{ TaskID, Correction string }
	_ = json.Unmarshal(args, &task) // which fits the schema, here and below
	switch name {
	case Plan:
		return t.plan(args), true
	case delegateTool:
		return t.delegate(args), true
	case buildTool:
		return t.build(args), true
	case UpdateTasks:
		return Outcome{Result: value(map[string]any{"saved": true})}, true
	case cancelTool:
		found := t.background.Cancel(task.TaskID)
		o := Outcome{Result: value(map[string]any{"result": fmt.Sprintf("Background task %s cancelled.", clip.Fit(task.TaskID, maxID)), "found": found})}
		if found {
			o.Abandon = []string{task.TaskID}
		}
		return o, true
	case correctTool:
		return Outcome{Result: value(map[string]any{"result": t.background.Correct(task.TaskID, t.Clean(task.Correction))})}, true
	case verdictTool:
		return t.verdict(args), true
	case verifyTool:
		return t.reverify(args)
	}
	return Outcome{}, false
}

// Abandoned cancels the task of the plan that a cancelled sub-agent worked on.
func (t *Thread) Abandoned(a *Agent) {
	t.background.Cancel(a.ID)
	t.work.End(a.ID, graph.Cancelled, "", t.Now())
	t.Changed = t.graph.Abandon(a.Task, "Cancelled", t.Now()) || t.Changed
}

// insist refuses something for good; the second time the episode ends.
func (t *Thread) insist(code, message, what string) Outcome {
	o := Outcome{Result: refusal(code, message)}
	if t.refusals[code]++; t.refusals[code] > 1 {
		o.Insists = what
	}
	return o
}

func (t *Thread) plan(args json.RawMessage) Outcome {
	switch {
	case t.denied:
		o := t.insist(codePlanDenied, planRefused, InsistsPlan)
		o.Violations = []string{"orch.plan.denied"}
		return o
	case t.reviewing || t.graph.State == graph.Active:
		return Outcome{Result: refusal(codePlanActive, planActive)}
	}
	tasks, faults := graph.Read(args, graph.Known{
		MaxTasks: t.PlanTasks, Group: t.group, Lacks: t.lacks, Workflow: func(id string) bool { return t.shown[id] },
	})
	if len(faults) > 0 {
		var o Outcome
		var lines []string
		for _, f := range faults {
			o.Violations = append(o.Violations, "orch.plan."+f.Code)
			lines = append(lines, f.Code+": "+f.Detail)
		}
		o.Result = value(map[string]any{"result": planFaults, "taskCount": 0, "faults": lines})
		return o
	}
	if t.graph.State == graph.AwaitingApproval {
		t.work.Drop(t.Plans)
	}
	t.Plans++
	t.graph.Plan(tasks)
	t.reviewing, t.Changed = true, true
	return Outcome{Ask: &person.Request{
		Tool: Plan, Kind: person.PlanReview, Severity: person.Info,
		Message: fmt.Sprintf("May this plan of %d tasks begin?", len(tasks)), Payload: args,
	}}
}

// group returns the group of a tool of the task.
func (t *Thread) group(name string) (string, bool) {
	if isOwn(name) {
		return role.Orchestration, true
	}
	s, ok := t.all.Spec(name)
	return s.Group, ok
}

// lacks says why a kind of task cannot be worked on; "" if it can.
func (t *Thread) lacks(k graph.Kind) string {
	switch {
	case k == graph.Research && !t.tools[role.Researcher].Has(webSearch):
		return "no web search is configured"
	case k == graph.Build && !t.all.Has(submitTool):
		return "there are no workflows"
	case k == graph.Tables && len(t.tools[role.Tables].Specs()) == 0:
		return "there are no data tables"
	}
	return ""
}

// Reviewed takes what the user says of a plan, which answers its call. running are the
// sub-agents that work on an earlier plan: they end with the approval.
func (t *Thread) Reviewed(a person.Answer, running []*Agent) (o Outcome) {
	n := len(t.graph.Tasks)
	t.reviewing, t.Changed = false, true
	switch a.Say {
	case person.Approve:
		for _, r := range running {
			t.background.Cancel(r.ID)
			r.Task = "" // the plan has other tasks now
			o.Abandon = append(o.Abandon, r.ID)
		}
		t.graph.Approve()
		o.Result = value(map[string]any{"result": planApproved, "taskCount": n})
	case person.Feedback, person.Reply:
		t.graph.Feedback()
		t.shown.add(a.Text)
		o.Result = value(map[string]any{"result": planFeedback, "taskCount": n, "feedback": t.Clean(a.Text)})
	default:
		t.graph.Deny(t.Now())
		t.denied = true
		o.Result = refusal(codeDenied, planDenied)
	}
	return o
}

// Shown reports that the checklist is to be shown: not while feedback is worked in.
func (t *Thread) Shown() bool { return t.graph.State != graph.AwaitingApproval || t.reviewing }

func (t *Thread) delegate(args json.RawMessage) Outcome {
	d, refused := readDelegation(args, t.group)
	if refused != nil {
		return Outcome{Result: refusal(codeDelegate, refused.Text), Violations: []string{"orch.delegate." + refused.Code}}
	}
	t.delegates++
	a := &Agent{ID: fmt.Sprintf("dg_%d", t.delegates), Role: role.Delegate, Inline: true, key: "delegate:" + d.Role, Tools: t.tools[role.Delegate].Only(d.Tools)}
	t.work.Begin(a.ID, 0, graph.Task{Kind: graph.Delegate, Title: d.Role}, t.Now())
	text := t.Clean(d.Briefing)
	if len(d.Artifacts) > 0 {
		text += "\n\nARTEFACTS:\n" + t.JSON(d.Artifacts)
	}
	return Outcome{Start: t.prepare(a, d.Role, d.Instructions, text, d.Context)}
}

func (t *Thread) build(args json.RawMessage) Outcome {
	var b struct{ Task, WorkflowID, ConversationContext string }
	_ = json.Unmarshal(args, &b)
	outcome, bg := t.background.Spawn("builder:"+cmp.Or(b.WorkflowID, b.Task), string(role.Builder), b.Task, t.Now())
	switch outcome {
	case background.LimitReached:
		return Outcome{Result: value(map[string]any{"result": outcome, "limit": t.Background})}
	case background.Duplicate:
		return Outcome{Result: value(map[string]any{"result": outcome, "taskId": bg.ID})}
	}
	title, _, _ := strings.Cut(b.Task, "\n")
	t.work.Begin(bg.ID, 0, graph.Task{Kind: graph.Build, Title: title}, t.Now())
	return Outcome{
		Result: value(map[string]any{"result": outcome, "taskId": bg.ID}),
		Start:  t.builder(&Agent{ID: bg.ID, Role: role.Builder}, b.Task, b.WorkflowID, b.ConversationContext),
	}
}

func (t *Thread) verdict(args json.RawMessage) Outcome {
	var v verdictArgs
	_ = json.Unmarshal(args, &v)
	item := t.items.Find(v.WorkItemID)
	switch {
	case item == nil || !v.Known():
		return Outcome{
			Result:     value(map[string]any{"guidance": "There is no such work item or verdict.", "workItems": t.items.IDs(), "verdicts": build.Verdicts}),
			Violations: []string{"orch.verdict"},
		}
	case item.Phase == build.Blocked:
		return t.insist(codeWorkItem, guide("blocked", item.Why), InsistsBlocked)
	}
	signature := cmp.Or(v.FailureSignature, item.Verification.Signature, v.FailedNodeName+": "+v.Verdict)
	a := item.Take(build.Report{Verdict: v.Verdict, Signature: signature, Node: v.FailedNodeName, Patch: v.Patch, Diagnosis: v.Diagnosis})
	return Outcome{Result: value(map[string]any{"guidance": guide(a.Do, a.Detail), "phase": item.Phase})}
}

// reverify answers a verification of a checkpoint from the record of an earlier one; false
// if there is none.
func (t *Thread) reverify(args json.RawMessage) (Outcome, bool) {
	item := t.itemOf(args)
	if item == nil || t.checking == "" || !item.Verification.Attempted {
		return Outcome{}, false
	}
	return Outcome{Result: value(item.Verification)}, true
}

func (t *Thread) itemOf(args json.RawMessage) *build.Item {
	var of struct{ WorkItemID string }
	_ = json.Unmarshal(args, &of)
	return t.items.Find(of.WorkItemID)
}

// Saw looks at the result of a call, shown as text, of a sub-agent, or of the orchestrator if
// a is nil. given reports that the call was not executed. It returns what to show instead.
func (t *Thread) Saw(a *Agent, c tool.Call, r tool.Result, given bool, text string) string {
	t.shown.add(text)
	if a != nil {
		a.calls++
		if r.Outcome != tool.OK {
			a.errors++
		}
	}
	if given {
		return text
	}
	if r.Outcome == tool.OK {
		t.done = append(t.done, doneCall{Tool: c.Name, Text: string(c.Args) + text})
	}
	switch c.Name {
	case submitTool, submitFile:
		return t.submitted(a, r, text)
	case verifyTool:
		if item := t.itemOf(c.Args); item != nil && r.Outcome == tool.OK {
			item.Verify(readVerification(r.Value, t.Now()))
		}
	}
	return text
}

// readVerification reads the result of a run that verified a workflow. Its failure is signed
// by the type of the node that failed and the class of the error.
func readVerification(result json.RawMessage, at time.Time) build.Verification {
	var more struct {
		Error json.RawMessage `json:"error"`
		Class string          `json:"class"`
	}
	v := build.Verification{Attempted: true, VerifiedAt: at.UTC().Format(time.RFC3339)}
	_ = json.Unmarshal(result, &v) // what is of another form is left out, here and below
	_ = json.Unmarshal(result, &more)
	if len(more.Error) > 0 {
		var failed struct{ Node, Type, Class, Message string }
		_ = json.Unmarshal(more.Error, &failed)
		v.Evidence = clip.Fit(string(more.Error), maxLine)
		if kind := cmp.Or(failed.Type, failed.Node); kind != "" {
			v.Signature = kind + ": " + cmp.Or(failed.Class, more.Class, failed.Message)
		}
	}
	return v
}

// submitted moves the work item of a workflow that was submitted, and adds to what the model
// sees which item that is and what to do next.
func (t *Thread) submitted(a *Agent, r tool.Result, text string) string {
	var result struct {
		WorkflowID string            `json:"workflowId"`
		Errors     []json.RawMessage `json:"errors"`
		Testable   *bool             `json:"testable"`
	}
	_ = json.Unmarshal(r.Value, &result) // if it has another shape, nothing was saved
	saved := r.Outcome == tool.OK && len(result.Errors) == 0
	if r.Outcome == tool.Rejected || saved && result.WorkflowID == "" {
		return text
	}
	var item *build.Item
	if a != nil {
		item = a.item
	}
	if item == nil {
		if item = t.items.Of(result.WorkflowID); item == nil {
			item = t.items.Open(result.WorkflowID)
		}
	}
	var next build.Action
	if saved {
		next = item.Saved(result.WorkflowID, result.Testable == nil || *result.Testable)
	} else {
		next = item.SubmitFailed()
	}
	guidance := guide(next.Do, next.Detail)
	if a != nil {
		if a.item = item; next.Do == "verify" {
			guidance = savedText
		}
	}
	t.shown.add(item.ID)
	return withMembers(text, map[string]any{"workItemId": item.ID, "guidance": guidance})
}

// withMembers adds members to a JSON object; any other text stays.
func withMembers(text string, members map[string]any) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil || object == nil {
		return text
	}
	for name, value := range members {
		object[name], _ = json.Marshal(value) // a string always encodes
	}
	out, _ := json.Marshal(object) // what is in it is JSON
	return string(out)
}
