package config

import (
	"cmp"
	"errors"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/expr"
)

// loadCriteria reads the custom criteria and checks them against the ledger's schema.
func (c *Config) loadCriteria(node *yaml.Node) error {
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
		x, err := expr.ParseCriterion(own.Expr)
		switch at := (pair{file: c.File, field: field + ".expr", key: at}); {
		case err != nil:
			errs = append(errs, at.problem(err.Error()))
		case (own.Rule == "lower" || own.Rule == "upper") && own.Rule != x.PessimisticEnd():
			at.field = field + ".rule"
			errs = append(errs, at.problem(own.Rule+" is the optimistic end of the interval, so it would pass on too little data; use bound or "+x.PessimisticEnd()))
		}
	}
	if errs == nil {
		if err := c.Acceptance.Validate(); err != nil {
			errs = append(errs, exit.Usage(fmt.Errorf("%s:%d: %w", c.File, list.Line, err)))
		}
	}
	return errors.Join(errs...)
}

// criterion reads one custom criterion. at is the node of its expression.
func (c *Config) criterion(item *yaml.Node, field string, errs *[]error) (own manifest.Criterion, at *yaml.Node) {
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
