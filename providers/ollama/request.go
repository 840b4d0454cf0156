package ollama

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// request is the body sent. Field order is fixed: equal calls give equal bytes.
type request struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	// Stream is always sent: the server streams by default.
	Stream  bool            `json:"stream"`
	Options *options        `json:"options,omitempty"`
	Tools   []tool          `json:"tools,omitempty"`
	Format  json.RawMessage `json:"format,omitempty"`
}

// message is one message. Older servers ignore the ids of calls.
type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitempty"`
	Images     []string   `json:"images,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id,omitempty"`
	Function function `json:"function"`
}

// function is a call's: its arguments are an object, not text.
type function struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type options struct {
	NumPredict  int      `json:"num_predict,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

// tool is an available function.
type tool struct {
	Type     string   `json:"type"`
	Function toolSpec `json:"function"`
}

type toolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// noArguments is the schema of a tool that takes none.
const noArguments = `{"type":"object","properties":{}}`

// newRequest says what to send and which settings are left out; problem says why
// nothing can be sent.
func newRequest(call providers.Call) (r request, warnings []string, problem string) {
	r = request{Model: call.Model, Messages: []message{}, Stream: call.Stream}
	o := options{NumPredict: call.MaxTokens, Temperature: call.Temperature, Seed: call.Seed, Stop: call.Stop}
	if o.NumPredict != 0 || o.Temperature != nil || o.Seed != nil || len(o.Stop) > 0 {
		r.Options = &o
	}
	if call.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: call.System})
	}
	for i, m := range call.Messages {
		sent, warned, problem := newMessage(m)
		if problem != "" {
			return r, nil, fmt.Sprintf("message %d: %s", i+1, problem)
		}
		for _, w := range warned {
			warnings = append(warnings, fmt.Sprintf("message %d: %s", i+1, w))
		}
		r.Messages = append(r.Messages, sent)
	}
	if call.Format != nil {
		r.Format = json.RawMessage(`"json"`)
		if call.Format.Mode == providers.JSONSchema {
			r.Format = call.Format.Schema
		}
	}
	return r, append(warnings, r.offer(call)...), ""
}

// offer puts the tools into the request. The API has no tool choice, but not to
// offer any is as good as to forbid them.
func (r *request) offer(call providers.Call) (warnings []string) {
	if len(call.Tools) == 0 || call.Choice.Kind == providers.ChoiceNone {
		return nil
	}
	for _, t := range call.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(noArguments)
		}
		r.Tools = append(r.Tools, tool{Type: "function", Function: toolSpec{Name: t.Name, Description: t.Description, Parameters: schema}})
	}
	if call.Choice.Kind != providers.ChoiceAuto {
		warnings = append(warnings, "tool choice: not part of the Ollama API, not sent: the model decides")
	}
	if call.Serial {
		warnings = append(warnings, "serial tool calls: not part of the Ollama API, not sent")
	}
	return warnings
}

// newMessage makes one message.
func newMessage(m providers.Message) (sent message, warnings []string, problem string) {
	sent = message{Role: m.Role, Content: wire.Said(m)}
	for _, image := range m.Images {
		data := base64.StdEncoding.EncodeToString(image.Data)
		if len(image.Data) == 0 {
			_, inline, ok := strings.Cut(image.URL, ";base64,")
			if !ok || !strings.HasPrefix(image.URL, "data:") {
				return sent, nil, "an image's address is not taken by the Ollama API, which wants its data"
			}
			data = inline
		}
		sent.Images = append(sent.Images, data)
	}
	if m.Role == providers.RoleTool {
		sent.ToolName, sent.ToolCallID = m.Name, m.CallID
		return sent, nil, ""
	}
	for _, c := range m.Calls {
		args := cmp.Or(strings.TrimSpace(c.Args), "{}")
		var object map[string]json.RawMessage
		if wire.Unmarshal([]byte(args), &object) != nil || object == nil {
			args = "{}"
			warnings = append(warnings, fmt.Sprintf("the arguments of the call of %.64s are not a JSON object, sent as {}", c.Name))
		}
		sent.ToolCalls = append(sent.ToolCalls, toolCall{ID: c.ID, Function: function{Name: c.Name, Arguments: json.RawMessage(args)}})
	}
	sent.Thinking = readContinuation(m.Continuation)
	return sent, warnings, ""
}

// continuation is what a reply's calls cannot carry: the thinking before them,
// which the model wants back with the tools' results.
type continuation struct {
	Ollama *struct {
		Thinking string `json:"thinking"`
	} `json:"ollama"`
}

// newContinuation is nil when there was no thinking.
func newContinuation(thinking string) json.RawMessage {
	if thinking == "" {
		return nil
	}
	var c continuation
	c.Ollama = &struct {
		Thinking string `json:"thinking"`
	}{thinking}
	text, _ := json.Marshal(c) // strings always encode
	return text
}

// readContinuation returns the thinking; "" of a continuation of another wire.
func readContinuation(raw json.RawMessage) string {
	var c continuation
	if len(raw) == 0 || wire.Unmarshal(raw, &c) != nil || c.Ollama == nil {
		return ""
	}
	return c.Ollama.Thinking
}
