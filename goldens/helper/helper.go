// Package helper describes models that take part in an episode besides the candidate: judges
// and simulated users. It asks none.
package helper

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/cupel-eval/cupel/goldens/rubric"
	"github.com/cupel-eval/cupel/goldens/scorer"
)

// Role is what a helper does. The recordings of its requests have it.
type Role string

// The roles.
const (
	Judge Role = "judge"
	User  Role = "user"
)

// Helper is a model that takes part in the episodes of a task besides the candidate. Its
// requests are on the cassette of the episode, in its role. They are no turns of the candidate,
// and their tokens and cost are counted separately.
type Helper struct {
	Role  Role
	Model Model
	// Prompt is the digest of what shapes its requests besides Model and the episode: if it
	// changes, cassettes are stale.
	Prompt string
}

// Model is the model of a helper. The fields are those of a candidate.
type Model struct {
	// Name is for messages.
	Name        string            `yaml:"name"`
	Provider    string            `yaml:"provider"`
	Model       string            `yaml:"model"`
	Mode        string            `yaml:"mode"`
	BaseURL     string            `yaml:"base_url"`
	KeyEnv      string            `yaml:"key_env"`
	Region      string            `yaml:"region"`
	Headers     map[string]string `yaml:"headers"`
	Query       map[string]string `yaml:"query"`
	Body        map[string]any    `yaml:"body"`
	MaxTokens   *int              `yaml:"max_tokens"`
	Temperature *float64          `yaml:"temperature"`
}

// Digest returns the SHA-256 hex of what decides the replies of the model, and of further parts.
// Neither its name nor its key is in it.
func (m Model) Digest(parts ...any) string {
	m.Name, m.KeyEnv = "", ""
	text, err := json.Marshal([]any{m, parts})
	if err != nil {
		panic("helper: " + err.Error()) // unreachable: what was read from a suite encodes
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Jury is a model that judges episodes by a rubric.
type Jury struct {
	// Rubric is what the judge goes by. Sees lists, of rubric.Parts, what it sees of an episode
	// besides the request and the answer.
	Rubric string
	Sees   []string
	// Model is asked. Its name is that of the judge, unique in the suite.
	Model Model
}

// Digest returns the SHA-256 hex of what decides the judge's verdicts: rubric, parts, model with
// its settings, and the version of the prompt.
func (j Jury) Digest() string { return j.Model.Digest(rubric.Version(), j.Rubric, j.Sees) }

// Parts returns the SHA-256 hex of what the judge goes by and sees, and of its model with the
// settings.
func (j Jury) Parts() (rubric, settings string) {
	return Model{}.Digest(j.Rubric, j.Sees), j.Model.Digest()
}

// Check is a check of a task by a judge of its suite.
type Check struct {
	// Name is that of the judge; the check is judge.NAME.
	Name string
	// With is added to the rubric, as JSON; nil adds nothing.
	With json.RawMessage `json:",omitempty"`
	// AtLeast is the least score that passes; nil leaves it to the judge's pass.
	AtLeast *float64 `json:",omitempty"`
	// Judge is the one of that name, and Digest its digest, once the suite is loaded.
	Judge  *Jury  `json:"-"`
	Digest string `json:",omitempty"`
}

// Bound returns the SHA-256 hex of what decides whether the judge's check passes: Digest, and
// AtLeast if it is set. A calibration holds for one.
func (c Check) Bound() string {
	if c.AtLeast == nil {
		return c.Digest
	}
	return Model{}.Digest(c.Digest, *c.AtLeast)
}

// Passed reports whether a verdict meets the check.
func (c Check) Passed(r scorer.Result) bool { return scorer.Spec{AtLeast: c.AtLeast}.Passed(r) }

// Helper returns the judge as a helper of the task.
func (c Check) Helper() Helper {
	return Helper{Role: Judge, Model: c.Judge.Model, Prompt: c.Judge.Model.Digest(c.Digest, c.With)}
}
