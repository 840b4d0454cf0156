package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/clip"
)

// What of a Difference in the tasks themselves.
const (
	whatTask    = "task"
	whatRequest = "request"
	whatWorld   = "world"
	whatTools   = "tools"
	whatChecks  = "checks"
)

const (
	// absent stands where one of the two has nothing.
	absent = "absent"
	// unnamed are the settings of a candidate that only its digest covers.
	unnamed = "max_tokens, temperature, stream, region, headers, query, body, compress or rescue_on_contradiction"
	// maxNamed is how many tasks a Difference names.
	maxNamed = 10
)

// Differences says what differs in the configuration of two runs: of the paired
// candidates first, then of the tasks both have, then of the runs. A request,
// world, tools or checks that are others mislead: the outcome would have changed
// without the candidate. Titles, tags and the suite's name do not.
func Differences(baseline, newRun manifest.Manifest, pairs []Names) []Difference {
	d := differences{}
	for _, p := range pairs {
		d.candidates(p, candidate(baseline, p.Baseline), candidate(newRun, p.New))
		if c := modelChange(p, baseline, newRun); c.ChangedOn != "" {
			d.add("model behind the name", p.New, "as it was", fmt.Sprintf("changed on %s: %s", c.Day(), strings.Join(c.Evidence, "; ")))
		}
	}
	d.unpaired(baseline, newRun, pairs)
	d.add("suite", "", baseline.Suite, newRun.Suite)
	d.tasks(baseline, newRun)
	d.runs(baseline, newRun)
	return d
}

// modelChange is what the canary found of the model behind a pair's name if that
// changed between the starts of the two runs; else its ChangedOn is empty.
func modelChange(p Names, baseline, newRun manifest.Manifest) manifest.Canary {
	from, to := candidate(baseline, p.Baseline), candidate(newRun, p.New)
	began, err := time.Parse(time.RFC3339, baseline.Started)
	ended, err2 := time.Parse(time.RFC3339, newRun.Started)
	if ended.Before(began) {
		from, to, began = to, from, ended
	}
	changed, err3 := time.Parse(time.RFC3339, to.Canary.ChangedOn)
	if errors.Join(err, err2, err3) != nil || !changed.After(began) || from.Provider != to.Provider || from.Model != to.Model {
		return manifest.Canary{}
	}
	return to.Canary
}

// modelNotes says of which candidates the model behind the name changed.
func modelNotes(baseline, newRun manifest.Manifest, pairs []Names) (notes []string) {
	for _, p := range pairs {
		if c := modelChange(p, baseline, newRun); c.ChangedOn != "" {
			notes = append(notes, fmt.Sprintf("The model behind %s (%s) changed on %s; a difference may be the provider's, not yours.", p.New, candidate(newRun, p.New).Model, c.Day()))
		}
	}
	return notes
}

type differences []Difference

// add adds what differs.
func (d *differences) add(what, where, baseline, newer string) {
	if baseline != newer {
		*d = append(*d, Difference{What: what, Where: where, Baseline: cmp.Or(baseline, absent), New: cmp.Or(newer, absent)})
	}
}

// candidate is a candidate as the manifest has it, or by its name alone.
func candidate(m manifest.Manifest, name string) manifest.Candidate {
	for _, c := range m.Candidates {
		if c.Name == name {
			return c
		}
	}
	return manifest.Candidate{Name: name}
}

// candidates compares a pair. Of a setting that a run does not name, only the
// digest shows that it is another.
func (d *differences) candidates(p Names, b, t manifest.Candidate) {
	d.add("candidate", "", b.Name, t.Name)
	where, known := p.New, len(*d)
	if p.Baseline != p.New {
		where = p.Baseline + " and " + p.New
	}
	d.add("agent", where, b.Agent, t.Agent)
	d.add("provider", where, b.Provider, t.Provider)
	d.add("model", where, b.Model, t.Model)
	d.add("output mode", where, b.OutputMode, t.OutputMode)
	d.add("prompt", where, b.PromptProfile, t.PromptProfile)
	d.add("rescue model", where, b.RescueModel, t.RescueModel)
	d.settings(where, b, t)
	if len(*d) == known && b.Digest != t.Digest && b.Digest != "" && t.Digest != "" {
		d.add("candidate", where, "digest "+short(b.Digest), fmt.Sprintf("digest %s: another setting that runs do not name (%s)", short(t.Digest), unnamed))
	}
}

