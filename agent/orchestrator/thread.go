package orchestrator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/orchestrator/background"
	"github.com/cupel-eval/cupel/agent/orchestrator/build"
	"github.com/cupel-eval/cupel/agent/orchestrator/graph"
	"github.com/cupel-eval/cupel/agent/orchestrator/limits"
	"github.com/cupel-eval/cupel/agent/orchestrator/role"
	"github.com/cupel-eval/cupel/agent/orchestrator/worklog"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Quote shows text of people and tools in prompts: cleaned of what draws nothing, on one line
// of so many characters, or fenced as data.
type Quote struct {
	Clean func(string) string
	Line  func(string, int) string
	Fence func(string) string
	JSON  func(json.RawMessage) string
}

// Thread is all that an orchestrator knows besides its conversations: its plan, the tasks in
// the background, what was built and the notices due. It is not safe for concurrent
// use.
type Thread struct {
	limits.Bounds
	Quote
	// Now is the virtual time.
	Now func() time.Time
	// Changed reports that the checklist has changed since the owner set it to false.
	Changed bool
	// Plans counts the valid plans.
	Plans int

	graph      graph.Graph
	work       worklog.Log
	background *background.Set
	items      build.Book
	built      map[string]*build.Item // by task of the plan
	attempts   map[string][]string    // failed ones, by Agent.key
	delegates  int                    // so far

	tools map[role.Role]*tool.Set
	all   *tool.Set
	shown shownIDs
	done  []doneCall // those that succeeded

	reviewing bool           // the user looks at a plan
	denied    bool           // a plan was denied in this turn
	refusals  map[string]int // of what was refused for good

	// notices are for the orchestrator's next turn; checkpoint is among them, checking is the
	// one that it was told.
	notices              []string
	checkpoint, checking string
	observations         []string
}

// Agent is what a conversation of a sub-agent is for.
type Agent struct {
	// ID names the conversation: that of its background task, or dg_1 and so on of an inline
	// delegate. Task is that of the plan, empty if it is not of a plan.
	ID, Task string
	Role     role.Role
	Inline   bool
	// System and Opening are the messages that it begins with. Tools are its tools.
	System, Opening string
	Tools           *tool.Set
	Turns           int // at most

	item  *build.Item
	key   string // under which failed attempts are kept
	began time.Time

	calls, errors int
}

// New returns the thread of an episode with those tools and that clock.
func New(b limits.Bounds, tools *tool.Set, quote Quote, now func() time.Time) *Thread {
	b = b.Filled()
	t := &Thread{
		Bounds: b, Quote: quote, Now: now, shown: shownIDs{}, all: tools, tools: map[role.Role]*tool.Set{}, built: map[string]*build.Item{},
		attempts: map[string][]string{}, refusals: map[string]int{}, background: background.New(b.Background, b.Idle, b.Lifetime),
	}
	for _, r := range []role.Role{role.Orchestrator, role.Delegate, role.Builder, role.Tables, role.Researcher} {
		var names []string
		for _, s := range tools.Specs() {
			if role.May(r, s.Group, s.Name) && !isOwn(s.Name) {
				names = append(names, s.Name)
			}
		}
		t.tools[r] = tools.Only(names)
	}
	t.tools[role.Orchestrator] = t.tools[role.Orchestrator].With(own(tools.Has(submitTool)))
	return t
}

// Tools are those that the orchestrator itself may call.
func (t *Thread) Tools() *tool.Set { return t.tools[role.Orchestrator] }

// Forbidden reports a tool that exists, and is not among the tools of a conversation.
func (t *Thread) Forbidden(tools *tool.Set, name string) bool {
	return !tools.Has(name) && (t.all.Has(name) || isOwn(name))
}

// Show notes what the orchestrator is shown, besides what the thread tells it.
func (t *Thread) Show(text string) { t.shown.add(text) }

// Unseen reports that the arguments of a call have an id that nothing has shown.
func (t *Thread) Unseen(args json.RawMessage) bool { return t.shown.anyUnseen(args) }

// Claims reports that a text says of an id or a quoted name that it was changed, and that no
// call that succeeded has done so. It goes by a table of verbs, so it is a hint only.
func (t *Thread) Claims(text string) bool { return claimed(text, t.done) }

// Said takes a message of the user, which begins a turn of the orchestrator.
func (t *Thread) Said(text string) {
	t.denied = false
	t.shown.add(text)
	t.notices = append(t.notices, tellUser+t.Fence(text))
}

// Notices takes what the orchestrator is shown before its next turn.
func (t *Thread) Notices() []string {
	out := t.notices
	if t.notices = nil; t.checkpoint != "" {
		t.checking, t.checkpoint = t.checkpoint, ""
	}
	return out
}

// Waiting reports that there are notices.
func (t *Thread) Waiting() bool { return len(t.notices) > 0 }

// Busy reports that background tasks run.
func (t *Thread) Busy() bool { return len(t.background.Running()) > 0 }

