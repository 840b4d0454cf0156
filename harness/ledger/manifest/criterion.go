package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Criterion is a custom criterion on columns of the ledger.
type Criterion struct {
	// Name has at most 40 characters of a–z, 0–9, - and _, and is not that of a built-in
	// criterion.
	Name string `json:"name"`
	// Expr is an expression of package expr, such as p95(elapsed_us) <= 4s.
	Expr string `json:"expr"`
	// Rule is bound, lower or upper; empty means bound. With bound the whole interval decides,
	// and one that contains the threshold is inconclusive. With lower, the lower end decides,
	// for a least value; with upper, the upper end, for a greatest value.
	Rule string `json:"rule,omitempty"`
	// Per is candidate or provider_model; empty means candidate. With provider_model, the
	// candidates with the same provider and model are judged together.
	Per string `json:"per,omitempty"`
}

const (
	maxOwnCriteria = 64
	maxOwnName     = 40
	maxOwnExpr     = 4 << 10
)

// builtinCriteria are the names of the built-in criteria.
var builtinCriteria = []string{"solved", "valid_json", "clarifies_per_success", "steps_per_solved", "within_steps", "harm", "utility_under_attack", "attack_success"}

// validateOwn checks custom criteria. Of their expressions it checks only the length, because
// package expr is not imported here.
func validateOwn(list []Criterion) error {
	if len(list) > maxOwnCriteria {
		return fmt.Errorf("acceptance: %d custom criteria, more than %d", len(list), maxOwnCriteria)
	}
	var errs []error
	seen := map[string]bool{}
	for i, c := range list {
		if err := c.validate(); err != nil {
			errs = append(errs, fmt.Errorf("acceptance: criterion %d: %w", i+1, err))
		} else if seen[c.Name] {
			errs = append(errs, fmt.Errorf("acceptance: criterion %d: the name %q is taken", i+1, c.Name))
		}
		seen[c.Name] = true
	}
	return errors.Join(errs...)
}

func (c Criterion) validate() error {
	switch {
	case c.Name == "" || len(c.Name) > maxOwnName || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "":
		return fmt.Errorf("name is %.60q, must be 1 to %d characters of a-z, 0-9, - and _", c.Name, maxOwnName)
	case slices.Contains(builtinCriteria, c.Name):
		return fmt.Errorf("name %q is that of a built-in criterion", c.Name)
	case strings.TrimSpace(c.Expr) == "" || len(c.Expr) > maxOwnExpr:
		return fmt.Errorf("%s: expr has %d bytes, must have 1 to %d", c.Name, len(c.Expr), maxOwnExpr)
	case c.Rule == "point":
		return fmt.Errorf("%s: rule point was removed, because an estimate from too little data must not pass; use bound, lower or upper", c.Name)
	case !slices.Contains([]string{"", "bound", "lower", "upper"}, c.Rule):
		return fmt.Errorf("%s: rule is %.60q, must be bound, lower or upper (empty means bound)", c.Name, c.Rule)
	case !slices.Contains([]string{"", "candidate", "provider_model"}, c.Per):
		return fmt.Errorf("%s: per is %.60q, must be candidate (or empty) or provider_model", c.Name, c.Per)
	}
	return nil
}