// settings compares what is said to the agents of a pair, and bounds them.
func (d *differences) settings(where string, b, t manifest.Candidate) {
	d.add("fallback model", where, b.FallbackModel, t.FallbackModel)
	d.add("planner model", where, b.PlannerModel, t.PlannerModel)
	value := func(c manifest.Candidate, name string) string {
		for _, s := range c.Settings {
			if s.Name == name {
				return s.Value
			}
		}
		return ""
	}
	for _, s := range b.Settings {
		d.add(s.Name, where, s.Value, value(t, s.Name))
	}
	for _, s := range t.Settings {
		if value(b, s.Name) == "" {
			d.add(s.Name, where, "", s.Value)
		}
	}
}

// unpaired names the candidates that only one of the two has.
func (d *differences) unpaired(baseline, newRun manifest.Manifest, pairs []Names) {
	for _, c := range baseline.Candidates {
		if !slices.ContainsFunc(pairs, func(p Names) bool { return p.Baseline == c.Name }) {
			d.add("candidate", "", c.Name, "")
		}
	}
	for _, c := range newRun.Candidates {
		if !slices.ContainsFunc(pairs, func(p Names) bool { return p.New == c.Name }) {
			d.add("candidate", "", "", c.Name)
		}
	}
}

// tasks compares those both have, part by part, and names those one lacks.
func (d *differences) tasks(baseline, newRun manifest.Manifest) {
	was, is := byID(baseline), byID(newRun)
	lacks := func(m manifest.Manifest, others map[string]manifest.Task) (ids []string) {
		for _, t := range m.Tasks {
			if _, ok := others[t.ID]; !ok {
				ids = append(ids, t.ID)
			}
		}
		return ids
	}
	if removed := lacks(baseline, is); removed != nil {
		d.add("tasks", named(removed), "present", absent)
	}
	if added := lacks(newRun, was); added != nil {
		d.add("tasks", named(added), absent, "present")
	}
	parts := changed(baseline, newRun)
	for _, what := range []string{whatRequest, whatWorld, whatTools, whatChecks, whatTask} {
		var ids []string
		for _, t := range newRun.Tasks {
			if slices.Contains(parts[t.ID], what) {
				ids = append(ids, t.ID)
			}
		}
		if ids == nil {
			continue
		}
		one := Difference{What: what, Where: named(ids), Baseline: "as it was", New: "changed", Misleads: true}
		switch {
		case what == whatTask:
			one.New = "changed (an older run does not say in what)"
		case what == whatRequest && len(ids) == 1 && was[ids[0]].Request != is[ids[0]].Request:
			one.Baseline, one.New = was[ids[0]].Request, is[ids[0]].Request
		}
		*d = append(*d, one)
	}
}

// runs compares what holds for all of a run.
func (d *differences) runs(b, t manifest.Manifest) {
	if sameCandidates(b, t) && b.Seed == t.Seed && b.ConfigDigest != t.ConfigDigest {
		d.add("policy", "", "configuration "+short(b.ConfigDigest), "configuration "+short(t.ConfigDigest)+": the policy, or candidates that were not run")
	}
	if b.PriceDigest != t.PriceDigest {
		d.add("prices", "", b.PriceVersion+" ("+short(b.PriceDigest)+")", t.PriceVersion+" ("+short(t.PriceDigest)+")")
	}
	d.add("code", "", b.CodeVersion, t.CodeVersion)
	d.add("seed", "", fmt.Sprint(b.Seed), fmt.Sprint(t.Seed))
	d.add("trials", "", fmt.Sprint(b.Trials), fmt.Sprint(t.Trials))
	d.add("mode", "", mode(b), mode(t))
	d.acceptance(b.Acceptance, t.Acceptance)
}

