package external

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	settings "github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/external/launch"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/gateway"
)

// Upstream is where the model requests of a candidate's agent go. It is safe for concurrent
// use.
type Upstream struct {
	// Provider and Model are the candidate's, Models those of its settings.
	Provider, Model string
	Models          map[string]settings.Model
	// Options are the settings of each provider's wire by its name, with its key except in a
	// replay.
	Options map[string]providers.Options
	// Rules say what of a request does not count when it is compared.
	Rules gateway.Rules
}

// minSecret is the least length of the secret in a stable URL, which other programs of the
// machine may try to guess.
const minSecret = 16

// signed is the provider whose requests without a key carry a signature of their content, which
// the agent's request would not have.
const signed = "bedrock"

// target is the model that a request asks.
type target struct{ provider, model string }

// resolve maps a model name of the agent, and returns the output limit of requests that have
// none; 0 means that there is none.
func (u *Upstream) resolve(name string) (target, int) {
	m, mapped := u.Models[name]
	if !mapped && u.Model != "" {
		m = u.Models[u.Model]
		m.Model = cmp.Or(m.Model, u.Model)
	}
	return target{cmp.Or(m.Provider, u.Provider), cmp.Or(m.Model, name)}, m.MaxOutput
}

// names reports that the settings name a model, so that the agent did not choose it.
func (u *Upstream) names(model string) bool {
	for name, m := range u.Models {
		if cmp.Or(m.Model, name) == model {
			return true
		}
	}
	return u.Model != ""
}

// NewUpstream resolves where the requests of a candidate go. An address, and what belongs to
// it, is that of the candidate's own provider only. key returns credentials, which are
// needed if live is set; lookup finds environment variables of an agent that is to be started,
// and its command must be there.
// The error joins every problem.
func NewUpstream(c goldens.Candidate, factories map[string]providers.Factory, key func(goldens.Candidate) (string, error), lookup func(string) (string, bool), live, start bool) (*Upstream, error) {
	u := &Upstream{Provider: c.Provider, Model: c.Model, Models: c.Models, Options: map[string]providers.Options{}}
	u.Rules.Ignore = c.Ignore
	for _, pattern := range c.Replace {
		u.Rules.Replace = append(u.Rules.Replace, regexp.MustCompile(pattern)) // checked with the candidate
	}
	names := []string{c.Provider}
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		if p := c.Models[name].Provider; p != "" {
			names = append(names, p)
		}
	}
	var errs []error
	if live || start {
		a, err := launch.New(c.Settings, launch.Options{Lookup: lookup})
		if err == nil && len(c.Exec.Command) > 0 { // a service may become ready later
			err = a.Ready(context.Background())
		}
		if name := c.Proxy.TokenEnv; err == nil && name != "" {
			value := ""
			if lookup != nil {
				value, _ = lookup(name)
			}
			if len(value) < minSecret {
				err = fmt.Errorf("proxy: %s is not set, or shorter than %d characters; set it to a secret of your own, such as 32 random letters, and use it in the agent's base URL", name, minSecret)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("candidate %s: %w", c.Name, err))
		}
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if factories[name] == nil {
			errs = append(errs, fmt.Errorf("candidate %s: models: unknown provider %q; known: %s", c.Name, name, strings.Join(drive.SortedKeys(factories), ", ")))
			continue
		}
		asked, secret := c, ""
		if name != c.Provider {
			asked.Provider, asked.BaseURL, asked.Region, asked.KeyEnv, asked.Headers, asked.Query = name, "", "", "", nil, nil
		}
		if live && key != nil {
			var err error
			if secret, err = key(asked); err != nil {
				errs = append(errs, fmt.Errorf("candidate %s: %w", c.Name, err))
			} else if name == signed && secret == "" {
				errs = append(errs, fmt.Errorf("candidate %s: requests of external agents to provider %s are not signed with AWS credentials; set AWS_BEARER_TOKEN_BEDROCK to a Bedrock API key", c.Name, name))
			}
		}
		u.Options[name] = drive.WireOptions(asked, secret, nil)
	}
	return u, errors.Join(errs...)
}

// CheckCaps says what of a candidate could pass a cap: a model without a price or, if tokens
// are reserved, one whose requests may lack an output limit. capsOn describes the cap on the
// cost of a provider, empty if there is none, and reports whether tokens are reserved.
func CheckCaps(c goldens.Candidate, capsOn func(provider string) (money string, tokens bool), priced func(provider, model string) bool) error {
	u := Upstream{Provider: c.Provider, Model: c.Model, Models: c.Models}
	names := slices.Sorted(maps.Keys(c.Models))
	if c.Model != "" {
		names = append(names, c.Model)
	} else if money, tokens := capsOn(c.Provider); tokens {
		return fmt.Errorf("candidate %s: under a spending cap (%s) the models of an external agent must be known; set model, which replaces every name that models does not map, and its max_output in models", c.Name, cmp.Or(money, "tokens are capped"))
	}
	for _, name := range names {
		to, limit := u.resolve(name)
		money, tokens := capsOn(to.provider)
		if tokens && limit == 0 {
			return fmt.Errorf("candidate %s: a spending cap needs an output limit of model %s, because agents rarely send one; set max_output of %s in models", c.Name, to.model, name)
		}
		if money != "" && !priced(to.provider, to.model) {
			return fmt.Errorf("candidate %s: %s, but the price table has no price of model %s of provider %s; add one or remove the cap", c.Name, money, to.model, to.provider)
		}
	}
	return nil
}

// Add says where the requests of a candidate go; u is nil if the candidate is not external.
// key and those of u, which are returned, are credentials that no agent gets. It is called
// before the first episode.
func (h *Hosts) Add(candidate, key string, u *Upstream) (keys []string) {
	if u != nil {
		if h.upstreams == nil {
			h.upstreams = map[string]*Upstream{}
		}
		h.upstreams[candidate] = u
		for _, o := range u.Options {
			keys = append(keys, o.Key)
		}
	}
	for _, k := range append(keys, key) {
		if k != "" {
			h.Launch.Keys = append(h.Launch.Keys, k)
		}
	}
	return keys
}
