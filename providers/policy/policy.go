// Package policy holds the sampling settings and budgets of model calls by provider and
// task class: the built-in policy, overridden by a policy file.
package policy

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Policy holds the settings of model calls by provider and task class. It is data:
// see Default and Parse. A Policy is not changed by its methods.
type Policy struct {
	// DefaultProvider and DefaultClass replace an empty name.
	DefaultProvider string `json:"default_provider"`
	DefaultClass    string `json:"default_class"`
	// Defaults apply to every provider and class.
	Defaults Defaults `json:"defaults"`
	// Providers and Classes are the names that exist; all others are errors.
	Providers map[string]Provider `json:"providers"`
	Classes   map[string]Class    `json:"task_classes"`
}

// Defaults apply unless a provider or a class overrides them.
type Defaults struct {
	// TempAction and TempReply are temperatures from 0 to 2; the second is for
	// the class reply.
	TempAction float64 `json:"temp_action"`
	TempReply  float64 `json:"temp_reply"`
	// MaxTokens caps an output; 0 means the provider's own default.
	MaxTokens int `json:"max_tokens"`
	// MaxSteps, MaxToolCalls and MaxSeconds cap an episode; 0 means no limit.
	MaxSteps     int `json:"max_steps"`
	MaxToolCalls int `json:"max_tool_calls"`
	MaxSeconds   int `json:"max_seconds"`
}

// Provider has the settings of one provider.
type Provider struct {
	// Model is asked when a candidate names none; it may be empty.
	Model string `json:"model,omitempty"`
	// MaxTokens caps the outputs of this provider; nil means no separate cap.
	MaxTokens *int `json:"max_tokens,omitempty"`
}

// Class has the settings of one task class. What is nil falls back to the
// policy's Defaults.
type Class struct {
	Temperature *float64 `json:"temp,omitempty"`
	MaxTokens   *int     `json:"max_tokens,omitempty"`
}

// Resolved are the settings for one provider and class.
type Resolved struct {
	// Model is empty when the policy names none for the provider.
	Model string
	// MaxTokens caps an output; 0 means the provider's own default.
	MaxTokens   int
	Temperature float64
	// MaxSteps, MaxToolCalls and MaxSeconds cap an episode; 0 means no limit.
	MaxSteps, MaxToolCalls, MaxSeconds int
}

// UnknownError is a name that the policy does not have.
type UnknownError struct {
	// What is "provider" or "task class", Name the name as given.
	What, Name string
	// Known are the names that exist, sorted.
	Known []string
}

// Error lists the names that exist.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("policy: unknown %s %.100q; known: %s", e.What, e.Name, strings.Join(e.Known, ", "))
}

// replyClass is the class whose default temperature is TempReply.
const replyClass = "reply"

// Resolve returns the settings for a provider and a task class; an empty name
// means the policy's default. Names match exactly; an unknown one is an
// *UnknownError. The output cap is the class's (or the default), but never
// above the provider's.
func (p Policy) Resolve(provider, class string) (Resolved, error) {
	provider = cmp.Or(provider, p.DefaultProvider)
	class = cmp.Or(class, p.DefaultClass)
	prov, ok := p.Providers[provider]
	if !ok {
		return Resolved{}, &UnknownError{What: "provider", Name: provider, Known: slices.Sorted(maps.Keys(p.Providers))}
	}
	c, ok := p.Classes[class]
	if !ok {
		return Resolved{}, &UnknownError{What: "task class", Name: class, Known: slices.Sorted(maps.Keys(p.Classes))}
	}
	r := Resolved{
		Model: prov.Model, MaxTokens: p.Defaults.MaxTokens, Temperature: p.Defaults.TempAction,
		MaxSteps: p.Defaults.MaxSteps, MaxToolCalls: p.Defaults.MaxToolCalls, MaxSeconds: p.Defaults.MaxSeconds,
	}
	if class == replyClass {
		r.Temperature = p.Defaults.TempReply
	}
	if c.Temperature != nil {
		r.Temperature = *c.Temperature
	}
	if c.MaxTokens != nil {
		r.MaxTokens = *c.MaxTokens
	}
	if prov.MaxTokens != nil {
		r.MaxTokens = min(r.MaxTokens, *prov.MaxTokens)
	}
	return r, nil
}

// Digest is the SHA-256 hex of the policy's content: equal policies have equal
// digests, regardless of the file they were read from.
func (p Policy) Digest() string { return digest(p) }

// digest hashes a value's JSON, whose object keys are sorted.
func digest(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("policy: " + err.Error()) // unreachable: finite numbers and strings
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

//go:embed policy.yaml
var policyFile []byte

// Default returns the built-in policy, a fresh copy each time.
func Default() Policy {
	p, err := parse(Policy{}, policyFile)
	if err != nil {
		panic("built-in " + err.Error()) // unreachable: a test reads it
	}
	return p
}
