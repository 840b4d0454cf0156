package main

import (
	"cmp"
	"errors"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/expr"
)

// loadCriteria reads the criteria of the user's own and checks them against the
// ledger's schema.
func (c *config) loadCriteria(node *yaml.Node) error {
	if node.IsZero() {
		return nil
	}
	list := resolved(node)
	if list.Kind != yaml.SequenceNode {
		return pair{file: c.File, field: "criteria", key: list}.problem("must be a list, not " + cmp.Or(kindOf(list), "empty"))
	}
	var errs []error
	for i, item := range list.Content {
		field := fmt.Sprintf("criteria[%d]", i)
		own, at := c.criterion(item, field, &errs)
		c.Acceptance.Criteria = append(c.Acceptance.Criteria, own)
		if own.Expr == "" {
			continue
		}
		if _, err := expr.ParseCriterion(own.Expr); err != nil {
			errs = append(errs, pair{file: c.File, field: field + ".expr", key: at}.problem(err.Error()))
		}
	}
	if errs == nil {
		if err := c.Acceptance.Validate(); err != nil {
			errs = append(errs, usage(fmt.Errorf("%s:%d: %w", c.File, list.Line, err)))
		}
	}
	return errors.Join(errs...)
}

// criterion reads one, and where its expression is.
func (c *config) criterion(item *yaml.Node, field string, errs *[]error) (own ledger.OwnCriterion, at *yaml.Node) {
	fields := map[string]*string{"name": &own.Name, "expr": &own.Expr, "rule": &own.Rule, "per": &own.Per}
	for _, p := range c.pairs(item, field, errs) {
		to := fields[p.key.Value]
		if to == nil {
			*errs = append(*errs, p.problem("unknown field; allowed: name, expr, rule, per"))
			continue
		}
		*to = scalarText(p.value)
		if p.key.Value == "expr" {
			at = p.value
		}
	}
	return own, at
}
