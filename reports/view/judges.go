package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/reports/judges"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat/judging"
	"github.com/cupel-eval/cupel/reports/words"
)

// judgeSection has the judges of a run and the rates that rest on them; it has no tables without
// judges.
func judgeSection(r model.Report) Section {
	s := Section{
		ID: "judges", Title: "Judges", Fold: "Judges", Label: "judge",
		Intro: "Sensitivity is the share of what people pass that the judge passes, specificity the share of what people fail that it fails, by labels of people. " +
			"Rates that rest on a judge are corrected for its errors (Rogan and Gladen 1978), and their intervals include the uncertainty of both. What a judge without a calibration decided counts as unknown.",
	}
	if len(r.Judges) == 0 {
		return s
	}
	t := Table{Label: "Agreement of judges with people", Caption: "Agreement with people", Titled: true, Columns: []Column{
		{Name: "Judge", Head: true, Mark: "bdi"}, {Name: "Model", Mark: "bdi"}, {Name: "Calibration"}, {Name: "Labels", Class: "n"},
		{Name: "Agreement", Class: "n"}, {Name: "Kappa", Class: "n"}, {Name: "Sensitivity", Class: "n"}, {Name: "Specificity", Class: "n"},
	}}
	for _, j := range r.Judges {
		name, agreement := words.Brief(j.Name(), 60), judges.Agreement{}
		if j.AtLeast != nil {
			name += fmt.Sprintf(" (at least %g)", *j.AtLeast)
		}
		said := words.Brief(j.Why, 160)
		if j.Agreement != nil {
			agreement = *j.Agreement
			said = fmt.Sprintf("%s, sensitivity %s, specificity %s", words.Plural(j.Labels, "label"), judges.Text(agreement.Sensitivity), judges.Text(agreement.Specificity))
		}
		if j.SameModel != nil {
			said += "; same model as " + words.Brief(strings.Join(j.SameModel, ", "), 80)
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: name}, {Text: words.Brief(words.Join(" · ", j.Provider, j.Model), 80)}, {Text: cmp.Or(words.Brief(j.Why, 160), "holds")}, {Text: words.Thousands(int64(j.Labels))},
			{Text: judges.Text(agreement.Agreement)}, {Text: kappa(agreement.Kappa)}, {Text: judges.Text(agreement.Sensitivity)}, {Text: judges.Text(agreement.Specificity)},
		})
		s.Lines = append(s.Lines, name+": "+said)
	}
	s.Tables = []Table{t}
	rates := Table{Label: "Rates that rest on judges", Caption: "Rates that rest on judges", Titled: true, Columns: []Column{
		{Name: "Candidate", Head: true, Mark: "bdi"}, {Name: "Rate", Own: true}, {Name: "Raw", Class: "n"}, {Name: r.Intervals() + " CI", Class: "n"},
		{Name: "Corrected", Class: "n"}, {Name: r.Intervals() + " CI", Class: "n"},
	}}
	for _, j := range Judgements(r) {
		for _, c := range j.Criteria {
			if c.Raw == nil {
				continue
			}
			rates.Rows = append(rates.Rows, []Cell{
				{Text: words.Brief(j.Pooled(j.Name), 80)}, {Text: c.Title}, {Text: c.Raw.Rate()}, {Text: c.Raw.IntervalText()}, {Text: c.ValueText()}, {Text: c.IntervalText()},
			})
			s.Lines = append(s.Lines, fmt.Sprintf("%s: %s raw %s (%s), corrected %s (%s)",
				words.Brief(j.Pooled(j.Name), 80), words.LowerFirst(c.Title), c.Raw.Rate(), c.Raw.IntervalText(), c.ValueText(), c.IntervalText()))
		}
	}
	if rates.Rows != nil {
		s.Tables = append(s.Tables, rates)
	}
	return s
}

// kappa is "0.81 (0.70 to 0.92)", or a dash.
func kappa(r judging.Rate) string {
	if r.Value == nil {
		return "–"
	}
	text := fmt.Sprintf("%.2f", *r.Value)
	if r.Interval != nil {
		text += fmt.Sprintf(" (%.2f to %.2f)", r.Interval.Low, r.Interval.High)
	}
	return strings.ReplaceAll(text, "-", "−")
}
