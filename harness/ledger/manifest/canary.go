package manifest

import (
	"fmt"
	"strings"
)

// The statuses of a Canary.
const (
	CanaryChanged   = "changed"
	CanaryUnchanged = "unchanged"
	CanaryTooFew    = "too_few"
	CanaryUnknown   = "unknown"
)

// Canary is the finding of the model drift canary about the model behind a name.
type Canary struct {
	// Status is changed if this observation showed a change, unchanged, too_few if more nights
	// are needed, or unknown (see Problem).
	Status string `json:"status"`
	// Asked is the time of the observation, RFC 3339 in UTC.
	Asked   string `json:"asked,omitempty"`
	BaseURL string `json:"base_url,omitempty"`
	// Served and Fingerprints are the provider's names of its model and system.
	Served       []string `json:"served,omitempty"`
	Fingerprints []string `json:"fingerprints,omitempty"`
	// Answers is the digest of all answers.
	Answers string `json:"answers,omitempty"`
	// Nights is the number of observations since the last change, including this one.
	Nights int `json:"nights"`
	// P is the probability of nights that differ this much if the model did not change; absent
	// if the nights were not tested.
	P *float64 `json:"p,omitempty"`
	// ChangedOn is the time of the last known change, RFC 3339 in UTC; empty if there is none.
	// Evidence names what differed.
	ChangedOn string   `json:"changed_on,omitempty"`
	Evidence  []string `json:"evidence,omitempty"`
	// CostNanoUSD is the cost of the observation; absent if unknown.
	CostNanoUSD *int64 `json:"cost_nano_usd,omitempty"`
	// Problem is the reason why not all prompts were answered.
	Problem string `json:"problem,omitempty"`
}

// Day returns the day of ChangedOn; empty if the model did not change.
func (c Canary) Day() string { return c.ChangedOn[:min(len(c.ChangedOn), len("2006-01-02"))] }

// String returns the finding in one line; empty if the canary did not run.
func (c Canary) String() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch c.Status {
	case CanaryChanged:
		add("changed on %s", c.Day())
	case CanaryUnchanged:
		add("no significant change")
	case CanaryTooFew:
		add("too few nights to tell")
	case CanaryUnknown:
		add("unknown: %s", c.Problem)
	default:
		return ""
	}
	parts = append(parts, c.Evidence...)
	nights := fmt.Sprintf("rests on %d nights", c.Nights)
	if c.Nights == 1 {
		nights = "rests on 1 night"
	}
	if c.P != nil {
		nights += fmt.Sprintf(", p %.2g", *c.P)
	}
	if c.Status != CanaryUnknown {
		parts = append(parts, nights)
	}
	if c.ChangedOn != "" && c.Status != CanaryChanged {
		add("last change on %s", c.Day())
	}
	return strings.Join(parts, "; ")
}
