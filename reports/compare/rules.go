package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/reports/stat"
)

// Rules are how a comparison is judged: section regression of cupel.yaml. The
// zero value of a field means its default, which Resolved fills in.
type Rules struct {
	// Alpha is the chance of calling a regression where there is none, over all
	// gating metrics and pairs together, one-sided; default 0.05. It is also the
	// chance of ruling a loss out that is just as large as its margin.
	Alpha float64 `json:"alpha"`
	// MaxDrop is the tolerated loss of solved tasks, as a share; default 0.05.
	// MaxInvalid is the same for contract-valid outputs; default 0.08, which 50
	// tasks of three trials can rule out.
	MaxDrop    float64 `json:"max_drop"`
	MaxInvalid float64 `json:"max_invalid"`
	// MaxSteps, MaxCost and MaxLatency make these gating metrics, too, if they are set:
	// the tolerated growth, as a share of the baseline.
	MaxSteps   float64 `json:"max_steps,omitempty"`
	MaxCost    float64 `json:"max_cost,omitempty"`
	MaxLatency float64 `json:"max_latency,omitempty"`
	// MaxAttackSuccess makes the share of attacks that succeeded a gating metric, MaxScoreDrop the
	// mean of each score of programs and judges, if they are set: the tolerated rise as a share,
	// and the tolerated loss in the score's own unit.
	MaxAttackSuccess float64 `json:"max_attack_success,omitempty"`
	MaxScoreDrop     float64 `json:"max_score_drop,omitempty"`
	// Detectable is the loss of solved episodes and of contract-valid outputs, as a
	// share, that the data must have been able to detect with 80 % power for the verdict
	// stat.NoRegression; default 0.1. For the metrics whose growth gates it is their
	// tolerated growth.
	Detectable float64 `json:"detectable"`
	// OnUnclear says what a gate makes of stat.NoRegression: OnUnclearPass, the default,
	// or OnUnclearFail.
	OnUnclear OnUnclear `json:"on_unclear"`
	// Changed says what to do with tasks whose checks or world differ.
	Changed Changed `json:"changed"`
	// Flaky is the known-flaky list.
	Flaky []KnownFlaky `json:"known_flaky,omitempty"`
	// Today decides which entries of it have expired.
	Today time.Time `json:"today"`
}

// Changed is what to do with tasks that are not the same task any more.
type Changed string

// The ways to treat changed tasks.
const (
	// Refuse is the default: no comparison.
	Refuse Changed = "refuse"
	// Skip leaves them out.
	Skip Changed = "skip"
	// Keep compares them anyway.
	Keep Changed = "keep"
)

// OnUnclear is what a gate makes of a comparison that shows no significant regression
// and rules no loss of the margin out.
type OnUnclear string

// The ways to treat it.
const (
	// OnUnclearPass accepts.
	OnUnclearPass OnUnclear = "pass"
	// OnUnclearFail treats it as inconclusive.
	OnUnclearFail OnUnclear = "fail"
)

// Resolved returns r with its defaults filled in, and with its expired entries of
// known-flaky tasks marked. It does not change r.
func (r Rules) Resolved() Rules {
	for _, d := range []struct {
		value    *float64
		fallback float64
	}{{&r.Alpha, 0.05}, {&r.MaxDrop, 0.05}, {&r.MaxInvalid, 0.08}, {&r.Detectable, 0.1}} {
		*d.value = cmp.Or(*d.value, d.fallback)
	}
	r.Changed, r.OnUnclear = cmp.Or(r.Changed, Refuse), cmp.Or(r.OnUnclear, OnUnclearPass)
	r.Flaky = slices.Clone(r.Flaky)
	for i := range r.Flaky {
		r.Flaky[i].Expired = r.Today.Format(time.DateOnly) > r.Flaky[i].Expires
	}
	return r
}

