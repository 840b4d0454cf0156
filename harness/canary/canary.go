// Package canary tells whether the model behind a name changed: observations of a
// fixed set of prompts go in, a finding comes out. It asks nothing itself; package
// harness does, and keeps what was observed in a history file (history.go). Judge
// is pure: the same history and observation give the same finding.
package canary

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/clip"
)

// Prompt is a request to a model, without a system message.
type Prompt struct {
	// ID names it in the history.
	ID, Text string
}

// MaxTokens caps the answer to a prompt.
const MaxTokens = 1024

// Prompts returns the built-in prompts: six with a short answer that a good model
// always gives in the same words, and four that take some prose, of which length,
// wording and token probabilities can differ.
func Prompts() []Prompt {
	return []Prompt{
		{"product", "What is 17 * 23? Answer with the number only."},
		{"capital", "What is the capital of Mongolia? Answer with one word."},
		{"reverse", "Write the word \"lantern\" backwards. Answer with the result only."},
		{"sort", "Sort these numbers in ascending order, separated by commas: 42, 7, 19, 3, 88. Answer with the list only."},
		{"json", "Reply with a JSON object that has the keys \"city\" and \"year\" for the first modern Olympic Games. Answer with the JSON only."},
		{"translate", "Translate into French: \"The train leaves at half past six.\" Answer with the translation only."},
		{"explain", "Explain in two or three sentences why the sky is blue."},
		{"story", "Write a story of about 60 words about a lighthouse keeper who finds a letter."},
		{"steps", "List the steps for making a cup of tea, numbered, one sentence each."},
		{"code", "Write a Python function that returns the n-th Fibonacci number iteratively. Answer with the code only."},
	}
}

// Set returns the digest of the prompts and of what else is said to a model with
// them, such as its settings. Only observations of one set are compared.
func Set(settings ...string) string {
	h := sha256.New()
	for _, p := range Prompts() {
		settings = append(settings, p.ID, p.Text)
	}
	for _, s := range settings {
		_, _ = h.Write([]byte(strings.ReplaceAll(s, "\x00", "\\0") + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil))[:digits]
}

// digits is the length of the digests in the history, maxAnswer how many bytes of an
// answer are looked at, maxStart how many are kept, maxName how many of a name that
// the provider gives, and maxNames how many names.
const (
	digits            = 16
	maxAnswer         = 4096
	maxStart, maxName = 80, 120
	maxNames          = 10
)

// Model is what a name means: who is asked, where, and for which model.
type Model struct {
	Provider string `json:"provider"`
	// BaseURL is the address a candidate gives; empty for the provider's public one.
	BaseURL string `json:"base_url,omitempty"`
	Model   string `json:"model"`
}

// Observation is one line of the history: what one asking of all prompts gave.
type Observation struct {
	Model
	At  time.Time `json:"at"`
	Set string    `json:"set"`
	// Served and Fingerprints are the model names and system fingerprints in the
	// replies, sorted; empty if the provider sends none.
	Served       []string `json:"served,omitempty"`
	Fingerprints []string `json:"fingerprints,omitempty"`
	// Answers are in the order of the prompts; none unless all were answered.
	Answers []Answer `json:"answers,omitempty"`
	// Problem says why answers are absent.
	Problem string `json:"problem,omitempty"`
	// CostNanoUSD is what asking cost; nil if a price or a usage is unknown.
	CostNanoUSD *int64 `json:"cost_nano_usd,omitempty"`
	// Change is the change that this observation showed.
	Change *Change `json:"change,omitempty"`
}

// Answer is what is kept of an answer.
type Answer struct {
	// Digest is that of the normalised text, Start its first bytes.
	Digest string `json:"digest"`
	Start  string `json:"start"`
	// Tokens is the length of the output, with reasoning; LogProb the mean log
	// probability of its tokens. Each is nil if the provider does not tell.
	Tokens  *int64   `json:"tokens"`
	LogProb *float64 `json:"logprob"`
}

// NewAnswer returns what is kept of a text. White space and letter case do not count.
func NewAnswer(text string, tokens *int64, logProb *float64) Answer {
	text = strings.Join(strings.Fields(strings.ToLower(clip.FirstBytes(text, maxAnswer))), " ")
	return Answer{Digest: digestOf(text), Start: clip.FirstBytes(text, maxStart), Tokens: tokens, LogProb: logProb}
}

// Change is a change of the model behind a name.
type Change struct {
	// On is when the changed model was first observed, or most likely so; Since the
	// last observation before.
	On    time.Time `json:"on"`
	Since time.Time `json:"since"`
	// Certain says that the provider names another model; otherwise P is the chance
	// of so different nights if nothing changed.
	Certain bool    `json:"certain,omitempty"`
	P       float64 `json:"p,omitempty"`
	// Evidence says what differs.
	Evidence []string `json:"evidence"`
}

// Names returns names from replies, sorted, each once, bounded.
func Names(names []string) []string {
	var out []string
	for _, n := range names {
		if n = clip.FirstBytes(n, maxName); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), maxNames)]
}

// Digest returns that of all answers; empty without any.
func (o Observation) Digest() string {
	if len(o.Answers) == 0 {
		return ""
	}
	var all strings.Builder
	for _, a := range o.Answers {
		all.WriteString(a.Digest + "\n")
	}
	return digestOf(all.String())
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}
