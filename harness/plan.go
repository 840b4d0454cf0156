package harness

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// ScriptedCandidate is the candidate that scripted tasks, and only they, are
// run with. A run includes it when it is selected by name.
const ScriptedCandidate = "scripted"

const scriptedRescue = "scripted-rescue"

// planned is one episode to be run: everything resolved, nothing started.
type planned struct {
	suite     *goldens.Suite
	task      goldens.Task
	candidate goldens.Candidate
	trial     int
	seed      seed
	params    agent.Params
	factory   providers.Factory
	key       string
	cassette  string   // path below the cassettes folder; empty for scripted without HTTP tools
	fork      *past    // what it goes on from; nil unless it is a fork
	rehearsed *planned // the fork that this, its past, is replayed for; usually nil
}

// makePlan resolves the suite, the candidates and the selection into episodes,
// ordered by task, candidate and trial. It reports every problem at once.
func makePlan(o Options) ([]planned, error) {
	var errs []error
	candidates := slices.Concat(o.Candidates, []goldens.Candidate{{Name: ScriptedCandidate, Provider: ScriptedCandidate, Model: ScriptedCandidate, Rescue: scriptedRescue}})
	chosen, err := o.Select.candidates(candidates)
	errs = append(errs, err)
	tasks, err := o.Select.tasks(o.Suite.Tasks)
	errs = append(errs, err)

	resolved := make([]resolvedCandidate, 0, len(chosen))
	for _, c := range chosen {
		r, err := o.resolveCandidate(c)
		errs = append(errs, err)
		resolved = append(resolved, r)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &ConfigError{err}
	}

	var plan []planned
	sets := toolSets{}
	for _, t := range tasks {
		specs, err := sets.of(o.Suite, t)
		if err != nil {
			return nil, &ConfigError{fmt.Errorf("task %s: %w", t.ID, err)}
		}
		before := len(plan)
		for _, c := range resolved {
			if t.Scripted != (c.Provider == ScriptedCandidate) {
				continue
			}
			first := len(plan)
			for trial := 1; trial <= o.Trials; trial++ {
				plan = append(plan, c.episode(o, t, specs, trial))
			}
			if err := o.checkEpisode(plan[first]); err != nil && !slices.ContainsFunc(errs, func(e error) bool { return e != nil && e.Error() == err.Error() }) {
				errs = append(errs, err)
			}
		}
		if o.Mode != recorder.Replay && len(plan) > before {
			if _, _, err := o.toolHeaders(t); err != nil {
				return nil, &ConfigError{fmt.Errorf("task %s: %w", t.ID, err)}
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &ConfigError{err}
	}
	if len(plan) == 0 {
		return nil, &ConfigError{errors.New("the selection leaves no episode: scripted tasks run only with --candidate scripted, other tasks only with other candidates")}
	}
	return plan, nil
}

// resolvedCandidate is a candidate with its wire, key and dials.
type resolvedCandidate struct {
	goldens.Candidate
	factory providers.Factory
	key     string
	dials   providers.Resolved
}

func (o Options) resolveCandidate(c goldens.Candidate) (resolvedCandidate, error) {
	if c.Agent == "" {
		c.Agent = "contract"
	}
	if c.Mode == "" {
		c.Mode = "prompt"
	}
	if c.Profile == "" {
		c.Profile = "seed"
	}
	r := resolvedCandidate{Candidate: c}
	if _, err := agent.New(c.Agent, agent.Params{Profile: c.Profile, Mode: c.Mode, Compress: c.Compress}); err != nil {
		return r, fmt.Errorf("candidate %s: %w", c.Name, err)
	}
	if c.Provider == ScriptedCandidate {
		return r, nil
	}
	factory, ok := o.Providers[c.Provider]
	if !ok {
		return r, fmt.Errorf("candidate %s: unknown provider %q; known: %s", c.Name, c.Provider, strings.Join(sortedKeys(o.Providers), ", "))
	}
	r.factory = factory
	dials, err := o.Policy.Resolve(c.Provider, "action")
	if err != nil {
		return r, fmt.Errorf("candidate %s: %w", c.Name, err)
	}
	r.dials = dials
	if r.Model == "" {
		r.Model = dials.Model
	}
	if r.Model == "" {
		return r, fmt.Errorf("candidate %s: no model, and the policy names none for provider %s", c.Name, c.Provider)
	}
	if c.MaxTokens != nil {
		r.dials.MaxTokens = *c.MaxTokens
	}
	if c.Temperature != nil {
		r.dials.Temperature = *c.Temperature
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

func (c resolvedCandidate) episode(o Options, t goldens.Task, tools *tool.Set, trial int) planned {
	p := planned{
		suite: o.Suite, task: t, candidate: c.Candidate, trial: trial,
		seed:    newSeed(o.Seed, t.ID, c.Name, trial),
		factory: c.factory, key: c.key,
		params: agent.Params{
			Request: t.Request, Constraints: t.Constraints, Tools: tools, Budgets: c.budgets(t.Budgets),
			MaxTokens: c.dials.MaxTokens, Temperature: c.dials.Temperature,
			Profile: c.Profile, Mode: c.Mode, Compress: c.Compress,
			Rescue: c.Rescue != "", RescueOnContradiction: c.RescueOnContradiction,
		},
	}
	if c.Provider != ScriptedCandidate || o.overHTTP(t) {
		p.cassette = CassettePath(t.ID, c.Name, trial)
	}
	if c.Provider == ScriptedCandidate && !slices.ContainsFunc(t.Script, func(e goldens.Emit) bool { return e.Rescue }) {
		p.params.Rescue = false // a script without a rescue turn has no stronger model
	}
	return p
}

// budgets are the task's; what the suite leaves open the policy sets. The policy
// caps neither tokens in all nor cost.
func (c resolvedCandidate) budgets(b guard.Budgets) guard.Budgets {
	return guard.Budgets{
		MaxSteps:     cmp.Or(b.MaxSteps, c.dials.MaxSteps),
		MaxToolCalls: cmp.Or(b.MaxToolCalls, c.dials.MaxToolCalls),
		MaxTime:      cmp.Or(b.MaxTime, time.Duration(c.dials.MaxSeconds)*time.Second),
		MaxTokens:    b.MaxTokens, MaxCostNanoUSD: b.MaxCostNanoUSD,
	}
}

// CassettePath is the path of an episode's cassette below the suite's cassettes folder.
func CassettePath(task, candidate string, trial int) string {
	return fmt.Sprintf("%s/%s/%d.yaml", candidate, task, trial)
}

// candidates returns the selected ones in order. The scripted candidate is
// taken only when a pattern names it.
func (s Selection) candidates(all []goldens.Candidate) ([]goldens.Candidate, error) {
	if len(s.Candidates) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(c goldens.Candidate) bool { return c.Name == ScriptedCandidate }), nil
	}
	name := func(c goldens.Candidate) string { return c.Name }
	return pick(all, s.Candidates, name, "candidate")
}

func (s Selection) tasks(all []goldens.Task) ([]goldens.Task, error) {
	tasks, err := pick(all, s.Tasks, func(t goldens.Task) string { return t.ID }, "task")
	if err != nil || len(s.Tags) == 0 {
		return tasks, err
	}
	tagged := slices.DeleteFunc(slices.Clone(tasks), func(t goldens.Task) bool {
		return !slices.ContainsFunc(s.Tags, func(tag string) bool { return slices.Contains(t.Tags, tag) || t.Tier == tag })
	})
	if len(tagged) == 0 {
		return nil, fmt.Errorf("no selected task has tag or tier %s", strings.Join(s.Tags, " or "))
	}
	return tagged, nil
}

// pick returns the items whose name matches any pattern; no pattern takes all.
// A pattern that matches nothing is an error that lists the names.
func pick[E any](all []E, patterns []string, name func(E) string, what string) ([]E, error) {
	if len(patterns) == 0 {
		return all, nil
	}
	keep := make([]bool, len(all))
	var errs []error
	for _, pat := range patterns {
		hit := false
		for i, e := range all {
			ok, err := path.Match(pat, name(e))
			if err != nil {
				errs = append(errs, fmt.Errorf("%s pattern %q: %w", what, pat, err))
				break
			}
			keep[i] = keep[i] || ok
			hit = hit || ok
		}
		if !hit {
			var names []string
			for _, e := range all {
				names = append(names, name(e))
			}
			errs = append(errs, fmt.Errorf("no %s matches %q; there are: %s", what, pat, abridge(names, 80)))
		}
	}
	var out []E
	for i, e := range all {
		if keep[i] {
			out = append(out, e)
		}
	}
	return out, errors.Join(errs...)
}

// abridge joins the first names and says how many were left out.
func abridge(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// toolSets are the compiled sets of tools that tasks offer, by their names: most
// tasks of a suite offer the same ones.
type toolSets map[string]*tool.Set

func (sets toolSets) of(s *goldens.Suite, t goldens.Task) (*tool.Set, error) {
	names := strings.Join(t.Tools, "\x00")
	if set, ok := sets[names]; ok {
		return set, nil
	}
	set, err := tool.NewSet(toolsOf(s, t))
	if err == nil {
		sets[names] = set
	}
	return set, err
}

// toolsOf returns the tools a task offers, in the task's order.
func toolsOf(s *goldens.Suite, t goldens.Task) []tool.Spec {
	var specs []tool.Spec
	for _, name := range t.Tools {
		for _, spec := range s.Tools {
			if spec.Name == name {
				specs = append(specs, spec)
			}
		}
	}
	return specs
}

// simulated says that a provider's models are simulations.
func simulated(provider string) bool { return strings.HasPrefix(provider, "sim-") }

// rowKey is the part of every row that says what was on trial.
func (p planned) rowKey(runID, episodeID string, replayed bool) ledger.Key {
	return ledger.Key{
		RunID: runID, EpisodeID: episodeID, Suite: p.suite.Name, TaskID: p.task.ID,
		Candidate: p.candidate.Name, Agent: p.candidate.Agent, Provider: p.candidate.Provider,
		Model: p.candidate.Model, OutputMode: p.candidate.Mode, PromptProfile: p.candidate.Profile,
		Trial: int32(p.trial), Seed: p.seed.Int64(), Replayed: replayed,
	}
}
