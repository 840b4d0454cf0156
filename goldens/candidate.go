package goldens

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// maxTokensCap and maxTemperature bound what a candidate may ask for.
const (
	maxTokensCap   = 1_000_000
	maxTemperature = 2
)

// Validate reports everything that is wrong with a candidate, by field name: a
// name that cannot be a folder, a missing provider or model, a base URL that is
// none, a number out of range.
func (c Candidate) Validate() error {
	var errs []error
	c.Faults(func(field, detail string) { errs = append(errs, fmt.Errorf("%s: %s", field, detail)) })
	return errors.Join(errs...)
}

// Faults reports what is wrong with each field, in field order.
func (c Candidate) Faults(report func(field, detail string)) {
	add := func(field, detail string) {
		if detail != "" {
			report(field, detail)
		}
	}
	for _, f := range []struct{ name, value string }{{"name", c.Name}, {"provider", c.Provider}, {"model", c.Model}} {
		if strings.TrimSpace(f.value) == "" && (f.name != "model" || c.Agent != strategy.External) {
			add(f.name, "is missing")
		}
	}
	add("name", yamlfile.LowerName.Fault(c.Name))
	if c.BaseURL != "" {
		u, err := url.Parse(c.BaseURL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
			add("base_url", "must be an http or https address without a user name")
		}
	}
	if c.KeyEnv != "" && !yamlfile.EnvName.MatchString(c.KeyEnv) {
		add("key_env", "must be the name of an environment variable, never the key itself")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		switch {
		case !yamlfile.HeaderName.MatchString(name):
			add("headers", fmt.Sprintf("%.80q is not a valid header name", name))
		case yamlfile.SecretName.MatchString(name):
			add("headers", name+" would contain a credential; name its environment variable with key_env instead")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Query)) {
		if yamlfile.SecretName.MatchString(name) {
			add("query", name+" would contain a credential; name its environment variable with key_env instead")
		}
	}
	if _, err := json.Marshal(c.Body); err != nil {
		add("body", "cannot be written as JSON")
	}
	if c.RescueOnContradiction && c.Rescue == "" {
		add("rescue_on_contradiction", "needs a rescue model to ask")
	}
	if c.MaxTokens != nil && (*c.MaxTokens < 1 || *c.MaxTokens > maxTokensCap) {
		add("max_tokens", fmt.Sprintf("must be from 1 to %d, but is %d", maxTokensCap, *c.MaxTokens))
	}
	if t := c.Temperature; t != nil && !(*t >= 0 && *t <= maxTemperature) {
		add("temperature", fmt.Sprintf("must be a number from 0 to %d, but is %v", maxTemperature, *t))
	}
	c.agentFaults(add)
}
