package openai

import (
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/providers"
)

// request is the body sent. Field order is fixed: equal calls give equal bytes.
type request struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	Seed                *int64          `json:"seed,omitempty"`
	RandomSeed          *int64          `json:"random_seed,omitempty"`
	Stop                []string        `json:"stop,omitempty"`
	LogProbs            bool            `json:"logprobs,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Tools               []tool          `json:"tools,omitempty"`
	ToolChoice          any             `json:"tool_choice,omitempty"` // a word, or the tool
	ParallelToolCalls   *bool           `json:"parallel_tool_calls,omitempty"`
	Stream              bool            `json:"stream,omitempty"`
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// draft is a request being written, with what is left out of it.
type draft struct {
	request
	dialect  Dialect
	less     []Feature // of the model
	warnings []string
}

// newRequest says what to send, and which settings the service or the model
// does not take.
func newRequest(d Dialect, call providers.Call) (request, []string) {
	r := &draft{request: request{Model: call.Model}, dialect: d, less: d.modelLacks(call.Model)}
	r.messages(call)
	r.ask(call.Format)
	r.offer(call)
	if d.LimitField(call.Model) == "max_completion_tokens" {
		r.MaxCompletionTokens = call.MaxTokens
	} else {
		r.MaxTokens = call.MaxTokens
	}
	if call.Temperature != nil && r.takes(Temperature) {
		r.Temperature = call.Temperature
	}
	if call.Seed != nil && r.takes(SeedNumber) {
		if d.Seed == "random_seed" {
			r.RandomSeed = call.Seed
		} else {
			r.Seed = call.Seed
		}
	}
	if len(call.Stop) > 0 && r.takes(Stop) {
		r.Stop = call.Stop
	}
	r.LogProbs = call.LogProbs && r.takes(LogProbs)
	if call.Stream {
		r.Stream = true
		if !d.lacks(StreamUsage) {
			r.StreamOptions = &streamOptions{IncludeUsage: true}
		}
	}
	return r.request, r.warnings
}

// takes reports whether a feature may be sent, and warns if not.
func (r *draft) takes(f Feature) bool {
	switch {
	case r.dialect.lacks(f):
		r.warn("%s: not part of %s, not sent", f, r.dialect.Name)
	case slices.Contains(r.less, f):
		r.warn("%s: not taken by reasoning models, not sent", f)
	default:
		return true
	}
	return false
}

func (r *draft) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(r.warnings, w) {
		r.warnings = append(r.warnings, w)
	}
}
