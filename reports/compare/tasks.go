package compare

import (
	"fmt"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
	"github.com/cupel-eval/cupel/reports/words"
)

// classify sorts the tasks of all pairs. Those with trials on both sides make one
// family of tests (Benjamini–Hochberg): a task is newly broken or fixed only by its
// adjusted p.
func (b *Builder) classify(all []comparing) error {
	var family []*Task
	for i := range all {
		p := &all[i]
		p.Tasks = make([]Task, len(p.tasks))
		for k := range p.tasks {
			t := p.task(&p.tasks[k], b)
			p.Tasks[k] = t
			if t.Class != flake.Unknown {
				family = append(family, &p.Tasks[k])
			}
		}
	}
	p := make([]float64, len(family))
	for i, t := range family {
		p[i] = t.P
	}
	adjusted, err := multiple.BenjaminiHochberg(p)
	if err != nil {
		return fmt.Errorf("compare tasks: %w", err)
	}
	for i, t := range family {
		t.Adjusted = adjusted[i]
	}
	for i := range all {
		for k := range all[i].Tasks {
			all[i].Tasks[k].applyAdjustedP(b.rules.Alpha, len(family), all[i].Labels)
		}
	}
	return nil
}

// task is a task by its trials alone.
func (p *comparing) task(j *joined, b *Builder) Task {
	t := Task{ID: j.id, Title: j.title, Known: j.known, Baseline: trials(j.baseline), New: trials(j.new), Adjusted: 1}
	e, _ := flake.Classify(t.Baseline, t.New, b.rules.Alpha)
	t.Class, t.P, t.Share = e.Class, e.P, e.Share
	t.Episodes = b.look(j, p.names, p.Labels)
	return t
}

// trials are the scored trials of a task on one side.
func trials(records []record) (t stat.Trials) {
	for i := range records {
		if records[i].why == scored {
			t.N++
			if records[i].solved {
				t.Passed++
			}
		}
	}
	return t
}

// applyAdjustedP takes back a change that is not significant after adjustment, and says
// what the class rests on.
func (t *Task) applyAdjustedP(alpha float64, tests int, labels Names) {
	changed := t.Class == flake.NewlyBroken || t.Class == flake.NewlyFixed
	if changed && !multiple.Rejects(t.Adjusted, alpha) {
		const never = 1e-14 // below any p of which the adjusted one is above alpha
		e, _ := flake.Classify(t.Baseline, t.New, never)
		t.Class = e.Class
	}
	t.Evidence = t.evidence(alpha, tests, labels)
}

// evidence is one line of what the class rests on.
func (t *Task) evidence(alpha float64, tests int, labels Names) string {
	counts := fmt.Sprintf("solved: %s %d of %d, %s %d of %d", labels.Baseline, t.Baseline.Passed, t.Baseline.N, labels.New, t.New.Passed, t.New.N)
	p := "p " + chance(t.P)
	if tests > 1 {
		p += ", adjusted for " + words.Plural(tests, "task") + ": " + words.Chance(&t.Adjusted)
	}
	alone := multiple.Rejects(t.P, alpha)
	switch t.Class {
	case flake.Unknown:
		return counts + "; no trials to compare"
	case flake.NewlyBroken, flake.NewlyFixed:
		return counts + "; significant (" + p + ")"
	case flake.StablePass:
		return counts + "; the true share is at least " + percent(t.Share.Low) + " (95%)"
	case flake.StableFail:
		return counts + "; the true share is at most " + percent(t.Share.High) + " (95%)"
	case flake.Unclear:
		if t.Baseline.N == 1 && t.New.N == 1 {
			return counts + "; one trial per side cannot distinguish a change from flakiness"
		}
		if alone {
			return counts + "; significant alone, but not after adjustment (" + p + ")"
		}
		return counts + "; too few trials to distinguish a change from flakiness (" + p + ")"
	}
	if alone {
		return counts + "; both outcomes on one side; significant alone, but not after adjustment (" + p + ")"
	}
	return counts + "; both outcomes on one side, no significant change (" + p + ")"
}
