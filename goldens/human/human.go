// Package human defines the scripted human of a task: rules that answer what agents ask people
// for, and the further messages of the user.
package human

import (
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/goldens/internal/match"
)

// Rule answers the requests that it matches. The first rule that matches answers.
type Rule struct {
	When When
	// Say is a word of package person. A rule matches only requests of kinds that take it.
	Say     string
	Text    string   `json:",omitempty"`
	Choices []string `json:",omitempty"`
	// Times bounds the answers of the rule; 0 means no bound.
	Times int `json:",omitempty"`
	// After is the virtual time until the answer.
	After time.Duration `json:",omitempty"`
}

// When says which requests a rule matches; an empty field matches any.
type When struct {
	Tool string `json:",omitempty"`
	Kind string `json:",omitempty"`
	// Args are values or matchers of some fields of the request's payload.
	Args map[string]any `json:",omitempty"`
	// Nth is the number of a request among those that the other fields match, from 1.
	Nth int `json:",omitempty"`
}

// Message is one further message of the user.
type Message struct {
	Text string
	// At is Idle, After or Background.
	At string
	// After is the virtual time of the message since the start of the episode, with At After.
	After time.Duration `json:",omitempty"`
}

// When a message is sent.
const (
	Idle       = "idle"       // when the agent is idle, in the order of such messages
	After      = "after"      // at a virtual time
	Background = "background" // when a task starts in the background: one message for each start
)

// kinds returns the kinds of requests that the rule can match.
func (r Rule) kinds() (out []string) {
	for _, kind := range person.Kinds {
		own := person.KindOf(r.When.Tool)
		if (r.When.Kind == "" || r.When.Kind == kind) && (r.When.Tool == "" || own == kind) && slices.Contains(person.Takes(kind), r.Say) {
			out = append(out, kind)
		}
	}
	return out
}

// covers reports whether the rule answers every request that other would match.
func (r Rule) covers(other Rule) bool {
	mine, theirs := r.kinds(), other.kinds()
	return r.Times == 0 && r.When.Nth == 0 && r.When.Args == nil &&
		(r.When.Tool == "" || r.When.Tool == other.When.Tool) &&
		!slices.ContainsFunc(theirs, func(kind string) bool { return !slices.Contains(mine, kind) })
}

// Script is the scripted human of one episode. It is not safe for concurrent use.
type Script struct {
	rules   []Rule
	seen    []int // requests that each rule's other conditions matched
	answers []int // of each rule
}

// New returns the human of rules, which must come from ReadRules.
func New(rules []Rule) *Script {
	return &Script{rules: rules, seen: make([]int, len(rules)), answers: make([]int, len(rules))}
}

// Answer answers a request after a virtual time; ok is false if no rule matches.
func (s *Script) Answer(r person.Request) (a person.Answer, after time.Duration, ok bool) {
	var payload map[string]any
	if v, err := match.DecodeArgs(r.Payload); err == nil {
		payload, _ = v.(map[string]any)
	}
	for i, rule := range s.rules {
		if !rule.matches(r, payload) {
			continue
		}
		s.seen[i]++
		if ok || rule.When.Nth > 0 && s.seen[i] != rule.When.Nth || rule.Times > 0 && s.answers[i] >= rule.Times {
			continue
		}
		s.answers[i]++
		a, after, ok = person.Answer{Say: rule.Say, Text: rule.Text, Choices: rule.Choices}, rule.After, true
	}
	return a, after, ok
}

// matches reports whether a request meets the conditions of the rule besides its number.
func (r Rule) matches(q person.Request, payload map[string]any) bool {
	if r.When.Tool != "" && r.When.Tool != q.Tool || !slices.Contains(r.kinds(), q.Kind) {
		return false
	}
	for key, want := range r.When.Args {
		got, has := payload[key]
		accepts, err := match.Value(want, key)
		if err != nil || !has || !accepts(got) {
			return false
		}
	}
	return true
}
