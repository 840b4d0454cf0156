package harness

import (
	"slices"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/providers"
)

// promptDigests name what shapes the prompts of an episode. Of the built-in
// strategies the templates are known. One's own is known by its name, its profile and
// what it first says to models of a made-up request, without the tools of the task,
// which have a digest of their own: what it says later, only a replay can tell.
func promptDigests(p drive.Planned) map[string]string {
	d := agent.Digests(p.Candidate.Agent, p.Params, p.Strategies)
	if !p.Own() {
		return d
	}
	params := p.Params
	params.Request, params.Constraints, params.Memory = "r", "c", nil
	said := []any{p.Candidate.Agent, p.Candidate.Profile}
	for _, c := range p.FirstCalls(params) {
		tools := slices.DeleteFunc(slices.Clone(c.Call.Tools), func(t providers.Tool) bool { return params.Tools.Has(t.Name) })
		said = append(said, c.Call.System, c.Call.Messages, tools)
	}
	d["prompt"] = drive.DigestOf(said...)
	return d
}
