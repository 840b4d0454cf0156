package load

import (
	"cmp"
	"slices"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/human"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/goldens/world/judge"
)

var (
	taskFields  = []string{"id", "title", "tier", "tags", "probes", "requires", "scripted", "request", "constraints", "inputs", "each", "images", "answer_schema", "session", "tools", "functions", "world", "faults", "budgets", "replies", "approvals", "human", "user", "messages", "agent", "script", "fails", "expect", "also_accept"}
	faultFields = []string{"tool", "on_calls", "kind", "status", "code", "message", "after", "fields", "value"}
)

// maxRequestBytes bounds what a user may say: far more than any message.
const maxRequestBytes = 64 << 10

// task reads one task; tags are those of its file.
func (l *loader) task(p yamlfile.Place, tags []string) (goldens.Task, taskPlaces) {
	o := p.Object(taskFields)
	t := goldens.Task{Tier: l.defaults.tier, Constraints: l.defaults.constraints, Tools: l.defaults.tools, Budgets: l.defaults.budgets, Tags: slices.Clone(tags)}
	places := taskPlaces{task: p, object: o}
	yamlfile.Read(o, "scripted", &t.Scripted, yamlfile.Place.Flag)
	if t.Scripted { // its model reports tokens and cost only where the task says so
		t.Budgets.MaxTokens, t.Budgets.MaxCostNanoUSD = 0, 0
	}
	if p, ok := o.Need("id"); ok {
		t.ID = p.Filled()
		p.CheckName(yamlfile.TaskName, t.ID)
	}
	readWords(o, &t)
	if p, ok := o.Need("request"); ok {
		if t.Request = p.Filled(); len(t.Request) > maxRequestBytes {
			p.Failf("must be at most %d KiB", maxRequestBytes>>10)
		}
	}
	yamlfile.Read(o, "constraints", &t.Constraints, yamlfile.Place.Text)
	l.readGiven(o, &t)
	var people []human.Rule
	t.World, people = l.taskWorld(o)
	if p, ok := o.Get("tools"); ok {
		t.Tools = l.toolNames(p)
	} else {
		t.Tools = judge.Offered(t.World, t.Tools)
	}
	if p, ok := o.Get("functions"); ok {
		readFunctions(p, o, &t)
	}
	yamlfile.Read(o, "faults", &t.World.Faults, func(p yamlfile.Place) []world.Fault { return faults(p, t.Tools) })
	yamlfile.Read(o, "budgets", &t.Budgets, func(p yamlfile.Place) guard.Budgets { return budgets(p, t.Budgets) })
	places.human = readPeople(o, &t, people)
	readScript(o, &t)
	if p, ok := o.Need("expect"); ok {
		also, _ := o.Get("also_accept")
		t.Expect, places.expect = goldens.ReadExpects(p, also)
		l.findScorers(&t, places.expect)
	}
	return t, places
}

// readPeople reads what people say: rules of the task's own come before those of its world.
func readPeople(o yamlfile.Object, t *goldens.Task, people []human.Rule) (own human.Rules) {
	yamlfile.Read(o, "replies", &t.Replies, yamlfile.Place.Texts)
	if p, ok := o.Get("approvals"); ok {
		for _, item := range p.Items() {
			t.Approvals = append(t.Approvals, item.Choice("approve", "deny") == "approve")
		}
	}
	counted := o.Has("replies") || o.Has("approvals")
	if p, ok := o.Get("human"); ok {
		if own = human.ReadRules(p); counted {
			p.Failf("human answers in place of replies and approvals; remove those")
		}
	}
	if !counted {
		t.Human = append(own.List, people...)
	}
	if p, ok := o.Get("user"); ok {
		if t.User = readUser(p); o.Has("replies") {
			p.Failf("user answers in place of replies; remove those")
		}
		if !slices.Contains(t.Requires, strategy.CanAsk) {
			t.Requires = append(t.Requires, strategy.CanAsk)
		}
	}
	if p, ok := o.Get("messages"); ok {
		t.Messages = human.ReadMessages(p)
		if !slices.Contains(t.Requires, strategy.CanThread) {
			t.Requires = append(t.Requires, strategy.CanThread)
		}
	}
	return own
}

// readWords reads what describes a task to people.
func readWords(o yamlfile.Object, t *goldens.Task) {
	yamlfile.Read(o, "title", &t.Title, yamlfile.Place.Filled)
	yamlfile.Read(o, "tier", &t.Tier, yamlfile.Place.Filled)
	if p, ok := o.Get("tags"); ok {
		for _, tag := range p.Words() {
			if !slices.Contains(t.Tags, tag) {
				t.Tags = append(t.Tags, tag)
			}
		}
	}
	yamlfile.Read(o, "probes", &t.Probes, yamlfile.Place.Words)
	if p, ok := o.Get("requires"); ok {
		for _, item := range p.Items() {
			t.Requires = append(t.Requires, item.Choice(strategy.CanAsk, strategy.CanGiveUp, strategy.CanThread, strategy.CanCallOnly))
		}
	}
}

// readScript reads the fields that only a scripted task has.
func readScript(o yamlfile.Object, t *goldens.Task) {
	yamlfile.Read(o, "agent", &t.Agent, func(p yamlfile.Place) string {
		return p.Choice(strategy.Contract, strategy.Tools, strategy.Plan, strategy.Orchestrator)
	})
	yamlfile.Read(o, "script", &t.Script, func(p yamlfile.Place) []goldens.Emit { return script(p, t.Agent) })
	if p, ok := o.Get("fails"); ok {
		if t.Fails = p.Words(); len(t.Fails) == 0 {
			p.Failf("must name at least one check")
		}
	}
	if agent := cmp.Or(t.Agent, strategy.Contract); t.Scripted && len(t.Messages) > 0 && slices.Contains(strategy.Of(agent).Cannot, strategy.CanThread) {
		o.FieldAt("messages").Failf("agent %s takes no further messages of the user; write agent: %s, or remove them", agent, strategy.Orchestrator)
	}
	if t.Scripted {
		if len(t.Script) == 0 {
			o.FieldAt("script").Failf("a scripted task needs at least one model output")
		}
		return
	}
	for _, field := range []string{"agent", "script", "fails"} {
		if p, ok := o.Get(field); ok {
			p.Failf("only a task with scripted: true has %s", field)
		}
	}
}
