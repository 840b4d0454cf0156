package reports

import (
	"fmt"
	"strings"
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

// figure is one kind of plot. A plot without a title is left out; draw returns a
// drawing without paint where there is nothing to draw.
type figure struct {
	name       string
	title, alt func(*Report) string
	draw       func(theme, Report) drawing
}

// figures are all plots, in the order shown. A new one is a row here and a file
// plot_<name>.go with its title, its text alternative and its drawing.
func figures() []figure {
	return []figure{
		{figValidity, (*Report).validityTitle, (*Report).validityAlt, theme.validity},
		{figTasks, (*Report).tasksTitle, (*Report).tasksAlt, theme.tasks},
		{figCost, (*Report).costTitle, (*Report).costAlt, theme.costs},
		{figStrategies, (*Report).strategiesTitle, (*Report).strategiesAlt, theme.strategies},
		{figSteps, (*Report).stepsTitle, (*Report).stepsAlt, theme.steps},
		{figLatency, (*Report).latencyTitle, (*Report).latencyAlt, theme.latency},
		{figTTFT, (*Report).ttftTitle, (*Report).ttftAlt, theme.ttft},
		{figTokens, (*Report).tokensTitle, (*Report).tokensAlt, theme.tokens},
		{figRates, (*Report).ratesTitle, (*Report).ratesAlt, theme.rates},
		{figViolations, (*Report).violationsTitle, (*Report).violationsAlt, theme.breaches},
		{figCalibration, (*Report).calibrationTitle, (*Report).calibrationAlt, theme.calibration},
		{figTrend, (*Report).trendTitle, (*Report).trendAlt, theme.trend},
	}
}

// figuresOf names the plots of a report and says what they show.
func figuresOf(r *Report) (list []Figure) {
	for _, f := range figures() {
		if title := f.title(r); title != "" {
			list = append(list, Figure{f.name, title, f.alt(r)})
		}
	}
	return list
}

// Bounds of text alternatives: candidates named, and letters said of each.
const (
	altCandidates = 32
	altLetters    = 400
)

// alt lists a value for each candidate that has one.
func (r *Report) alt(what string, of func(Candidate) string) string {
	var parts []string
	names := r.altNames()
	for i, c := range r.Candidates {
		if v := of(c); v != "" {
			parts = append(parts, names[i]+" "+clip(v, altLetters))
		}
	}
	if more := len(parts) - altCandidates; more > 0 {
		parts = append(parts[:altCandidates], fmt.Sprintf("and %d more", more))
	}
	if len(parts) == 0 {
		return what + ": no data."
	}
	return what + ": " + strings.Join(parts, "; ") + "."
}

// altNames are the names of the candidates in text alternatives: distinct, and cut
// at the end.
func (r *Report) altNames() []string {
	seen, names := map[string]bool{}, make([]string, len(r.Candidates))
	for i, c := range r.Candidates {
		names[i] = label(brief(c.Name, 40), i, 64, seen)
	}
	return names
}
