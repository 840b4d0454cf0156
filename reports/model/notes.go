package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/judges"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// addVerdict sums up the candidates and groups.
func (r *Report) addVerdict() {
	n, verdicts := map[stat.Verdict]int{}, []stat.Verdict{}
	for _, c := range r.Candidates {
		n[c.Verdict]++
		verdicts = append(verdicts, c.Verdict)
	}
	for _, g := range r.Groups {
		if g.Verdict == stat.Fail {
			verdicts = append(verdicts, stat.Fail)
		}
	}
	if r.Verdict = stat.Worst(verdicts); r.Verdict == stat.Pass && cutShort(r.Run) != "" {
		r.Verdict = stat.Inconclusive
	}
	judged := len(r.Candidates) - n[stat.NotJudged]
	switch {
	case r.Outcomes.NotScored > 0 && r.Outcomes.Solved+r.Outcomes.Failed == 0:
		r.Headline = "Not scored: the episodes are imported, and no check looked at them"
	case judged == 0:
		r.Headline = "Inconclusive: no candidate to judge"
	case r.Verdict == stat.Pass && judged == 1:
		r.Headline = "Accepted: the candidate meets every criterion"
	case r.Verdict == stat.Pass:
		r.Headline = "Accepted: " + Of(judged, judged, "", "meet every criterion")
	case n[stat.Fail] > 0:
		r.Headline = fmt.Sprintf("Rejected: %s", Of(n[stat.Fail], judged, "fails", "fail"))
	case r.Verdict == stat.Fail:
		r.Headline = "Rejected: candidates pooled by model fail"
	case n[stat.Inconclusive] == 0:
		r.Headline = "Inconclusive: the run ended early"
	default:
		r.Headline = fmt.Sprintf("Not enough evidence: %s inconclusive", Of(n[stat.Inconclusive], judged, "is", "are"))
	}
	if judged > 0 && r.Run.Acceptance.MinSolved == manifest.Off {
		r.Headline += "; " + SuccessNotJudged
	}
	if r.Run.Acceptance.Judges == manifest.JudgesAny && slices.ContainsFunc(r.Judges, func(j judges.Judge) bool { return !j.Calibrated }) {
		r.Headline += "; verdicts of judges taken as they are"
	}
	if n := len(r.ThresholdsChanged); n > 0 {
		r.Headline += "; " + words.Plural(n, "threshold") + " changed at report time"
	}
}

// ChangesText says which thresholds are not those of the run; empty if all are.
func (r *Report) ChangesText() string {
	var list []string
	for _, c := range r.ThresholdsChanged {
		list = append(list, c.String())
	}
	return strings.Join(list, ", ")
}

// Of is "the candidate fails", "1 of 3 candidates fails", "both candidates fail" or "all 3
// candidates fail".
func Of(k, n int, one, many string) string {
	switch {
	case n == 1:
		return "the candidate " + one
	case k == n && n == 2:
		return "both candidates " + many
	case k == n:
		return fmt.Sprintf("all %d candidates %s", n, many)
	case k == 1:
		return fmt.Sprintf("1 of %d candidates %s", n, one)
	}
	return fmt.Sprintf("%d of %d candidates %s", k, n, many)
}

// addTasks fills the table tasks × candidates.
func (r *Report) addTasks() {
	column := map[string]int{}
	for i, c := range r.Candidates {
		column[c.Name] = i
	}
	row := map[string]int{}
	add := func(t manifest.Task) {
		row[t.ID] = len(r.Tasks)
		cells := make([]Cell, len(r.Candidates))
		for i := range cells {
			cells[i].Episodes = []int{}
		}
		r.Tasks = append(r.Tasks, Task{ID: t.ID, Title: t.Title, Tier: t.Tier, Base: t.Base, Scripted: t.Scripted, Cells: cells})
	}
	for _, t := range r.Run.Tasks {
		if _, twice := row[t.ID]; !twice {
			add(t)
		}
	}
	steps := map[*Cell]int{}
	for i := range r.Episodes {
		e := &r.Episodes[i]
		if _, known := row[e.Task]; !known {
			add(manifest.Task{ID: e.Task})
		}
		cell := &r.Tasks[row[e.Task]].Cells[column[e.Candidate]]
		cell.Episodes = append(cell.Episodes, i)
		if e.Excluded != "" {
			continue
		}
		cell.Scored++
		if e.Solved {
			cell.Solved++
		}
		steps[cell] += e.Steps
	}
	for cell, sum := range steps {
		cell.MeanSteps = new(float64(sum) / float64(cell.Scored))
	}
}