// Validate joins one error per bad field, with its value and what is allowed.
// Zero values are fine: they stand for the defaults.
func (r Rules) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("regression: "+format, args...)) }
	if !(r.Alpha >= 0 && r.Alpha < 0.5) || (r.Alpha > 0 && r.Alpha < 1e-6) {
		bad("alpha is %v, must be a level from 0.000001 to below 0.5 (0 means the default 0.05)", r.Alpha)
	}
	if !(r.MaxScoreDrop >= 0 && r.MaxScoreDrop <= 1000) {
		bad("max_score_drop is %v, must be a loss of a mean score from 0 to 1000 (0 means not gated)", r.MaxScoreDrop)
	}
	for _, s := range []struct {
		name     string
		value    float64
		fallback string
		growth   bool
	}{
		{"max_drop", r.MaxDrop, "the default 0.05", false}, {"max_invalid", r.MaxInvalid, "the default 0.08", false}, {"detectable", r.Detectable, "the default 0.1", false}, {"max_attack_success", r.MaxAttackSuccess, "not gated", false},
		{"max_steps", r.MaxSteps, "not gated", true}, {"max_cost", r.MaxCost, "not gated", true}, {"max_latency", r.MaxLatency, "not gated", true},
	} {
		switch {
		case s.growth && !(s.value >= 0 && s.value <= 1000):
			bad("%s is %v, must be a growth from 0 to 1000, 0.2 for a fifth more (0 means %s)", s.name, s.value, s.fallback)
		case !s.growth && !(s.value >= 0 && s.value <= 1):
			bad("%s is %v, must be a share from 0 to 1 (0 means %s)", s.name, s.value, s.fallback)
		}
	}
	if !slices.Contains([]Changed{"", Refuse, Skip, Keep}, r.Changed) {
		bad("changed is %q, must be refuse, skip or keep (empty means refuse)", r.Changed)
	}
	if !slices.Contains([]OnUnclear{"", OnUnclearPass, OnUnclearFail}, r.OnUnclear) {
		bad("on_unclear is %q, must be pass or fail (empty means pass)", r.OnUnclear)
	}
	for i, f := range r.Flaky {
		if f.Task == "" {
			bad("known_flaky[%d]: task is missing; name the task", i)
		}
		if f.Owner == "" {
			bad("known_flaky[%d] (%s): owner is missing; name who looks after it", i, f.Task)
		}
		if _, err := time.Parse(time.DateOnly, f.Expires); err != nil {
			bad("known_flaky[%d] (%s): expires is %q, must be a date such as 2026-12-31", i, f.Task, f.Expires)
		}
	}
	if len(r.Flaky) > 0 && r.Today.IsZero() {
		bad("the day of the comparison is not known, which the known-flaky list needs")
	}
	return errors.Join(errs...)
}

// Gate is what a gate makes of a verdict: by OnUnclear stat.NoRegression counts as
// stat.Pass or as stat.Inconclusive. Every other verdict stays what it is.
func (r Rules) Gate(v stat.Verdict) stat.Verdict {
	switch {
	case v != stat.NoRegression:
		return v
	case r.OnUnclear == OnUnclearFail:
		return stat.Inconclusive
	}
	return stat.Pass
}

// growth is the gate of a metric whose margin is a share of the baseline; 0 for none.
func (r Rules) growth(name string) float64 {
	switch name {
	case "steps":
		return r.MaxSteps
	case "cost":
		return r.MaxCost
	case "latency":
		return r.MaxLatency
	}
	return 0
}

// drop is the gate of a share or a mean score; NaN for none.
func (r Rules) drop(def *measure) float64 {
	drop := map[string]float64{"solved": r.MaxDrop, contractValid: r.MaxInvalid, attackSuccess: r.MaxAttackSuccess}[def.name]
	if def.unit == unitScore {
		drop = r.MaxScoreDrop
	}
	if drop == 0 {
		return math.NaN()
	}
	return drop
}

// known is the entry of the list for a task of a pair, nil without one.
func (r Rules) known(task string, names Names) *KnownFlaky {
	for i := range r.Flaky {
		f := &r.Flaky[i]
		if f.Task == task && (f.Candidate == "" || f.Candidate == names.Baseline || f.Candidate == names.New) {
			return new(*f)
		}
	}
	return nil
}
