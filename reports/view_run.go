package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// outcomes counts how all planned episodes ended, in one line.
func (r Report) outcomes() string {
	o := r.Outcomes
	return join(", ", thousands(int64(o.Solved))+" solved", thousands(int64(o.Failed))+" failed", withoutResult(o))
}

// origin says what is special about where a run's episodes came from, and how it
// ended; empty for a run that did all of its plan.
func (r Report) origin() (lines []string) {
	m := r.Run
	if m.Stopped != "" {
		lines = append(lines, "Stopped early: "+m.Stopped)
	}
	if m.Shard != "" {
		lines = append(lines, "Shard "+m.Shard+" of its plan: the other shards' episodes are not in it")
	}
	if len(m.MergedFrom) > 0 {
		lines = append(lines, fmt.Sprintf("Merged from %s: %s", plural(len(m.MergedFrom), "run"), strings.Join(m.MergedFrom, ", ")))
	}
	if m.RescoredFrom != "" {
		lines = append(lines, "Scored again: the episodes are those of run "+m.RescoredFrom)
	}
	return lines
}

type fact struct{ Name, Value string }

// meta says what a candidate is made of.
func (c Candidate) meta() string {
	s := join(" · ", c.Agent+" agent", c.Provider+"/"+c.Model, c.OutputMode, c.PromptProfile+" prompt")
	if c.RescueModel != "" {
		s += " · rescue " + c.RescueModel
	}
	return s
}

func (g Group) name() string {
	name := g.Provider + "/" + g.Model
	if g.Agent != "" {
		name += " " + g.Agent
	}
	return name
}

// about says whom a group pools and what it mixes.
func (g Group) about() string {
	s := "pools " + strings.Join(g.Candidates, ", ")
	if len(g.Mixes) > 0 {
		s += "; mixes " + strings.Join(g.Mixes, "; ")
	}
	return s
}

// shape is "4 candidates × 60 tasks × 2 trials". Scripted tasks, and the candidate
// that runs them, are not part of the product.
func (r Report) shape() string {
	scripted, candidates := 0, len(r.Candidates)
	for _, t := range r.Tasks {
		if t.Scripted {
			scripted++
		}
	}
	if scripted > 0 && slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.Provider == Scripted }) {
		candidates--
	}
	if scripted > 0 && scripted == len(r.Tasks) {
		return withScripted("", scripted)
	}
	return withScripted(plural(candidates, "candidate")+" × "+plural(len(r.Tasks)-scripted, "task")+" × "+plural(max(r.Run.Trials, 1), "trial"), scripted)
}

// thresholds lists those in force.
func thresholds(a manifest.Acceptance) string {
	solved, within := SuccessNotJudged, ""
	if a.MinSolved != manifest.Off {
		solved = "tasks solved ≥ " + percent(float64(a.MinSolved))
	}
	if a.MinWithin > 0 {
		within = fmt.Sprintf("solved within %s steps ≥ %s", number(a.MaxSteps), percent(a.MinWithin))
	}
	return join(", ", solved, "valid first outputs ≥ "+percent(a.MinValid), "clarifying questions ≤ "+number(a.MaxClarifies)+" per success",
		"steps ≤ "+number(a.MaxSteps)+" per solved task", within) + "; " + percent(a.Confidence) + " confidence intervals"
}

// facts are what the run was made of.
func (r Report) facts() []fact {
	m, a := r.Run, r.Run.Acceptance
	all := []fact{
		{"Run", m.RunID}, {"Status", m.Status}, {"Mode", m.Mode}, {"Suite", join(" · ", m.Suite, m.SuitePath)},
		{"Code version", m.CodeVersion}, {"Seed", strconv.FormatInt(m.Seed, 10)}, {"Price version", m.PriceVersion},
		{"Thresholds", thresholds(a)},
		{"Ledger digest", m.LedgerDigest}, {"Suite digest", m.SuiteDigest}, {"Config digest", m.ConfigDigest}, {"Price digest", m.PriceDigest},
		{"Rows", fmt.Sprintf("%s, %s, %s", plural(m.Episodes, "episode"), plural(m.Turns, "turn"), plural(m.ToolCalls, "tool call"))},
	}
	shown := all[:0]
	for _, f := range all {
		if f.Value != "" {
			shown = append(shown, fact{f.Name, clip(f.Value, 200)})
		}
	}
	return shown
}
