package anthropic

import (
	"cmp"
	"strings"

	"github.com/cupel-eval/cupel/providers"
)

// request is the body sent. Field order is fixed: equal calls give equal bytes.
type request struct {
	Version      string        `json:"anthropic_version,omitempty"`
	Model        string        `json:"model,omitempty"`
	MaxTokens    int           `json:"max_tokens"`
	System       string        `json:"system,omitempty"`
	Messages     []message     `json:"messages"`
	Temperature  *float64      `json:"temperature,omitempty"`
	Stop         []string      `json:"stop_sequences,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
	Tools        []tool        `json:"tools,omitempty"`
	ToolChoice   *toolChoice   `json:"tool_choice,omitempty"`
	Stream       bool          `json:"stream,omitempty"`
}

// defaultMaxTokens is sent when the call sets none: the wire demands a number.
const defaultMaxTokens = 1024

// newRequest says what to send, and which settings are left out.
func newRequest(call providers.Call) (request, []string) {
	r := request{
		Model: call.Model, MaxTokens: cmp.Or(call.MaxTokens, defaultMaxTokens), System: call.System,
		Temperature: call.Temperature, Stream: call.Stream,
	}
	warnings := r.ask(call.Format)
	if call.Seed != nil {
		warnings = append(warnings, "seed: not part of the Messages API, not sent")
	}
	if r.Temperature != nil && refusesTemperature(call.Model) {
		r.Temperature = nil
		warnings = append(warnings, "temperature: not taken by this model, not sent")
	}
	for _, s := range call.Stop {
		if strings.TrimSpace(s) == "" {
			warnings = append(warnings, "stop: a sequence of nothing but white space is not taken, not sent")
			continue
		}
		r.Stop = append(r.Stop, s)
	}
	var more []string
	r.Messages, more = messages(call.Messages)
	return r, append(append(warnings, more...), r.offer(call)...)
}

// refusesTemperature reports whether a model is of the families that answer 400
// to any temperature.
func refusesTemperature(model string) bool {
	for _, family := range []string{"claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-fable-5"} {
		if rest, ok := strings.CutPrefix(model, family); ok && (rest == "" || rest[0] == '-' || rest[0] == '@') {
			return true
		}
	}
	return false
}
