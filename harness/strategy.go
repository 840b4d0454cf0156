package harness

import (
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/providers"
)

// own says whether an episode's strategy is one of Options.Strategies.
func (p planned) own() bool {
	_, own := p.strategies[p.candidate.Agent]
	return own
}

// guardOwn turns a panic of a strategy of one's own into an error; one of a built-in
// strategy is a bug to be seen. It is deferred.
func (p planned) guardOwn(ev agent.Event, err *error) {
	if !p.own() {
		return
	}
	if r := recover(); r != nil {
		*err = fmt.Errorf("strategy %s panicked at %T: %v", p.candidate.Agent, ev, r)
	}
}

// firstCalls are the model calls with which a machine of these parameters begins;
// none if it cannot be made.
func (p planned) firstCalls(params agent.Params) (calls []agent.CallModel) {
	machine, err := agent.New(p.candidate.Agent, params, p.strategies)
	if err != nil {
		return nil
	}
	ev := agent.Started{At: p.task.World.Now}
	defer p.guardOwn(ev, &err)
	for _, c := range machine.Step(ev).Commands {
		if call, ok := c.(agent.CallModel); ok {
			calls = append(calls, call)
		}
	}
	return calls
}

// promptDigests name what shapes the prompts of an episode. Of the built-in
// strategies the templates are known. One's own is known by its name, its profile and
// what it first says to models of a made-up request, without the tools of the task,
// which have a digest of their own: what it says later, only a replay can tell.
func (p planned) promptDigests() map[string]string {
	d := agent.Digests(p.candidate.Agent, p.params, p.strategies)
	if !p.own() {
		return d
	}
	params := p.params
	params.Request, params.Constraints, params.Memory = "r", "c", nil
	said := []any{p.candidate.Agent, p.candidate.Profile}
	for _, c := range p.firstCalls(params) {
		tools := slices.DeleteFunc(slices.Clone(c.Call.Tools), func(t providers.Tool) bool { return params.Tools.Has(t.Name) })
		said = append(said, c.Call.System, c.Call.Messages, tools)
	}
	d["prompt"] = digestOf(said...)
	return d
}