// addBatchNote says what batches saved, and that batched turns have no times.
func (r *Report) addBatchNote() {
	batched, saved := 0, sum{}
	for _, c := range r.Candidates {
		if c.Batched > 0 {
			batched += c.Batched
			saved.add(c.Saved)
		}
	}
	if batched > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("Batches answered %s (saved: %s). Batched turns and their episodes have no times: what this report says about time leaves them out.",
			words.Plural(batched, "turn"), words.Dollars(saved.value())))
	}
}

// addNotes says what a reader of the numbers must know.
func (r *Report) addNotes(orphans int) {
	if changed := r.ChangesText(); changed != "" {
		r.Notes = append(r.Notes, "Thresholds changed at report time (run.json → used here): "+changed+".")
	}
	if s := r.Run.Status; s != "" && s != "complete" {
		r.Notes = append(r.Notes, fmt.Sprintf("The run is %s: some planned episodes have no result.", s))
	}
	r.addExcludedNotes()
	r.addBatchNote()
	r.Notes = append(r.Notes, fmt.Sprintf("A criterion passes if its entire %s confidence interval meets the threshold, fails if the entire interval misses it, and is otherwise inconclusive.", r.Intervals()))
	judged := 0
	for _, c := range r.Candidates {
		for _, k := range c.Criteria {
			if k.Verdict != stat.NotJudged {
				judged++
			}
		}
	}
	if judged > 4 {
		r.Notes = append(r.Notes, fmt.Sprintf("The intervals are not adjusted for multiple comparisons (%d criteria).", judged))
	}
	for _, c := range r.Candidates {
		if c.Limited > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%s sent no output limit in %s: the proxy added that of its configuration.", c.Name, words.Plural(c.Limited, "model request")))
		}
		if len(c.ModelsServed) > 1 {
			var names []string
			for _, t := range c.ModelsServed {
				names = append(names, t.Name)
			}
			r.Notes = append(r.Notes, fmt.Sprintf("%s was served by %d models: %s.", c.Name, len(names), strings.Join(names, ", ")))
		}
	}
	for _, c := range r.Run.Candidates {
		if text := c.Canary.String(); text != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("The model behind %s (%s): %s.", c.Name, c.Model, text))
		}
	}
	if orphans > 0 {
		r.Notes = append(r.Notes, words.Plural(orphans, "row")+" of turns and tool calls left out: no episode of the ledger has them.")
	}
}

// addExcludedNotes counts the episodes without a result, by kind.
func (r *Report) addExcludedNotes() {
	interrupted := 0
	for _, c := range r.Candidates {
		interrupted += c.Interrupted
	}
	o := r.Outcomes
	for _, k := range []struct {
		n    int
		text string
	}{
		{o.InfraErrors, " lost to infrastructure errors: neither for nor against a model."},
		{o.HarnessErrors, " lost to harness errors: neither for nor against a model."},
		{o.BudgetStops, " stopped by a cap on the run's spending, and not scored."},
		{interrupted, " interrupted and not scored."},
		{o.Unfinished - interrupted, " planned and never run."},
		{o.NotScored, " imported and not scored: there is no verdict on them."},
	} {
		if k.n > 0 {
			r.Notes = append(r.Notes, words.Plural(k.n, "episode")+k.text)
		}
	}
	if lostOutcomes(o).WithoutResult() > 0 {
		r.Notes = append(r.Notes, "Values and intervals are those of the scored episodes. A candidate passes only if it would with its lost episodes at their worst, too.")
	}
	for _, c := range r.Candidates {
		if c.UserFaults > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("In %s of candidate %s the simulated user broke its rules (column user_faults): they say less about the agent.", words.Plural(c.UserFaults, "episode"), c.Name))
		}
	}
	for _, c := range r.Run.Candidates {
		if c.Incapable > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%s left out of candidate %s: agent %s takes no further messages of the user, cannot ask a simulated one, or takes no functions. Comparisons use the tasks that both sides ran.", words.Plural(c.Incapable, "task"), c.Name, c.Agent))
		}
	}
	if early := cutShort(r.Run); early != "" {
		r.Notes = append(r.Notes, "The run ended before its plan did, so it is not accepted: "+early+".")
	}
}
