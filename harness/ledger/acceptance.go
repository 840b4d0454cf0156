package ledger

import (
	"errors"
	"fmt"
	"math"
)

// Acceptance are the thresholds in force when the run was made. The zero value
// of a field means its default, which Resolved fills in.
type Acceptance struct {
	// MinValid is the least share of contract-valid first outputs, default 0.95.
	MinValid float64 `json:"min_valid"`
	// MaxClarifies is the most clarifies per successful task, default 1.
	MaxClarifies float64 `json:"max_clarifies"`
	// MaxSteps is the most steps per solved task, default 5.
	MaxSteps float64 `json:"max_steps"`
	// MinWithin is the least share of solved episodes within MaxSteps, default 0.95.
	MinWithin float64 `json:"min_within"`
	// Confidence is the level of the intervals, default 0.95.
	Confidence float64 `json:"confidence"`
	// MaxInfra is the largest share of a candidate's planned episodes that may be
	// lost to infrastructure and harness errors: with more lost there is no
	// verdict. Default 0.05.
	MaxInfra float64 `json:"max_infra"`
	// Rule is "bound" (the default: the whole interval must be on the right
	// side to pass, on the wrong side to fail, otherwise inconclusive) or
	// "point" (the estimate decides; no data is still inconclusive).
	Rule string `json:"rule"`
	// Criteria are the user's own, beside the built-in ones.
	Criteria []OwnCriterion `json:"criteria,omitempty"`
}

// threshold is one number of Acceptance: its name in cupel.yaml, its default and
// the largest value allowed.
type threshold struct {
	name     string
	value    *float64
	fallback float64
	most     float64
}

func (a *Acceptance) thresholds() []threshold {
	return []threshold{
		{"min_valid", &a.MinValid, 0.95, 1},
		{"max_clarifies", &a.MaxClarifies, 1, math.MaxFloat64},
		{"max_steps", &a.MaxSteps, 5, math.MaxFloat64},
		{"min_within", &a.MinWithin, 0.95, 1},
		{"confidence", &a.Confidence, 0.95, math.Nextafter(1, 0)},
		{"max_infra", &a.MaxInfra, 0.05, 1},
	}
}

// Resolved returns a with its defaults filled in.
func (a Acceptance) Resolved() Acceptance {
	for _, t := range a.thresholds() {
		if *t.value == 0 {
			*t.value = t.fallback
		}
	}
	if a.Rule == "" {
		a.Rule = "bound"
	}
	return a
}

// Validate joins one error per bad field, with its value and what is allowed.
// Zero values are fine: they stand for the defaults.
func (a Acceptance) Validate() error {
	var errs []error
	for _, t := range a.thresholds() {
		if v := *t.value; v >= 0 && v <= t.most {
			continue
		}
		allowed := "a finite number from 0 up"
		switch {
		case t.most == 1:
			allowed = "a share from 0 to 1"
		case t.most < 1:
			allowed = "a level below 1"
		}
		errs = append(errs, fmt.Errorf("acceptance: %s is %v, must be %s (0 means the default %v)", t.name, *t.value, allowed, t.fallback))
	}
	if a.Rule != "" && a.Rule != "bound" && a.Rule != "point" {
		errs = append(errs, fmt.Errorf("acceptance: rule is %q, must be bound or point (empty means bound)", a.Rule))
	}
	return errors.Join(append(errs, validateOwn(a.Criteria))...)
}
