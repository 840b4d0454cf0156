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
	n := o.Solved + o.Failed
	return words.Join(", ", fmt.Sprintf("%s of %s solved (%s)", words.Thousands(int64(o.Solved)), words.Plural(n, "episode"), words.Percent(float64(o.Solved)/float64(max(1, n)))), model.WithoutResult(o))
}

// Origin says what is special about where a run's episodes came from, and how it
// ended; empty for a run that did all of its plan.
func Origin(r model.Report) (lines []string) {
	m := r.Run
	if m.Imported.Format != "" {
		lines = append(lines, fmt.Sprintf("Imported from %s (%s): another program made the episodes, and cupel executed none", words.Plural(len(m.Imported.Sources), "file"), m.Imported.Format))
		lines = append(lines, Imported(m.Imported)...)
	}
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
	if m.LabelledFrom != "" {
		lines = append(lines, fmt.Sprintf("Labels of people from %s: the episodes are those of run %s", words.Plural(len(m.Labels), "file"), m.LabelledFrom))
	}
	return lines
}

// maxNotShared is how many candidates with cases of their own are named.
const maxNotShared = 5

// Imported says what makes the figures of an imported run differ from those of its source, or what
// makes candidates not comparable.
func Imported(m manifest.Imported) (lines []string) {
	if crashed := words.Plural(m.Crashed, "episode"); m.AsPublished {
		lines = append(lines, "As published: the verdict that the source stored counts in "+crashed+" that broke down, and only cases count that all comparable candidates have")
	} else if m.Crashed > 0 {
		lines = append(lines, "Without a result: "+crashed+" that broke down, whatever verdict the source stored; import --as-published counts that")
	}
	if len(m.NotShared) > 0 {
		var names []string
		for _, c := range m.NotShared[:min(len(m.NotShared), maxNotShared)] {
			names = append(names, fmt.Sprintf("%s has %d", c.Name, c.Count))
		}
		if more := len(m.NotShared) - maxNotShared; more > 0 {
			names = append(names, words.Plural(more, "more candidate"))
		}
		lines = append(lines, "Case lists differ: "+words.And(names)+" that not all others have. Rates are over the own cases of each; compare pairs those that two share")
	}
	return lines
}

// Fact is a named value of a run.
type Fact struct{ Name, Value string }

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

// thresholds lists the criteria in force.
func thresholds(r model.Report) string {
	var list []string
	if r.Run.Acceptance.MinSolved == manifest.Off {
		list = append(list, model.SuccessNotJudged)
	}
	for _, t := range CriterionTables(Judgements(r)) {
		if !t.Reported {
			list = append(list, words.LowerFirst(words.Brief(t.Title, 60))+" "+t.Needs)
		}
	}
	return strings.Join(list, ", ")
}

// Facts say how the run was made and how to make it again.
func Facts(r model.Report) []Fact {
	m, verify := r.Run, ""
	if m.RunID != "" && m.Mode != "live" {
		verify = "cupel verify " + m.RunID
	}
	return known([]Fact{
		{"Run", m.RunID}, {"Started", m.Started}, {"Mode", m.Mode}, {"Status", m.Status}, {"Suite", words.Join(" · ", m.Suite, m.SuitePath)},
		{"Run it again", command(r)}, {"Verify it", verify},
		{"Thresholds", thresholds(r)}, {"Intervals", words.Setting(m.Acceptance.Confidence) + " confidence"},
		{"Rows", words.Join(", ", words.Plural(m.Episodes, "episode"), turns(r), words.Plural(m.ToolCalls, "tool call"))},
		{"Code version", m.CodeVersion}, {"Seed", strconv.FormatInt(m.Seed, 10)}, {"Price table", m.PriceVersion},
	})
}

// Provenance are the digests of what the run was made of.
func Provenance(r model.Report) []Fact {
	m := r.Run
	return known([]Fact{{"Ledger digest", m.LedgerDigest}, {"Suite digest", m.SuiteDigest}, {"Config digest", m.ConfigDigest}, {"Price digest", m.PriceDigest}})
}

// known are the facts with a value, bounded.
func known(all []Fact) (list []Fact) {
	for _, f := range all {
		if f.Value != "" {
			list = append(list, Fact{f.Name, words.Clip(f.Value, 200)})
		}
	}
	return list
}

// turns is "1,004 judged turns (1,005 in all)".
func turns(r model.Report) string {
	judged := 0
	for _, c := range r.Candidates {
		judged += c.Turns
	}
	if judged == r.Run.Turns {
		return words.Plural(judged, "turn")
	}
	return fmt.Sprintf("%s (%s in all)", words.Plural(judged, "judged turn"), words.Thousands(int64(r.Run.Turns)))
}
