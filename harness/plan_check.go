package harness

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/external"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// modePrompt is the output mode that every wire has: plain text.
const modePrompt = "prompt"

// checkMode rejects an output mode that the candidate's wire lacks.
func (c resolvedCandidate) checkMode() error {
	has, err := modesOf(c.factory, c.Candidate)
	if err != nil || slices.Contains(has, c.Mode) {
		return err
	}
	return fmt.Errorf("provider %s has no output mode %s; it has: %s", c.Provider, c.Mode, strings.Join(has, ", "))
}

// Modes returns the output modes of a candidate's wire, prompt first, in a fresh slice. It
// fails if the provider is unknown or its settings are unusable.
func Modes(factories map[string]providers.Factory, c goldens.Candidate) ([]string, error) {
	factory, ok := factories[c.Provider]
	if !ok {
		return nil, fmt.Errorf("unknown provider %q", c.Provider)
	}
	return modesOf(factory, c)
}

// modesOf creates the wire's model once, without network access.
func modesOf(factory providers.Factory, c goldens.Candidate) ([]string, error) {
	model, err := factory(drive.WireOptions(c, "", &http.Client{Transport: noNetwork{}}))
	if err != nil {
		return nil, err
	}
	has := []string{modePrompt}
	if f, ok := model.(providers.Formatter); ok {
		for _, m := range f.Modes() {
			has = append(has, string(m))
		}
	}
	return has, nil
}

// noNetwork rejects every request.
type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("harness: a plan makes no requests")
}

// checkEpisode rejects an episode that cannot run as configured: if the profile or mode
// cannot show a tool, or if a model without a price has a cap on its cost, which would end
// every such episode after its first turn.
func checkEpisode(o Options, p drive.Planned) error {
	if err := checkHelpers(o, p.Task); err != nil {
		return err
	}
	if _, err := agent.New(p.Candidate.Agent, p.Params, p.Strategies); err != nil {
		return fmt.Errorf("candidate %s, task %s: %w", p.Candidate.Name, p.Task.ID, err)
	}
	if p.Candidate.Provider == episode.ScriptedCandidate {
		return nil
	}
	if p.Candidate.Agent == strategy.External {
		return checkForeign(o, p)
	}
	if err := o.Batch.CheckPrices(o.Prices, planDay(o), "candidate "+p.Candidate.Name, p.Candidate.Provider, drive.ModelsOf(p.Candidate)...); err != nil {
		return err
	}
	cap, tokens := capsOn(o, p.Candidate.Provider)
	if tokens && p.Params.MaxTokens == 0 {
		return fmt.Errorf("candidate %s: a spending cap needs max_tokens to compute the worst case; set it on the candidate or in the policy", p.Candidate.Name)
	}
	if name := lengthens(p.Candidate.Body); tokens && name != "" {
		return fmt.Errorf("candidate %s: its body sets %s, so the worst case under a spending cap is unknown; use max_tokens of the candidate", p.Candidate.Name, name)
	}
	if p.Params.Budgets.MaxCostNanoUSD > 0 {
		cap = "tasks cap its cost by max_cost_usd"
	}
	if cap == "" {
		return nil
	}
	for _, model := range drive.ModelsOf(p.Candidate) {
		if _, ok := o.Prices.Lookup(p.Candidate.Provider, model, planDay(o)); !ok {
			return fmt.Errorf("candidate %s: %s, but the price table has no price of model %s of provider %s; add one or remove the cap",
				p.Candidate.Name, cap, model, p.Candidate.Provider)
		}
	}
	return nil
}

// checkHelpers rejects a task whose helpers cannot be asked, or not within the run's caps.
func checkHelpers(o Options, t goldens.Task) error {
	for _, h := range t.Helpers() {
		m := goldens.Candidate{Name: h.Model.Name}.Asking(h.Model)
		who := fmt.Sprintf("task %s: %s %s", t.ID, h.Role, m.Name)
		factory, ok := o.Providers[m.Provider]
		if !ok {
			return fmt.Errorf("%s: unknown provider %q; known: %s", who, m.Provider, strings.Join(drive.SortedKeys(o.Providers), ", "))
		}
		m.Mode = cmp.Or(m.Mode, modePrompt)
		if err := (resolvedCandidate{Candidate: m, factory: factory}).checkMode(); err != nil {
			return fmt.Errorf("%s: %w", who, err)
		}
		if err := o.Batch.CheckPrices(o.Prices, planDay(o), who, m.Provider, m.Model); err != nil {
			return err
		}
		money, tokens := capsOn(o, m.Provider)
		if name := lengthens(m.Body); tokens && name != "" {
			return fmt.Errorf("%s: its body sets %s, so the worst case under a spending cap is unknown; use max_tokens", who, name)
		}
		if _, priced := o.Prices.Lookup(m.Provider, m.Model, planDay(o)); money != "" && !priced {
			return fmt.Errorf("%s: %s, but the price table has no price of model %s of provider %s; add one or remove the cap", who, money, m.Model, m.Provider)
		}
	}
	return nil
}

// checkForeign is checkEpisode of an external agent.
func checkForeign(o Options, p drive.Planned) error {
	return external.CheckCaps(p.Candidate, func(provider string) (string, bool) {
		money, tokens := capsOn(o, provider)
		if p.Params.Budgets.MaxCostNanoUSD > 0 {
			money = "tasks cap its cost by max_cost_usd"
		}
		return money, tokens
	}, func(provider, model string) bool {
		_, ok := o.Prices.Lookup(provider, model, planDay(o))
		return ok
	})
}

// capsOn returns a description of the cost cap of a provider, empty without one, and
// whether tokens must be reserved for a cap. Replays do not spend, so they have no caps.
func capsOn(o Options, provider string) (money string, tokens bool) {
	if o.Mode == recorder.Replay {
		return "", false
	}
	of := o.Limits[provider].Caps
	if o.Caps.CostNanoUSD > 0 || of.CostNanoUSD > 0 {
		money = "max_cost caps its cost"
	}
	return money, money != "" || o.Caps.Tokens > 0 || of.Tokens > 0
}

// lengthens returns a member of a candidate's body, in the vocabulary of any wire, that
// sets the length of the answer; the candidate's max_tokens would then not bound it. Empty
// if there is none.
func lengthens(body any) string {
	switch v := body.(type) {
	case map[string]any:
		for _, name := range drive.SortedKeys(v) {
			switch strings.ToLower(strings.ReplaceAll(name, "_", "")) {
			case "maxtokens", "maxcompletiontokens", "maxoutputtokens", "maxnewtokens", "maxtokenstosample", "numpredict",
				"n", "candidatecount", "bestof", "numgenerations":
				return name
			}
			if inner := lengthens(v[name]); inner != "" {
				return name + "." + inner
			}
		}
	case []any:
		for _, e := range v {
			if inner := lengthens(e); inner != "" {
				return inner
			}
		}
	}
	return ""
}

// planDay is a day for which prices must be known. A replay uses the day of each recording,
// which is unknown here, so any day is accepted.
func planDay(o Options) time.Time {
	if o.Mode == recorder.Replay {
		return time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	}
	return o.Now().UTC()
}
