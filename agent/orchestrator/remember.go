package orchestrator

import (
	"github.com/cupel-eval/cupel/agent/orchestrator/memory"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/providers"
)

// TooLong reports that messages of so many bytes are to be condensed.
func (t *Thread) TooLong(bytes int) bool { return bytes > t.Memory.Tokens*strategy.BytesPerToken }

// TooMany reports that the observations are to be condensed, which happens here where no model
// is asked for it.
func (t *Thread) TooMany() bool {
	if memory.Size(t.observations) <= t.Memory.Observations*strategy.BytesPerToken {
		return false
	}
	if t.Memory.Observe {
		return true
	}
	t.observations = memory.Halve(t.observations)
	return false
}

// Fold adds an observation of each message by a rule.
func (t *Thread) Fold(messages []providers.Message) {
	t.observations = append(t.observations, memory.Fold(messages, t.Now())...)
}

// Observe takes what an observer wrote, or instead of all observations what a reflector did;
// false if it cannot be read or condenses nothing, which changes nothing.
func (t *Thread) Observe(text string, all bool) bool {
	lines, ok := memory.Read(t.Clean(text))
	switch {
	case !ok || all && memory.Size(lines) >= memory.Size(t.observations):
		return false
	case all:
		t.observations = lines
	default:
		t.observations = append(t.observations, lines...)
	}
	return true
}

// Observations are those so far.
func (t *Thread) Observations() []string { return t.observations }