// Answered ends a turn of the orchestrator. If it is the report of a checkpoint, that has
// succeeded if the answer is not a refusal and every build that it depends on was verified.
func (t *Thread) Answered(text string, ok bool) {
	t.denied = false
	task := t.graph.Find(t.checking)
	if t.checking = ""; task == nil {
		return
	}
	if slices.ContainsFunc(task.Deps, func(dep string) bool {
		i := t.built[dep]
		return i != nil && i.Phase != build.Done && !i.Verification.Success
	}) {
		ok, text = false, "what was built is not verified: "+text
	}
	t.graph.Report(task.ID, ok, text, t.Now())
	t.Changed = true
}

// Next does what the plan asks for now. It returns the sub-agents to start; false if nothing
// is left to do.
func (t *Thread) Next() ([]*Agent, bool) {
	var out []*Agent
	switch action := t.graph.Tick(t.background.Free(), t.BuildsAtOnce); action.Do {
	case graph.Nothing:
		return nil, false
	case graph.Replan:
		t.notices = append(t.notices, tellReplan+"\n"+t.Fence(t.settled()))
	case graph.Synthesize:
		t.notices = append(t.notices, tellSumUp+"\n"+t.Fence(t.settled()))
	case graph.Check:
		task := t.graph.Find(action.Tasks[0])
		t.graph.Start(task.ID)
		t.work.Check(t.Plans, *task, t.Now())
		t.checkpoint = task.ID
		t.notices = append(t.notices, "CHECKPOINT "+task.ID+":\n"+t.Fence(task.Spec)+"\n"+tellCheckpoint)
	case graph.Dispatch:
		for _, id := range action.Tasks {
			out = append(out, t.dispatch(*t.graph.Find(id)))
		}
	}
	t.Changed = true
	return out, true
}

// settled says how the tasks of the plan ended.
func (t *Thread) settled() string {
	var lines []string
	for _, task := range t.graph.Settled() {
		lines = append(lines, fmt.Sprintf("%s %s: %s", task.ID, task.Status, t.Line(cmp.Or(task.Why, task.Result), maxLine)))
	}
	return strings.Join(lines, "\n")
}

// Bounds of what is said of a task, in characters.
const (
	maxLine    = 600
	maxFinding = 2_000
	maxID      = 64
)

// dispatch prepares the sub-agent of a task of the plan: there is a free slot, and the key
// is free.
func (t *Thread) dispatch(task graph.Task) *Agent {
	r := map[graph.Kind]role.Role{graph.Delegate: role.Delegate, graph.Build: role.Builder, graph.Tables: role.Tables, graph.Research: role.Researcher}[task.Kind]
	_, bg := t.background.Spawn("task:"+task.ID, string(r), task.Title, t.Now())
	t.graph.Start(task.ID)
	var found []string
	for _, dep := range task.Deps {
		found = append(found, dep+": "+clip.Fit(t.graph.Find(dep).Result, maxFinding))
	}
	context := strings.Join(found, "\n")
	t.work.Begin(bg.ID, t.Plans, task, t.Now())
	a := &Agent{ID: bg.ID, Task: task.ID, Role: r, key: string(r) + ":" + task.ID, Tools: t.tools[r]}
	switch r {
	case role.Builder:
		return t.builder(a, task.Spec, task.WorkflowID, context)
	case role.Delegate:
		a.Tools = a.Tools.Only(task.Tools)
	}
	return t.prepare(a, task.Title, "", t.Clean(task.Spec), context)
}

// builder prepares a builder. A workflow whose work item is open keeps it.
func (t *Thread) builder(a *Agent, spec, workflowID, context string) *Agent {
	a.key, a.Tools = "builder:"+workflowID, t.tools[role.Builder]
	if a.item = t.items.Of(workflowID); a.item == nil || a.item.Phase == build.Blocked {
		a.item = t.items.Open(workflowID)
	}
	if a.Task != "" {
		t.built[a.Task] = a.item
	}
	spec = t.Clean(spec)
	if workflowID != "" {
		spec += "\n\nWORKFLOW: " + t.Line(workflowID, maxID)
	}
	return t.prepare(a, "", "", spec, context)
}

// prepare writes what a sub-agent is shown: its task, what others found, and what failed
// before, and nothing else.
func (t *Thread) prepare(a *Agent, title, instructions, text, context string) *Agent {
	a.began, a.System = t.Now(), subSystem(a.Role, t.Line(title, maxLine), t.Clean(instructions))
	a.Opening = "TASK:\n" + text
	if strings.TrimSpace(context) != "" {
		a.Opening += "\n\nCONTEXT:\n" + t.Fence(context)
	}
	if earlier := t.attempts[a.key]; len(earlier) > 0 {
		a.Opening += "\n\n" + tellAttempts + t.Fence(strings.Join(earlier, "\n"))
	}
	a.Turns = map[role.Role]int{
		role.Delegate: t.DelegateTurns, role.Builder: t.BuilderTurns, role.Tables: limits.TablesTurns, role.Researcher: limits.ResearcherTurns,
	}[a.Role]
	t.shown.add(a.ID)
	return a
}