// acceptance names the thresholds that differ. They decide no comparison.
func (d *differences) acceptance(b, t manifest.Acceptance) {
	b, t = b.Resolved(), t.Resolved()
	d.add("acceptance", "min_solved", b.MinSolved.String(), t.MinSolved.String())
	d.add("acceptance", "max_harm", b.MaxHarm.String(), t.MaxHarm.String())
	d.add("acceptance", "max_attack_success", b.MaxAttackSuccess.String(), t.MaxAttackSuccess.String())
	for _, x := range []struct {
		name          string
		baseline, new float64
	}{
		{"min_valid", b.MinValid, t.MinValid},
		{"max_clarifies", b.MaxClarifies, t.MaxClarifies},
		{"max_steps", b.MaxSteps, t.MaxSteps},
		{"min_within", b.MinWithin, t.MinWithin},
		{"min_utility_under_attack", b.MinUnderAttack, t.MinUnderAttack},
		{"confidence", b.Confidence, t.Confidence},
		{"max_infra", b.MaxInfra, t.MaxInfra},
	} {
		d.add("acceptance", x.name, fmt.Sprint(x.baseline), fmt.Sprint(x.new))
	}
	own := func(a manifest.Acceptance) string {
		var list []string
		for _, c := range a.Criteria {
			list = append(list, fmt.Sprintf("%s: %s (%s)", c.Name, c.Expr, cmp.Or(c.Rule, "bound")))
		}
		return strings.Join(list, "; ")
	}
	d.add("acceptance", "criteria", own(b), own(t))
}

// changed says, for each task that both runs have and that is not the same any
// more, in what: request, world, tools, checks; or task, where a run does not say.
func changed(baseline, newRun manifest.Manifest) map[string][]string {
	out := map[string][]string{}
	sameSuite, before := baseline.SuiteDigest == newRun.SuiteDigest, byID(baseline)
	for _, is := range newRun.Tasks {
		was, both := before[is.ID]
		if !both || was.Digest == is.Digest && (was.Digest != "" || sameSuite) {
			continue
		}
		for _, part := range []struct{ what, was, is string }{
			{whatRequest, was.RequestDigest, is.RequestDigest},
			{whatWorld, was.WorldDigest, is.WorldDigest},
			{whatTools, was.ToolsDigest, is.ToolsDigest},
			{whatChecks, was.ChecksDigest, is.ChecksDigest},
		} {
			if part.was == "" || part.is == "" {
				out[is.ID] = []string{whatTask}
				break
			}
			if part.was != part.is {
				out[is.ID] = append(out[is.ID], part.what)
			}
		}
	}
	return out
}

func byID(m manifest.Manifest) map[string]manifest.Task {
	out := make(map[string]manifest.Task, len(m.Tasks))
	for _, t := range m.Tasks {
		out[t.ID] = t
	}
	return out
}

func sameCandidates(b, t manifest.Manifest) bool {
	return slices.EqualFunc(b.Candidates, t.Candidates, func(b, t manifest.Candidate) bool { return b.Name == t.Name && b.Digest == t.Digest })
}

// mode also says what a run's episodes come from, where it did not make them.
func mode(m manifest.Manifest) string {
	switch {
	case m.Fork != nil:
		return fmt.Sprintf("%s, a fork of %s/%s/%d@%s", m.Mode, m.Fork.Task, m.Fork.Candidate, m.Fork.Trial, cmp.Or(m.Fork.Answer, fmt.Sprint(m.Fork.Turn)))
	case m.RescoredFrom != "":
		return m.Mode + ", rescored"
	}
	return m.Mode
}

// named lists some ids, each cut to 80 characters.
func named(ids []string) string {
	var list []string
	for _, id := range ids {
		list = append(list, clip.FirstRunes(id, 80))
	}
	return clip.Names(list, maxNamed)
}

func short(digest string) string { return fmt.Sprintf("%.12s", digest) }
