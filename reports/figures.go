package reports

import "strings"

// Names of the plots.
const (
	figValidity    = "validity"
	figSteps       = "steps"
	figCost        = "cost"
	figRates       = "rates"
	figLatency     = "latency"
	figCalibration = "calibration"
	figTrend       = "trend"
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
		{figLatency, (*Report).latencyTitle, (*Report).latencyAlt, theme.latency},
		{figSteps, (*Report).stepsTitle, (*Report).stepsAlt, theme.steps},
		{figRates, (*Report).ratesTitle, (*Report).ratesAlt, theme.rates},
		{figCost, (*Report).costTitle, (*Report).costAlt, theme.costs},
		{figCalibration, (*Report).calibrationTitle, (*Report).calibrationAlt, theme.calibration},
		{figTrend, (*Report).trendTitle, (*Report).trendAlt, theme.trend},
	}
}

// addFigures names the plots and says what they show.
func (r *Report) addFigures() {
	r.Figures = nil
	for _, f := range figures() {
		if title := f.title(r); title != "" {
			r.Figures = append(r.Figures, Figure{f.name, title, f.alt(r)})
		}
	}
}

// alt lists a value for each candidate that has one.
func (r *Report) alt(what string, of func(Candidate) string) string {
	var parts []string
	for _, c := range r.Candidates {
		if v := of(c); v != "" {
			parts = append(parts, brief(c.Name, 40)+" "+v)
		}
	}
	if len(parts) == 0 {
		return what + ": no data."
	}
	return what + ": " + strings.Join(parts, "; ") + "."
}
