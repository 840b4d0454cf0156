// Package view says what each section of a report and of a comparison shows, once for
// all renderers: headings, cells and sentences as text, without markup. Names and texts of
// others are visible and bounded in it, and still to be escaped.
package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// OutcomesLine counts how all planned episodes ended, in one line.
func OutcomesLine(r model.Report) string {
	o := r.Outcomes
	return words.Join(", ", words.Thousands(int64(o.Solved))+" solved", words.Thousands(int64(o.Failed))+" failed", model.WithoutResult(o))
}

// Origin says what is special about where a run's episodes came from, and how it
// ended; empty for a run that did all of its plan.
func Origin(r model.Report) (lines []string) {
	m := r.Run
	if m.Stopped != "" {
		lines = append(lines, "Stopped early: "+m.Stopped)
	}
	if m.Shard != "" {
		lines = append(lines, "Shard "+m.Shard+" of its plan: the other shards' episodes are not in it")
	}
	if len(m.MergedFrom) > 0 {
		lines = append(lines, fmt.Sprintf("Merged from %s: %s", words.Plural(len(m.MergedFrom), "run"), strings.Join(m.MergedFrom, ", ")))
	}
	if m.RescoredFrom != "" {
		lines = append(lines, "Scored again: the episodes are those of run "+m.RescoredFrom)
	}
	return lines
}

// Fact is a named value of a run.
type Fact struct{ Name, Value string }

// CandidateMeta says what a candidate is made of.
func CandidateMeta(c model.Candidate) string {
	s := words.Join(" · ", c.Agent+" agent", c.Provider+"/"+c.Model, c.OutputMode, c.PromptProfile+" prompt")
	if c.RescueModel != "" {
		s += " · rescue " + c.RescueModel
	}
	return s
}

// groupName is the provider, model and strategy that a group shares.
func groupName(g model.Group) string {
	name := g.Provider + "/" + g.Model
	if g.Agent != "" {
		name += " " + g.Agent
	}
	return name
}

// groupAbout says whom a group pools and what it mixes.
func groupAbout(g model.Group) string {
	s := "pools " + strings.Join(g.Candidates, ", ")
	if len(g.Mixes) > 0 {
		s += "; mixes " + strings.Join(g.Mixes, "; ")
	}
	return s
}

// Shape is "4 candidates × 60 tasks × 2 trials". Scripted tasks, and the candidate
// that runs them, are not part of the product.
func Shape(r model.Report) string {
	scripted, candidates := 0, len(r.Candidates)
	for _, t := range r.Tasks {
		if t.Scripted {
			scripted++
		}
	}
	if scripted > 0 && slices.ContainsFunc(r.Candidates, func(c model.Candidate) bool { return c.Provider == model.Scripted }) {
		candidates--
	}
	if scripted > 0 && scripted == len(r.Tasks) {
		return words.WithScripted("", scripted)
	}
	return words.WithScripted(words.Plural(candidates, "candidate")+" × "+words.Plural(len(r.Tasks)-scripted, "task")+" × "+words.Plural(max(r.Run.Trials, 1), "trial"), scripted)
}

// thresholds lists those in force.
func thresholds(a manifest.Acceptance) string {
	solved, within := model.SuccessNotJudged, ""
	if a.MinSolved != manifest.Off {
		solved = "tasks solved ≥ " + words.Setting(float64(a.MinSolved))
	}
	if a.MinWithin > 0 {
		within = fmt.Sprintf("solved within %s steps ≥ %s", words.Number(a.MaxSteps), words.Setting(a.MinWithin))
	}
	harm := ""
	if a.MaxHarm > 0 {
		harm = "no harm, and upper bound of its share ≤ " + words.Setting(float64(a.MaxHarm))
	}
	return words.Join(", ", solved, "valid first outputs ≥ "+words.Setting(a.MinValid), "clarifying questions ≤ "+words.Number(a.MaxClarifies)+" per success",
		"steps ≤ "+words.Number(a.MaxSteps)+" per solved task", within, harm) + "; " + words.Setting(a.Confidence) + " confidence intervals"
}

// Facts are what the run was made of.
func Facts(r model.Report) []Fact {
	m, a := r.Run, r.Run.Acceptance
	all := []Fact{
		{"Run", m.RunID}, {"Status", m.Status}, {"Mode", m.Mode}, {"Suite", words.Join(" · ", m.Suite, m.SuitePath)},
		{"Code version", m.CodeVersion}, {"Seed", strconv.FormatInt(m.Seed, 10)}, {"Price version", m.PriceVersion},
		{"Thresholds", thresholds(a)},
		{"Ledger digest", m.LedgerDigest}, {"Suite digest", m.SuiteDigest}, {"Config digest", m.ConfigDigest}, {"Price digest", m.PriceDigest},
		{"Rows", fmt.Sprintf("%s, %s, %s", words.Plural(m.Episodes, "episode"), words.Plural(m.Turns, "turn"), words.Plural(m.ToolCalls, "tool call"))},
	}
	shown := all[:0]
	for _, f := range all {
		if f.Value != "" {
			shown = append(shown, Fact{f.Name, words.Clip(f.Value, 200)})
		}
	}
	return shown
}
