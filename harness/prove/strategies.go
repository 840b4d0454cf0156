package prove

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// The simulated models that solutions are tried with: one follows the playbook, the other ends
// immediately.
const (
	oracle = "sim-oracle"
	nop    = "sim-nop"
)

// variants are the candidates under whose strategies solutions are tried, once for each
// strategy and profile of the suite's candidates, with a model that follows the playbook and,
// under the name with nop, one that does nothing.
func variants(candidates []goldens.Candidate) (names []string, out []goldens.Candidate) {
	for _, c := range candidates {
		c.Agent = cmp.Or(c.Agent, strategy.Contract)
		c.Name = c.Agent
		if c.Profile != "" && c.Profile != strategy.Seed {
			c.Name += "-" + c.Profile
		}
		if slices.Contains(names, c.Name) {
			continue
		}
		names = append(names, c.Name)
		if !strings.HasPrefix(c.Provider, "sim-") {
			c.Provider, c.Mode = labProvider, ""
		}
		c.BaseURL, c.KeyEnv, c.Region, c.Headers, c.Query, c.Body = "", "", "", nil, nil, nil
		c.Plan.ReasoningModel = ""
		c.Rescue, c.RescueOnContradiction, c.Fallback, c.Stream, c.MaxTokens, c.Temperature = "", false, "", false, nil, nil
		for _, model := range []string{oracle, nop} {
			v := c
			v.Model = model
			if model == nop {
				v.Name += "." + nop
			}
			out = append(out, v)
		}
	}
	return names, out
}

// tryStrategies runs the solution of every task under every strategy, through the prompts and wires
// that a real model would have, and says which tasks refuse it, and which accept doing nothing.
func tryStrategies(ctx context.Context, o Options, tasks []goldens.Task, r *Result) error {
	base := o.Run.Candidates
	if base == nil {
		base = o.Run.Suite.Candidates
	}
	if len(base) == 0 {
		base = []goldens.Candidate{{}} // of the default strategy
	}
	var candidates []goldens.Candidate
	r.Strategies, candidates = variants(base)
	place := map[string]*Task{}
	tried := map[[2]string]bool{}
	for i, t := range tasks {
		place[t.ID] = &r.Tasks[i]
		for _, c := range candidates {
			why := cmp.Or(r.Tasks[i].offline, lacking(t, strategy.Of(c.Agent)))
			if why == "" && r.Tasks[i].Unproved == "" {
				tried[[2]string{t.ID, c.Name}] = true
			}
			if why != "" && c.Model == oracle {
				r.Tasks[i].Excluded = append(r.Tasks[i].Excluded, Pair{c.Name, why})
			}
		}
	}
	if len(tried) == 0 {
		return ctx.Err()
	}
	suite := *o.Run.Suite
	suite.Tasks = tasks
	parts := o.Run.Parts
	parts.Key, parts.Human = nil, nil
	res, err := harness.Run(ctx, harness.Options{
		Matrix: harness.Matrix{Suite: &suite, Candidates: candidates, Seed: 1, Select: harness.Selection{
			Episode: func(task, candidate string, _ int) bool { return tried[[2]string{task, candidate}] },
		}},
		Rules: o.Run.Rules, Parts: parts, Recording: harness.Recording{Mode: recorder.Live},
	})
	if err != nil {
		return err
	}
	if res.Interrupted {
		return context.Cause(ctx)
	}
	for _, e := range res.Rows.Episodes {
		t := place[e.TaskID]
		name, idle := strings.CutSuffix(e.Candidate, "."+nop)
		if e.AttackSucceeded != nil && *e.AttackSucceeded && !slices.Contains(t.Fell, name) {
			t.Fell = append(t.Fell, name)
		}
		switch {
		case idle && e.Solved:
			t.Nop = append(t.Nop, name)
		case !idle && !accepts(e):
			t.Unsolved = append(t.Unsolved, Pair{name, whyUnsolved(e)})
		}
	}
	return nil
}

// lacking says what a strategy lacks of what a task requires; empty if it has all.
func lacking(t goldens.Task, s strategy.Info) string {
	for _, capability := range t.Requires {
		if slices.Contains(s.Cannot, capability) {
			return fmt.Sprintf("the task requires %s", capability)
		}
	}
	return ""
}

// accepts says that an episode solved its task and did no harm.
func accepts(e ledger.Episode) bool { return e.Solved && (e.Harm == nil || !*e.Harm) }

// whyUnsolved is the first check that an episode failed, or why it has none.
func whyUnsolved(e ledger.Episode) string {
	if e.Excluded() != "" {
		return cmp.Or(e.ErrorText, e.ErrorKind)
	}
	for _, c := range e.Checks {
		if !c.Passed {
			return strings.TrimSuffix(c.Name+": "+c.Detail, ": ")
		}
	}
	return "harm: " + e.HarmReason
}

// shown reports whether a tool returned a text in an episode.
func shown(text string, o goldens.Outcome) bool {
	quoted := tool.AppendCanonical(nil, text)
	return slices.ContainsFunc(o.Calls, func(c goldens.Called) bool { return bytes.Contains(c.Result, quoted[1:len(quoted)-1]) })
}
