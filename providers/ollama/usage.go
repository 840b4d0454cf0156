package ollama

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// metrics are among the other fields of the last document. Durations are in
// nanoseconds.
type metrics struct {
	TotalDuration      json.RawMessage `json:"total_duration,omitempty"`
	LoadDuration       json.RawMessage `json:"load_duration,omitempty"`
	PromptEvalCount    json.RawMessage `json:"prompt_eval_count,omitempty"`
	PromptEvalDuration json.RawMessage `json:"prompt_eval_duration,omitempty"`
	EvalCount          json.RawMessage `json:"eval_count,omitempty"`
	EvalDuration       json.RawMessage `json:"eval_duration,omitempty"`
}

// fields account for the metrics.
var fields = wire.NewFields(
	wire.UsageField{Path: "prompt_eval_count", Column: "tokens_in"},
	wire.UsageField{Path: "eval_count", Column: "tokens_out"},
	wire.UsageField{Path: "total_duration", Reason: "a time"},
	wire.UsageField{Path: "load_duration", Reason: "a time"},
	wire.UsageField{Path: "prompt_eval_duration", Reason: "a time"},
	wire.UsageField{Path: "eval_duration", Reason: "a time"},
)

// UsageFields say what becomes of each number beside the message in the
// last document of this wire.
func UsageFields() []wire.UsageField { return slices.Clone(fields.List()) }

// count sets the usage. prompt_eval_count is left out when the prompt was in the
// server's cache: an incomplete report does not count as usage, but its counts are kept. There are no
// classes of tokens besides the two; eval_count includes thinking. The counts have
// no object of their own: RawUsage collects them, numbers as they came.
func (m metrics) count(b *wire.Builder) {
	raw, err := json.Marshal(m)
	if err != nil || string(raw) == "{}" {
		return
	}
	b.Usage(raw, fields, func(raw json.RawMessage) (u providers.Usage, ok bool, err error) {
		var counts struct {
			Input  *wire.Count `json:"prompt_eval_count"`
			Output *wire.Count `json:"eval_count"`
		}
		if err := wire.Unmarshal(raw, &counts); err != nil {
			return u, false, err
		}
		u.Input, u.Output = counts.Input.Value(), counts.Output.Value()
		b.Reply.Usage = u
		return u, counts.Input != nil && counts.Output != nil, nil
	})
}

// others account for the numbers beside the metrics.
func others(u *providers.Usage, document []byte) {
	numbers := map[string]json.RawMessage{}
	wire.Leaves(document, func(path string, number []byte) {
		if !strings.ContainsAny(path, ".[") {
			numbers[path] = number
		}
	})
	if text, err := json.Marshal(numbers); err == nil { // else a number of no finite value
		fields.Account(u, text)
	}
}
