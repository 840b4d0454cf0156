package plot

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// Names of the plots.
const (
	figValidity    = "validity"
	figSteps       = "steps"
	figCost        = "cost"
	figRates       = "rates"
	figLatency     = "latency"
	figTTFT        = "ttft"
	figTokens      = "tokens"
	figTasks       = "tasks"
	figViolations  = "violations"
	figCalibration = "calibration"
)

// figure is one kind of plot. Its title states its finding, and is empty where nothing was
// measured: then the plot is left out.
type figure struct {
	name       string
	title, alt func(*model.Report) string
	draw       func(theme, model.Report) drawing
}

// figures are all plots, in the order shown. A new one is a row here and a file
// with its title, its text alternative and its drawing.
func figures() []figure {
	return []figure{
		{figValidity, validityTitle, validityAlt, theme.validity},
		{figCost, costTitle, costAlt, theme.costs},
		{model.FigStrategies, strategiesTitle, strategiesAlt, theme.strategies},
		{figSteps, stepsTitle, stepsAlt, theme.steps},
		{figLatency, turnDurations().title, turnDurations().alt, turnDurations().draw},
		{figTTFT, firstTokens().title, firstTokens().alt, firstTokens().draw},
		{figTokens, tokensTitle, tokensAlt, theme.tokens},
		{figTasks, tasksTitle, tasksAlt, theme.tasks},
		{figRates, ratesTitle, ratesAlt, theme.rates},
		{figViolations, violationsTitle, violationsAlt, theme.violations},
		{figCalibration, calibrationTitle, calibrationAlt, theme.calibration},
		{model.FigTrend, trendTitle, trendAlt, theme.trend},
	}
}

// Figures lists the plots of a report in the order shown, with their titles and text
// alternatives. A plot of what was not measured, such as a trend without past runs, is
// left out.
func Figures(r *model.Report) (list []model.Figure) {
	for _, f := range figures() {
		if title := f.title(r); title != "" {
			list = append(list, model.Figure{Name: f.name, Title: title, Alt: f.alt(r)})
		}
	}
	return list
}

// Bounds of text alternatives: the number of candidates, and the letters about each.
const (
	altCandidates = 32
	altLetters    = 400
)

// alt lists a value for each candidate that has one.
func alt(r *model.Report, what string, of func(model.Candidate) string) string {
	var parts []string
	names := altNames(r)
	for i, c := range r.Candidates {
		if v := of(c); v != "" {
			parts = append(parts, names[i]+" "+words.Clip(v, altLetters))
		}
	}
	if more := len(parts) - altCandidates; more > 0 {
		parts = append(parts[:altCandidates], fmt.Sprintf("and %d more", more))
	}
	return what + ": " + strings.Join(parts, "; ") + "."
}

// altNames are the names of the candidates in text alternatives: distinct, and cut
// at the end.
func altNames(r *model.Report) []string {
	seen, names := map[string]bool{}, make([]string, len(r.Candidates))
	for i, c := range r.Candidates {
		names[i] = label(words.Brief(c.Name, 40), i, 64, seen)
	}
	return names
}
