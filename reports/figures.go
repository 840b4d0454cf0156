package reports

import (
	"fmt"
	"math"
	"strings"
)

// Names of the plots.
const (
	figValidity    = "validity"
	figSteps       = "steps"
	figCost        = "cost"
	figRates       = "rates"
	figLatency     = "latency"
	figCalibration = "calibration"
)

// addFigures names the plots and says what they show.
func (r *Report) addFigures() {
	r.Figures = []Figure{
		{figValidity, r.validityTitle(), r.alt("Contract-valid first outputs", func(c Candidate) string {
			for _, k := range c.Criteria {
				if k.Name == "valid_json" && k.Value != nil {
					return fmt.Sprintf("%s (%s)", k.value(), k.interval())
				}
			}
			return ""
		})},
		{figLatency, r.latencyTitle(), r.alt("Turn latency, median and 95th percentile", func(c Candidate) string {
			if c.Latency == nil {
				return ""
			}
			return c.Latency.median() + " and " + c.Latency.tail()
		})},
		{figSteps, r.stepsTitle(), r.alt("Episodes solved in how many steps", func(c Candidate) string {
			var parts []string
			for _, s := range c.Steps {
				parts = append(parts, fmt.Sprintf("%d in %d", s.N, s.Value))
			}
			return strings.Join(parts, ", ")
		})},
		{figRates, r.ratesTitle(), r.alt("Episodes with thrash and with a stall", func(c Candidate) string {
			if c.Thrash.Value == nil {
				return ""
			}
			return c.Thrash.rate() + " and " + c.Stall.rate()
		})},
		{figCost, r.costTitle(), r.alt("Cost per solved task and share solved", func(c Candidate) string {
			if c.Success.Value == nil {
				return ""
			}
			return dollarsOf(c.CostPerSolved) + " and " + c.Success.rate()
		})},
		{figCalibration, r.calibrationTitle(), r.alt("Brier score of stated confidence", func(c Candidate) string {
			if c.Brier == nil {
				return ""
			}
			return fmt.Sprintf("%.3f", *c.Brier)
		})},
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

func (r *Report) validityTitle() string {
	clear, judged, threshold := 0, 0, percent(r.Run.Acceptance.MinValid)
	for _, c := range r.Candidates {
		for _, k := range c.Criteria {
			if k.Name == "valid_json" {
				judged++
				if k.Verdict == Pass {
					clear++
				}
			}
		}
	}
	switch {
	case judged == 0:
		return "Nobody's contract validity was judged"
	case clear == 0:
		return fmt.Sprintf("No candidate is shown to keep the contract in %s of turns", threshold)
	}
	return upperFirst(of(clear, judged, "keeps", "keep")) + fmt.Sprintf(" the contract in %s of turns", threshold)
}

func (r *Report) stepsTitle() string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range r.Candidates {
		sum, n := 0, 0
		for _, s := range c.Steps {
			sum, n = sum+s.Value*s.N, n+s.N
		}
		if n > 0 {
			m := float64(sum) / float64(n)
			low, high = min(low, m), max(high, m)
		}
	}
	limit := number(r.Run.Acceptance.MaxSteps)
	switch {
	case low > high:
		return "No task was solved"
	case trimmed(low, 1) == trimmed(high, 1):
		return fmt.Sprintf("Solved tasks take %s steps on average, limit %s", trimmed(low, 1), limit)
	}
	return fmt.Sprintf("Solved tasks take %s to %s steps on average, limit %s", trimmed(low, 1), trimmed(high, 1), limit)
}

func (r *Report) costTitle() string {
	var best, cheapest *Candidate
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if c.CostPerSolved == nil {
			continue
		}
		if best == nil || *c.Success.Value > *best.Success.Value {
			best = c
		}
		if cheapest == nil || *c.CostPerSolved < *cheapest.CostPerSolved {
			cheapest = c
		}
	}
	switch {
	case best == nil:
		return "No cost per solved task is known"
	case *cheapest.CostPerSolved == 0:
		return "Cost against success"
	case best == cheapest && len(r.Candidates) == 1:
		return fmt.Sprintf("A solved task costs %s", dollarsOf(best.CostPerSolved))
	case best == cheapest:
		return brief(best.Name, 30) + " solves most and is cheapest"
	}
	return fmt.Sprintf("%s solves most, %s is cheapest", brief(best.Name, 24), brief(cheapest.Name, 24))
}

func (r *Report) ratesTitle() string {
	thrash, stall, any := 0.0, 0.0, false
	for _, c := range r.Candidates {
		if c.Thrash.Value != nil {
			thrash, stall, any = max(thrash, *c.Thrash.Value), max(stall, *c.Stall.Value), true
		}
	}
	switch {
	case !any:
		return "No episode was scored"
	case thrash == 0 && stall == 0:
		return "No episode thrashed or stalled"
	}
	return fmt.Sprintf("At worst %s of episodes thrash and %s stall", percent(thrash), percent(stall))
}

func (r *Report) latencyTitle() string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range r.Candidates {
		if c.Latency != nil {
			low, high = min(low, c.Latency.P50), max(high, c.Latency.P50)
		}
	}
	switch {
	case low > high:
		return "No turn was timed"
	case duration(low) == duration(high):
		return "The median turn takes " + duration(low)
	}
	return fmt.Sprintf("The median turn takes %s to %s", duration(low), duration(high))
}

func (r *Report) calibrationTitle() string {
	over, n := 0, 0
	for _, c := range r.Candidates {
		stated, came, size := 0.0, 0.0, 0
		for _, b := range c.Calibration {
			stated, came, size = stated+b.Stated*float64(b.N), came+b.Came*float64(b.N), size+b.N
		}
		if size == 0 {
			continue
		}
		n++
		if stated > came {
			over++
		}
	}
	switch {
	case n == 0:
		return "No candidate stated a confidence"
	case over == 0:
		return "No candidate claims more confidence than it earns"
	}
	return upperFirst(of(over, n, "claims", "claim")) + " more confidence than earned"
}
