package harness

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/external"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/recorder"
)

// resolvedCandidate is a candidate with its wire, key and what the policy sets.
type resolvedCandidate struct {
	goldens.Candidate
	factory  providers.Factory
	key      string
	settings policy.Resolved
	fork     *drive.Past // the recorded past of its episodes; nil unless they are forks
	planned  int         // episodes in all shards
	foreign  *external.Upstream
}

func withCandidateDefaults(c goldens.Candidate) goldens.Candidate {
	c.Agent, c.Mode = cmp.Or(c.Agent, strategy.Contract), cmp.Or(c.Mode, modePrompt)
	c.Profile = cmp.Or(c.Profile, strategy.Of(c.Agent).DefaultProfile())
	return c
}

// Check returns every problem of a candidate: its settings, its agent, its provider, and
// whether the wire has its output mode. It uses only Providers, Policy and Strategies of o,
// needs neither a suite nor a key, and sends no requests.
func (o Options) Check(c goldens.Candidate) error {
	o = Options{Parts: Parts{Providers: o.Providers, Strategies: o.Strategies}, Rules: Rules{Policy: o.policy()}, Recording: Recording{Mode: recorder.Replay}}
	_, err := o.resolveCandidate(c)
	return err
}

func (o Options) resolveCandidate(c goldens.Candidate) (resolvedCandidate, error) {
	c = withCandidateDefaults(c)
	r := resolvedCandidate{Candidate: c}
	if err := validate(c); err != nil {
		return r, err
	}
	if _, err := agent.New(c.Agent, agentParams(c), o.Strategies); err != nil {
		return r, fmt.Errorf("candidate %s: %w", c.Name, err)
	}
	if c.Provider == episode.ScriptedCandidate {
		return r, nil
	}
	factory, ok := o.Providers[c.Provider]
	if !ok {
		return r, fmt.Errorf("candidate %s: unknown provider %q; known: %s", c.Name, c.Provider, strings.Join(drive.SortedKeys(o.Providers), ", "))
	}
	r.factory = factory
	if err := checkBatched(o, c); err != nil {
		return r, err
	}
	settings, err := o.Policy.Resolve(c.Provider, "action")
	if err != nil {
		return r, fmt.Errorf("candidate %s: %w", c.Name, err)
	}
	r.settings = settings
	if c.Agent == strategy.External {
		r.foreign, err = external.NewUpstream(c, o.Providers, o.Key, o.LookupEnv, o.Mode != recorder.Replay, o.WithAgent)
		return r, err
	}
	r.Model = cmp.Or(r.Model, settings.Model)
	if r.Model == "" {
		return r, fmt.Errorf("candidate %s: no model, and the policy does not have one for provider %s; set model", c.Name, c.Provider)
	}
	if c.MaxTokens != nil {
		r.settings.MaxTokens = *c.MaxTokens
	}
	if c.Temperature != nil {
		r.settings.Temperature = *c.Temperature
	}
	if err := r.checkMode(); err != nil {
		return r, fmt.Errorf("candidate %s: %w", c.Name, err)
	}
	if o.Mode != recorder.Replay && o.Key != nil {
		if r.key, err = o.Key(c); err != nil {
			return r, fmt.Errorf("candidate %s: %w", c.Name, err)
		}
	}
	return r, nil
}

// validate returns every problem of a candidate's settings. The policy may name its model.
func validate(c goldens.Candidate) error {
	name := c.Name
	c.Name, c.Model = "any", cmp.Or(c.Model, "policy")
	var errs []error
	if joined, ok := c.Validate().(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			errs = append(errs, fmt.Errorf("candidate %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// agentParams returns the candidate's settings for its agent, which do not depend on the
// task.
func agentParams(c goldens.Candidate) agent.Params {
	return agent.Params{
		Profile: c.Profile, Mode: c.Mode, Compress: c.Compress,
		Rescue: c.Rescue != "", RescueOnContradiction: c.RescueOnContradiction,
		System: c.System, Fallback: c.Fallback != "", MaxIterations: c.MaxIterations, FinalRetries: c.FinalRetries,
		Batch: c.Batch, Plan: c.Plan, Orchestrator: c.Orchestrator,
	}
}

// give adds the parameters of a task.
func give(p *agent.Params, t goldens.Task) {
	p.Request, p.Constraints, p.AnswerSchema, p.Each, p.Thread = t.Request, t.Constraints, t.AnswerSchema, t.Each, len(t.Messages) > 0 || t.User != nil
	p.CallsOnly = t.Functions != nil
	p.Inputs = slices.Clone(t.Inputs)
	for _, img := range t.Images {
		p.Images = append(p.Images, providers.Image{MediaType: img.MediaType, Data: img.Data})
	}
}

func (c resolvedCandidate) episode(o Options, t goldens.Task, tools *tool.Set, trial int) drive.Planned {
	if c.Provider == episode.ScriptedCandidate && t.Agent != "" {
		c.Agent, c.Profile = t.Agent, strategy.Of(t.Agent).DefaultProfile()
	}
	p := drive.Planned{
		Suite: o.Suite, Task: t, Candidate: c.Candidate, Trial: trial,
		Seed:    drive.NewSeed(o.Seed, t.ID, c.Name, trial),
		Factory: c.factory, Key: c.key, Fork: c.fork, Strategies: o.Strategies,
		Params: agentParams(c.Candidate),
	}
	give(&p.Params, t)
	p.Params.Tools, p.Params.Budgets = tools, c.budgets(t.Budgets)
	p.Params.MaxTokens, p.Params.Temperature = c.settings.MaxTokens, c.settings.Temperature
	if c.NoImages {
		p.Params.Images = nil
	}
	p.Cassette = c.cassette(o, t, trial)
	if c.Provider == episode.ScriptedCandidate && !slices.ContainsFunc(t.Script, func(e goldens.Emit) bool { return e.Rescue }) {
		p.Params.Rescue = false // a script without a rescue turn has no stronger model
	}
	return p
}

// cassette is the path of an episode's cassette; empty if the episode does not need one.
func (c resolvedCandidate) cassette(o Options, t goldens.Task, trial int) string {
	if c.Provider == episode.ScriptedCandidate && !drive.Outside(o.Suite, t, o.Tools) && len(t.Helpers()) == 0 {
		return ""
	}
	return cassettes.Path(t.ID, c.Name, trial)
}

// budgets are the task's; the policy fills in what the suite leaves open. The policy does
// not cap total tokens or cost.
func (c resolvedCandidate) budgets(b guard.Budgets) guard.Budgets {
	return guard.Budgets{
		MaxSteps:     cmp.Or(b.MaxSteps, c.settings.MaxSteps),
		MaxToolCalls: cmp.Or(b.MaxToolCalls, c.settings.MaxToolCalls),
		MaxTime:      cmp.Or(b.MaxTime, time.Duration(c.settings.MaxSeconds)*time.Second),
		MaxTokens:    b.MaxTokens, MaxCostNanoUSD: b.MaxCostNanoUSD,
	}
}
