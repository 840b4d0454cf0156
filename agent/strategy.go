package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/orchestrator/limits"
	"github.com/cupel-eval/cupel/agent/strategy"
)

// Strategy is an agent strategy: what it is, and how its machines are made. A custom
// strategy needs New only; what else it says is checked before New is called, shown in
// reports, and part of what makes a recording stale.
type Strategy struct {
	// Info says which profiles and settings it has. Its name is the one by which it is
	// asked for.
	strategy.Info
	// Version names the rules by which its outputs are judged. It changes whenever a
	// judgement could; recordings of another version are stale. Empty names none.
	Version string
	// New makes the machine of one episode, or says what does not go together. Params
	// without Tools and Request are only checked.
	New func(Params) (Machine, error)

	// sample shows everything that the prompts of a built-in strategy can say once.
	sample func(Params) string
}

// builtin are the strategies that are built in.
var builtin = map[string]Strategy{
	strategy.Contract:     {strategy.Of(strategy.Contract), contract.Version, newContract, contractSample},
	strategy.Plan:         {strategy.Of(strategy.Plan), planVersion, newPlan, planSample},
	strategy.Tools:        {strategy.Of(strategy.Tools), toolsVersion, newTools, toolsSample},
	strategy.External:     {strategy.Of(strategy.External), "external/1", newExternal, nil},
	strategy.Orchestrator: {strategy.Of(strategy.Orchestrator), orchestratorVersion, newOrchestrator, orchestratorSample},
}

// find returns the strategy of that name, a custom one before a built-in one.
func find(name string, custom map[string]Strategy) (Strategy, bool) {
	s, ok := custom[name]
	if !ok {
		s, ok = builtin[name]
	}
	s.Name = name
	return s, ok
}

// New returns the machine of one episode by one of the built-in strategies, or of the
// custom ones, which come first; custom may be nil. The error names what is not known
// (a strategy, a prompt profile, an output mode), a setting that the strategy does not
// have or that is out of range, or what does not go together: a tool whose schema the
// profile or mode cannot show, or a compressor for a profile without a scratchpad.
func New(name string, p Params, custom map[string]Strategy) (Machine, error) {
	s, ok := find(name, custom)
	if !ok {
		all := maps.Clone(builtin)
		maps.Copy(all, custom)
		return nil, fmt.Errorf("agent: unknown strategy %q; known: %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	err := s.check(p)
	if err == nil {
		var m Machine
		if m, err = s.New(p); err == nil {
			return m, nil
		}
	}
	return nil, fmt.Errorf("agent: strategy %s: %w", name, err)
}

// check reports a profile or a setting that the strategy does not have, and numbers
// out of range.
func (s Strategy) check(p Params) error {
	if s.New == nil {
		return errors.New("it cannot make a machine; set New")
	}
	if err := s.CheckProfile(p.Profile); err != nil {
		return err
	}
	for _, f := range []struct {
		name   string
		set    bool
		faults []string
	}{
		{"mode", p.Mode != "" && p.Mode != modePrompt, nil},
		{"rescue", p.Rescue, nil},
		{"rescue_on_contradiction", p.RescueOnContradiction, nil},
		{"compress", p.Compress, nil},
		{"system", p.System != "", nil},
		{"fallback", p.Fallback, nil},
		{"max_iterations", p.MaxIterations != 0, []string{strategy.MaxIterations.Fault(p.MaxIterations)}},
		{"final_retries", p.FinalRetries != nil, []string{strategy.FinalRetries.Fault(finalRetries(p))}},
		{"batch", p.Batch != strategy.Batch{}, p.Batch.Faults()},
		{"plan", p.Plan != strategy.PlanBounds{}, p.Plan.Faults()},
		{"orchestrator", p.Orchestrator != limits.Bounds{}, p.Orchestrator.Faults()},
	} {
		if !f.set {
			continue
		}
		if detail := cmp.Or(s.Lacks(f.name), strings.Join(f.faults, ", ")); detail != "" {
			return fmt.Errorf("%s: %s", f.name, detail)
		}
	}
	return nil
}

// Digests names what shapes an episode's prompts, for the header of its cassette: the
// SHA-256 hex of the prompt templates ("prompt"), of the tools as shown ("tools") and
// of the strategy's version ("contract"). A cassette recorded under other digests
// answers other prompts. The templates of a custom strategy are not known, and its
// version only if it has one.
func Digests(name string, p Params, custom map[string]Strategy) map[string]string {
	out := map[string]string{"tools": digest(toolsPrompt(p.Tools) + hints(p.Tools))}
	s, _ := find(name, custom)
	if s.Version != "" {
		out["contract"] = digest(s.Version)
	}
	if s.sample != nil {
		out["prompt"] = digest(s.sample(p))
	}
	return out
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
