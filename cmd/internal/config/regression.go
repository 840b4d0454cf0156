package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/reports/compare"
)

// ruleFields are the numbers below regression: the largest value, the allowed values in
// words, and the field that stores it.
var ruleFields = []struct {
	key   string
	most  float64
	is    string
	value func(*compare.Rules) *float64
}{
	{"alpha", 0.49, "a level from 0.000001 to 0.49", func(r *compare.Rules) *float64 { return &r.Alpha }},
	{"max_drop", 1, "a share up to 1", func(r *compare.Rules) *float64 { return &r.MaxDrop }},
	{"max_invalid", 1, "a share up to 1", func(r *compare.Rules) *float64 { return &r.MaxInvalid }},
	{"detectable", 1, "a share up to 1", func(r *compare.Rules) *float64 { return &r.Detectable }},
	{"max_attack_success", 1, "a share up to 1", func(r *compare.Rules) *float64 { return &r.MaxAttackSuccess }},
	{"max_score_drop", 1000, "a loss of a mean score, such as 0.05", func(r *compare.Rules) *float64 { return &r.MaxScoreDrop }},
	{"max_steps", 1000, growth, func(r *compare.Rules) *float64 { return &r.MaxSteps }},
	{"max_cost", 1000, growth, func(r *compare.Rules) *float64 { return &r.MaxCost }},
	{"max_latency", 1000, growth, func(r *compare.Rules) *float64 { return &r.MaxLatency }},
}

// Rule is one number of a comparison's rules, 0 for none.
type Rule struct {
	// Key is that of regression in cupel.yaml.
	Key   string
	Value float64
}

// Rules lists the numbers of r in the order of cupel.yaml.
func Rules(r compare.Rules) (list []Rule) {
	for _, f := range ruleFields {
		list = append(list, Rule{f.key, *f.value(&r)})
	}
	return list
}

const (
	ruleKeys  = "alpha, max_drop, max_invalid, detectable, max_attack_success, max_score_drop, max_steps, max_cost, max_latency, on_unclear, changed, flaky"
	flakyKeys = "task, candidate, owner, expires, reason"
	growth    = "a share of the baseline, such as 0.1 for a tenth more"
	// minRule is the least number. maxFlaky bounds the entries of the known-flaky list,
	// maxFlakyText each text of an entry, in bytes.
	minRule                = 1e-6
	maxFlaky, maxFlakyText = 1000, 300
)

// changedWays are the values of changed and --changed.
var changedWays = []compare.Changed{compare.Refuse, compare.Skip, compare.Keep}

// ParseChanged reads the treatment of tasks that changed between two runs.
func ParseChanged(text string) (compare.Changed, error) {
	if c := compare.Changed(text); slices.Contains(changedWays, c) {
		return c, nil
	}
	return "", fmt.Errorf("%.60q must be refuse, skip or keep", text)
}

// parseOnUnclear reads how a gate treats the verdict "no significant regression".
func parseOnUnclear(text string) (compare.OnUnclear, error) {
	if u := compare.OnUnclear(text); u == compare.OnUnclearPass || u == compare.OnUnclearFail {
		return u, nil
	}
	return "", fmt.Errorf("%.60q must be pass or fail", text)
}

// loadRegression reads the rules of comparisons and the known-flaky list.
func (c *Config) loadRegression(node *yaml.Node) error {
	if node.IsZero() {
		return nil
	}
	var errs []error
	for _, p := range c.pairs(node, "regression", &errs) {
		var err error
		switch p.key.Value {
		case "changed":
			c.Regression.Changed, err = ParseChanged(scalarText(p.value))
		case "on_unclear":
			c.Regression.OnUnclear, err = parseOnUnclear(scalarText(p.value))
		case "flaky":
			c.loadFlaky(p, &errs)
		default:
			err = c.loadRule(p)
		}
		if err != nil {
			errs = append(errs, p.problem(err.Error()))
		}
	}
	return errors.Join(errs...)
}

// loadRule reads one number. It refuses 0, because that could mean the default.
func (c *Config) loadRule(p pair) error {
	for _, f := range ruleFields {
		if f.key != p.key.Value {
			continue
		}
		v, err := strconv.ParseFloat(scalarText(p.value), 64)
		if err != nil || !(v >= minRule && v <= f.most) {
			return fmt.Errorf("%.60q must be %s, and more than 0; remove it for the default", scalarText(p.value), f.is)
		}
		*f.value(&c.Regression) = v
		return nil
	}
	return errors.New("unknown field; allowed: " + ruleKeys)
}

// loadFlaky reads the known-flaky list.
func (c *Config) loadFlaky(p pair, errs *[]error) {
	list := resolved(p.value)
	if list.Kind != yaml.SequenceNode {
		*errs = append(*errs, p.problem("must be a list, not "+cmp.Or(kindOf(list), "empty")))
		return
	}
	if len(list.Content) > maxFlaky {
		*errs = append(*errs, p.problem(fmt.Sprintf("%d entries, more than %d", len(list.Content), maxFlaky)))
		return
	}
	for i, item := range list.Content {
		field := fmt.Sprintf("%s[%d]", p.field, i)
		found := len(*errs)
		k := c.flaky(item, field, errs)
		at := pair{file: c.File, field: field, key: resolved(item)}
		for _, old := range c.Regression.Flaky {
			if old.Task == k.Task && old.Candidate == k.Candidate && len(*errs) == found {
				*errs = append(*errs, at.problem(fmt.Sprintf("task %q is listed twice for the same candidate", k.Task)))
			}
		}
		c.Regression.Flaky = append(c.Regression.Flaky, k)
	}
}

// flaky reads one entry, which must name its owner and the day it expires.
func (c *Config) flaky(item *yaml.Node, field string, errs *[]error) (k compare.KnownFlaky) {
	fields := map[string]*string{"task": &k.Task, "candidate": &k.Candidate, "owner": &k.Owner, "expires": &k.Expires, "reason": &k.Reason}
	at := pair{file: c.File, field: field, key: resolved(item)}
	given, found := map[string]bool{}, len(*errs)
	for _, p := range c.pairs(item, field, errs) {
		to, text := fields[p.key.Value], scalarText(p.value)
		given[p.key.Value] = true
		switch {
		case to == nil:
			*errs = append(*errs, p.problem("unknown field; allowed: "+flakyKeys))
			continue
		case resolved(p.value).Kind != yaml.ScalarNode:
			*errs = append(*errs, p.problem("must be text, not "+text))
			continue
		case len(text) > maxFlakyText:
			*errs = append(*errs, p.problem(fmt.Sprintf("%d bytes, more than %d", len(text), maxFlakyText)))
			continue
		case strings.TrimSpace(text) == "":
			*errs = append(*errs, p.problem("is empty"))
			continue
		}
		if _, err := time.Parse(time.DateOnly, text); p.key.Value == "expires" && err != nil {
			*errs = append(*errs, p.problem(fmt.Sprintf("%.60q must be a date such as 2026-12-31: the last day on which the entry counts", text)))
			continue
		}
		*to = text
	}
	if resolved(item).Kind != yaml.MappingNode && len(*errs) > found {
		return k // said already
	}
	for _, name := range []string{"task", "owner", "expires"} {
		if !given[name] {
			*errs = append(*errs, at.problem(name+" is missing: an entry names its task, an owner and the day it expires"))
		}
	}
	return k
}
