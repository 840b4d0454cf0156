package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/viper"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
)

// limitField is one limit of a run or of a provider: its key in cupel.yaml, the function
// that reads its text, and the one that stores it.
type limitField struct {
	key   string
	read  func(text string) (int64, error)
	store func(*admission.Limits, int64)
}

// capFields are settings of a run; limitFields are the fields of a provider below limits.
var (
	capFields = []limitField{
		{"max_cost", dollars, func(l *admission.Limits, n int64) { l.CostNanoUSD = n }},
		{"max_tokens", whole, func(l *admission.Limits, n int64) { l.Tokens = n }},
		{"max_requests", whole, func(l *admission.Limits, n int64) { l.Requests = n }},
	}
	limitFields = []limitField{
		{"concurrency", few, func(l *admission.Limits, n int64) { l.Concurrency = int(n) }},
		{"requests_per_minute", whole, func(l *admission.Limits, n int64) { l.RequestsPerMinute = n }},
		{"tokens_per_minute", whole, func(l *admission.Limits, n int64) { l.TokensPerMinute = n }},
		{"max_cost_usd", dollars, capFields[0].store},
		{"max_tokens", whole, capFields[1].store},
		{"max_requests", whole, capFields[2].store},
	}
)

// errZero refuses 0, because it is ambiguous: nothing allowed, or no limit.
var errZero = errors.New("must be more than 0; remove it for no limit")

// dollars reads an amount of USD as nano-USD, exactly.
func dollars(text string) (int64, error) {
	n, err := price.ParseUSD(text)
	if err != nil {
		return 0, fmt.Errorf("%.60q must be an amount of USD such as 5 or 0.25, with at most 6 whole and 9 fractional digits", text)
	}
	if n == 0 {
		return 0, errZero
	}
	return n, nil
}

func whole(text string) (int64, error) { return wholeUpTo(text, 1e15) }

// few reads the largest number of requests in flight.
func few(text string) (int64, error) { return wholeUpTo(text, 10_000) }

func wholeUpTo(text string, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%.60q must be a whole number from 1 to %d", text, most)
	}
	if n == 0 {
		return 0, errZero
	}
	return n, nil
}

// loadCaps reads the caps of the run from the text of the file, because an amount of
// money must not become a float.
func (c *Config) loadCaps(v *viper.Viper, file fileConfig) error {
	var errs []error
	var l admission.Limits
	nodes := map[string]*yaml.Node{"max_cost": &file.MaxCost, "max_tokens": &file.MaxTokens, "max_requests": &file.MaxRequests}
	for _, f := range capFields {
		text, from := v.GetString(f.key), c.sources[f.key]
		where := fmt.Sprintf("%s (%s)", f.key, from)
		if from == c.File {
			text, where = scalarText(nodes[f.key]), fmt.Sprintf("%s:%d: %s", c.File, nodes[f.key].Line, f.key)
		}
		if c.values[f.key] = text; text == "" {
			continue
		}
		n, err := f.read(text)
		if err != nil {
			errs = append(errs, exit.Usage(fmt.Errorf("%s: %w", where, err)))
		}
		f.store(&l, n)
	}
	c.Caps = l.Caps
	return errors.Join(errs...)
}

// KeepCaps replaces the caps that no flag sets by those of an earlier command line.
func (c *Config) KeepCaps(earlier admission.Caps) {
	if !c.FromFlag("max_cost") {
		c.Caps.CostNanoUSD = earlier.CostNanoUSD
	}
	if !c.FromFlag("max_tokens") {
		c.Caps.Tokens = earlier.Tokens
	}
	if !c.FromFlag("max_requests") {
		c.Caps.Requests = earlier.Requests
	}
}

// CheckCaps refuses flags without effect. It accepts the file and the environment, which
// also apply to other runs.
func (c Config) CheckCaps() error {
	var errs []error
	for _, f := range capFields {
		if flag, ok := strings.CutPrefix(c.sources[f.key], "flag "); ok && (c.Mode == "" || c.Mode == string(recorder.Replay)) {
			errs = append(errs, exit.Usage(fmt.Errorf("%s has no effect in replay mode; remove it, or use --mode record or --mode live", flag)))
		}
	}
	return errors.Join(errs...)
}

// loadLimits reads the limits of single providers.
func (c *Config) loadLimits(node *yaml.Node, providers []string) error {
	if node.IsZero() {
		return nil
	}
	c.Limits = map[string]admission.Limits{}
	var errs []error
	for _, p := range c.pairs(node, "limits", &errs) {
		if !slices.Contains(providers, p.key.Value) {
			errs = append(errs, p.problem("unknown provider; known: "+strings.Join(slices.Sorted(slices.Values(providers)), ", ")))
			continue
		}
		var l admission.Limits
		for _, p := range c.pairs(p.value, p.field, &errs) {
			i := slices.IndexFunc(limitFields, func(f limitField) bool { return f.key == p.key.Value })
			if i < 0 {
				errs = append(errs, p.problem("unknown field; allowed: "+limitKeys()))
			} else if n, err := limitFields[i].read(scalarText(p.value)); err != nil {
				errs = append(errs, p.problem(err.Error()))
			} else {
				limitFields[i].store(&l, n)
			}
		}
		c.Limits[p.key.Value] = l
	}
	return errors.Join(errs...)
}

func limitKeys() string {
	var keys []string
	for _, f := range limitFields {
		keys = append(keys, f.key)
	}
	return strings.Join(keys, ", ")
}

// pair is a key and its value in the file. field is the path of the key.
type pair struct {
	file, field string
	key, value  *yaml.Node
}

func (p pair) problem(detail string) error {
	return exit.Usage(fmt.Errorf("%s:%d: %s: %s", p.file, p.key.Line, p.field, detail))
}

// pairs returns the pairs of a mapping. It adds an error for any other node.
func (c *Config) pairs(n *yaml.Node, field string, errs *[]error) []pair {
	var out []pair
	n = resolved(n)
	if n.Kind != yaml.MappingNode {
		*errs = append(*errs, pair{file: c.File, field: field, key: n}.problem("must be a mapping, not "+cmp.Or(kindOf(n), "empty")))
	}
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		out = append(out, pair{c.File, field + "." + n.Content[i].Value, n.Content[i], n.Content[i+1]})
	}
	return out
}

// scalarText returns the text of a scalar as written in the file, and the name of the kind
// of any other node.
func scalarText(n *yaml.Node) string {
	if n = resolved(n); n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return kindOf(n)
}

func kindOf(n *yaml.Node) string { return kinds[strings.TrimPrefix(n.ShortTag(), "!!")] }

func resolved(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
