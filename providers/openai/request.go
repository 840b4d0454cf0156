package openai

import (
	"strings"

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
	Stop                []string        `json:"stop,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Tools               []tool          `json:"tools,omitempty"`
	ToolChoice          *tool           `json:"tool_choice,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// newRequest says what to send, and which settings the model does not take.
func newRequest(call providers.Call) (request, []string) {
	r := request{Model: call.Model, Temperature: call.Temperature, Seed: call.Seed, Stop: call.Stop}
	if call.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: call.System})
	}
	for _, m := range call.Messages {
		r.Messages = append(r.Messages, message{Role: m.Role, Content: m.Text})
	}
	warnings := r.ask(call.Format)
	if !reasons(call.Model) {
		r.MaxTokens = call.MaxTokens
		return r, warnings
	}
	r.MaxCompletionTokens = call.MaxTokens
	if r.Temperature != nil {
		r.Temperature = nil
		warnings = append(warnings, "temperature: not taken by reasoning models, not sent")
	}
	if len(r.Stop) > 0 {
		r.Stop = nil
		warnings = append(warnings, "stop: not taken by reasoning models, not sent")
	}
	return r, warnings
}

// reasons says whether a model is of OpenAI's reasoning families, o1, o3, o4
// and gpt-5, chat variants excepted: those refuse max_tokens, temperature and
// stop. A vendor in front, as in openai/o3, is overlooked. Every other model,
// known or not, gets the classic fields, which compatible servers understand.
func reasons(model string) bool {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, family := range []string{"o1", "o3", "o4", "gpt-5"} {
		rest, ok := strings.CutPrefix(name, family)
		if ok && (rest == "" || rest[0] == '-' || rest[0] == '.') {
			return !strings.Contains(rest, "-chat")
		}
	}
	return false
}
