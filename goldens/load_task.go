package goldens

import (
	"slices"

	"github.com/cupel-eval/cupel/agent/strategy"
)

var (
	taskFields  = []string{"id", "title", "tier", "tags", "probes", "scripted", "request", "constraints", "inputs", "each", "images", "answer_schema", "session", "tools", "world", "faults", "budgets", "replies", "approvals", "agent", "script", "fails", "expect", "also_accept"}
	faultFields = []string{"tool", "on_calls", "kind", "status", "code", "message", "after", "fields", "value"}
)

// maxRequestBytes bounds what a user may say: far more than any message.
const maxRequestBytes = 64 << 10

// task reads one task; tags are those of its file.
func (l *loader) task(p place, tags []string) (Task, taskPlaces) {
	o := p.object(taskFields)
	t := Task{Tier: l.defaults.tier, Constraints: l.defaults.constraints, Tools: l.defaults.tools, Budgets: l.defaults.budgets, Tags: slices.Clone(tags)}
	places := taskPlaces{task: p, object: o}
	if p, ok := o.get("scripted"); ok {
		t.Scripted = p.flag()
	}
	if t.Scripted { // its model reports tokens and cost only where the task says so
		t.Budgets.MaxTokens, t.Budgets.MaxCostNanoUSD = 0, 0
	}
	if p, ok := o.need("id"); ok {
		t.ID = p.filled()
		p.checkName(taskName, t.ID)
	}
	readWords(o, &t)
	if p, ok := o.need("request"); ok {
		if t.Request = p.filled(); len(t.Request) > maxRequestBytes {
			p.failf("must be at most %d KiB", maxRequestBytes>>10)
		}
	}
	if p, ok := o.get("constraints"); ok {
		t.Constraints = p.text()
	}
	l.readGiven(o, &t)
	if p, ok := o.get("tools"); ok {
		t.Tools = l.toolNames(p)
	}
	t.World = l.taskWorld(o)
	if p, ok := o.get("faults"); ok {
		t.World.Faults = faults(p, t.Tools)
	}
	if p, ok := o.get("budgets"); ok {
		t.Budgets = budgets(p, t.Budgets)
	}
	if p, ok := o.get("replies"); ok {
		t.Replies = p.texts()
	}
	if p, ok := o.get("approvals"); ok {
		for _, item := range p.items() {
			t.Approvals = append(t.Approvals, item.choice("approve", "deny") == "approve")
		}
	}
	readScript(o, &t)
	if p, ok := o.need("expect"); ok {
		also, _ := o.get("also_accept")
		t.Expect, places.expect = expectations(p, also)
	}
	return t, places
}

// readWords reads what describes a task to people.
func readWords(o object, t *Task) {
	if p, ok := o.get("title"); ok {
		t.Title = p.filled()
	}
	if p, ok := o.get("tier"); ok {
		t.Tier = p.filled()
	}
	if p, ok := o.get("tags"); ok {
		for _, tag := range p.words() {
			if !slices.Contains(t.Tags, tag) {
				t.Tags = append(t.Tags, tag)
			}
		}
	}
	if p, ok := o.get("probes"); ok {
		t.Probes = p.words()
	}
}

// readScript reads the fields that only a scripted task has.
func readScript(o object, t *Task) {
	if p, ok := o.get("agent"); ok {
		t.Agent = p.choice(strategy.Names()...)
	}
	p, ok := o.get("script")
	if ok {
		t.Script = script(p, t.Agent)
	}
	if p, ok := o.get("fails"); ok {
		if t.Fails = p.words(); len(t.Fails) == 0 {
			p.failf("must name at least one check")
		}
	}
	if t.Scripted {
		if len(t.Script) == 0 {
			o.fieldAt("script").failf("a scripted task needs at least one model output")
		}
		return
	}
	for _, field := range []string{"agent", "script", "fails"} {
		if p, ok := o.get(field); ok {
			p.failf("only a task with scripted: true has %s", field)
		}
	}
}