// Corrections takes what a sub-agent is shown before its next turn.
func (t *Thread) Corrections(a *Agent) []string {
	var out []string
	for _, text := range t.background.Corrections(a.ID) {
		out = append(out, tellCorrection+t.Fence(text))
	}
	return out
}

// Blocked says why a sub-agent cannot go on; "" if it can.
func (t *Thread) Blocked(a *Agent) string {
	if a.item != nil && a.item.Phase == build.Blocked {
		return cmp.Or(a.item.Why, "blocked")
	}
	return ""
}

// maxAttempts is how many failed attempts a sub-agent is shown.
const maxAttempts = 3

// Failure reasons of Settle.
const (
	MaxTurns = background.MaxTurns
	Broken   = background.Broken
)

// Settle ends a sub-agent with its last text, or with what went wrong: why is then MaxTurns or
// Broken, else empty. It returns the result of the call that an inline delegate answers; of any
// other the orchestrator gets a notice. A builder that has saved nothing has failed.
func (t *Thread) Settle(a *Agent, why, text string) any {
	if a.item != nil && a.item.Phase == build.Building {
		a.item.NeedsInput(t.Line(text, maxLine))
		why = cmp.Or(why, Broken)
	}
	if why != "" {
		list := append(t.attempts[a.key], t.Line(text, maxLine))
		t.attempts[a.key] = list[max(0, len(list)-maxAttempts):]
	}
	t.shown.add(text)
	t.ended(a, why)
	if a.Inline {
		blockers := []string{}
		if why != "" {
			blockers = append(blockers, t.Line(text, maxLine))
		}
		return map[string]any{
			"result": t.Clean(text), "toolCallCount": a.calls, "toolErrorCount": a.errors,
			"durationMs": t.Now().Sub(a.began).Milliseconds(), "blockers": blockers,
		}
	}
	word := "succeeded"
	if why == "" {
		t.background.Complete(a.ID)
		t.graph.Succeed(a.Task, text, t.Now())
	} else {
		word = "failed"
		t.background.Fail(a.ID, why)
		t.graph.Fail(a.Task, text, t.Now())
	}
	notice := fmt.Sprintf("SETTLED %s %s (%s, %s):\n%s", cmp.Or(a.Task, a.ID), word, a.Role, a.ID, t.Fence(text))
	if i := a.item; i != nil {
		notice += fmt.Sprintf("\nWORK ITEM %s of workflow %s is %s.", i.ID, t.Line(cmp.Or(i.WorkflowID, "none"), maxID), i.Phase)
		switch i.Phase {
		case build.Verifying:
			notice += " " + guide("verify", "")
		case build.Blocked:
			notice += " " + guide("blocked", i.Why)
		}
		t.shown.add(i.ID)
	}
	t.notices = append(t.notices, notice)
	t.Changed = t.Changed || a.Task != ""
	return nil
}

// ended notes how the task of a sub-agent ended.
func (t *Thread) ended(a *Agent, why string) {
	state := graph.Succeeded
	switch {
	case why != "" && a.item != nil && a.item.Phase == build.Blocked:
		state = worklog.Blocked
	case why != "":
		state = graph.Failed
	}
	t.work.End(a.ID, state, why, t.Now())
}

// Touch is a sign of life of a sub-agent; waiting says that it waits for a person.
func (t *Thread) Touch(a *Agent, waiting bool) {
	if !waiting {
		t.background.Touch(a.ID, t.Now())
	}
	t.background.Waits(a.ID, waiting, t.Now())
}

// Due is when the next background task times out; false if none can.
func (t *Thread) Due() (time.Time, bool) { return t.background.Due() }

// Sweep returns the ids of the background tasks that have timed out, and why.
func (t *Thread) Sweep() map[string]string {
	out := map[string]string{}
	for _, task := range t.background.Sweep(t.Now()) {
		out[task.ID] = task.Reason
	}
	return out
}

// Work returns what became of all tasks if that has changed since the last call, else nil.
func (t *Thread) Work() []worklog.Task {
	if t.Changed {
		t.work.Follow(t.Plans, t.graph.Tasks)
	}
	return t.work.Tasks()
}

// State is the part of the orchestrator's system message that changes.
func (t *Thread) State() string {
	var w strings.Builder
	if running := t.background.Running(); len(running) > 0 {
		w.WriteString("\n" + tellRunning)
		for _, task := range running {
			fmt.Fprintf(&w, "- %s %s since %s: %s\n", task.ID, task.Role, task.Began.Format("15:04"), t.Fence(t.Line(task.Title, 160)))
		}
	}
	if len(t.observations) > 0 {
		w.WriteString("\n" + tellObserved + t.Fence(strings.Join(t.observations, "\n")) + "\n")
	}
	return w.String()
}

// Checklist is the plan as people see it, in JSON.
func (t *Thread) Checklist() string {
	text, _ := json.Marshal(t.graph.Checklist()) // of plain values
	return string(text)
}
