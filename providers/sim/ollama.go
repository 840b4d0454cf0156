package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/clip"
)

// ollama is the chat wire of Ollama. It has no choice of tools, and calls need no ids.
var ollama = wire{
	name:   "ollama",
	decode: decodeOllama,
	encode: encodeOllama,
	stream: streamOllama,
	media:  "application/x-ndjson",
	fail:   failOllama,
}

// ollamaTag is the tag that a name without one has.
const ollamaTag = ":latest"

type ollamaRequest struct {
	Model    string          `json:"model"`
	Messages []ollamaMessage `json:"messages"`
	Stream   *bool           `json:"stream"` // true if it is left out
	Format   json.RawMessage `json:"format"`
	Tools    []openAITool    `json:"tools"`
	Options  struct {
		NumPredict  *int     `json:"num_predict"` // -1: without a limit
		Temperature *float64 `json:"temperature"`
		Seed        *int64   `json:"seed"`
		Stop        []string `json:"stop"`
	} `json:"options"`
}

type ollamaMessage struct {
	Role       string   `json:"role"`
	Content    string   `json:"content"`
	Images     [][]byte `json:"images"`
	ToolName   string   `json:"tool_name"`
	ToolCallID string   `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string                     `json:"name"`
			Arguments map[string]json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func decodeOllama(_ *http.Request, body []byte) modelRequest {
	var r ollamaRequest
	if err := json.Unmarshal(body, &r); err != nil {
		refuse("", "%s", clip.Runes(err.Error(), 200))
	}
	refuseIf(r.Model == "", "model", "model is required")
	o := r.Options
	q := modelRequest{maxTokens: max(0, value(o.NumPredict)), model: strings.TrimSuffix(r.Model, ollamaTag), temperature: o.Temperature, seed: o.Seed, stop: o.Stop, stream: r.Stream == nil || *r.Stream}
	for i, m := range r.Messages {
		m.into(&q, i)
	}
	for _, t := range r.Tools {
		refuseIf(t.Type != "function" || t.Function.Name == "", "tools", "invalid tool: type must be function, and the function must have a name")
		q.offer(t.Function.Name, t.Function.Parameters)
	}
	q.settle() // what does not belong together is shown to the model as it is
	switch format := strings.TrimSpace(string(r.Format)); {
	case format == "", format == "null", format == `""`:
	case format == `"json"`:
		q.bind(formatObject)
	case strings.HasPrefix(format, "{"):
		q.bind(formatSchema)
	default:
		refuse("format", "invalid format: %s; expected \"json\" or a valid JSON Schema object", clip.Runes(format, 80))
	}
	return q
}

func (m ollamaMessage) into(q *modelRequest, i int) {
	out := utterance{at: i, text: m.Content, own: m.Role == "assistant"}
	for _, data := range m.Images {
		p, ok := decodePicture("", data)
		refuseIf(!ok, "messages", "Failed to create new sequence: failed to process inputs: image: unknown format")
		out.images = append(out.images, p)
	}
	switch strings.ToLower(m.Role) {
	case "user":
	case "assistant":
		for _, c := range m.ToolCalls {
			args := encodeJSON(c.Function.Arguments)
			out.calls = append(out.calls, invocation{ID: c.ID, Name: c.Function.Name, Args: string(args)})
		}
	case "tool":
		out.text, out.images = "", nil
		out.results = []result{{id: m.ToolCallID, name: m.ToolName, text: m.Content}}
	case "system":
		q.system += m.Content
		return
	default:
		refuse("messages", "invalid role: %s, must be one of [system, user, assistant, tool]", clip.Runes(m.Role, 40))
	}
	q.messages = append(q.messages, out)
}

// ollamaPart is one line of a stream, or the whole.
func (c completion) ollamaPart(at int, message obj) obj {
	message["role"] = "assistant"
	if _, ok := message["content"]; !ok {
		message["content"] = ""
	}
	made := time.Unix(c.draws.created(), 0).UTC().Add(time.Duration(at) * 5 * time.Millisecond)
	return obj{"model": c.served, "created_at": made.Format(time.RFC3339Nano), "message": message, "done": false}
}

// ollamaEnd makes a part the last one. Times are in nanoseconds; they depend on no clock.
func (c completion) ollamaEnd(part obj) obj {
	part["done"], part["done_reason"] = true, "stop"
	if c.cut {
		part["done_reason"] = "length"
	}
	const load, perPrompt, perToken = 40_000_000, 1_000_000, 5_000_000
	part["load_duration"], part["prompt_eval_duration"], part["eval_duration"] = load, perPrompt*c.in, perToken*c.made()
	part["total_duration"] = load + perPrompt*c.in + perToken*c.made()
	part["prompt_eval_count"], part["eval_count"] = c.in, c.made()
	return part
}

func (c completion) ollamaCalls() []obj {
	var calls []obj
	for i, t := range c.identify("call_sim") {
		calls = append(calls, obj{"id": t.ID, "function": obj{"index": i, "name": t.Name, "arguments": object(t.Args)}})
	}
	return calls
}

func encodeOllama(_ modelRequest, c completion) any {
	message := obj{"content": c.spoken()}
	if c.reasoning != "" {
		message["thinking"] = c.reasoning
	}
	if calls := c.ollamaCalls(); calls != nil {
		message["tool_calls"] = calls
	}
	return c.ollamaEnd(c.ollamaPart(0, message))
}

// streamOllama makes a line of each piece; a call is one piece.
func streamOllama(_ modelRequest, c completion) [][]byte {
	var frames [][]byte
	send := func(part obj) { frames = append(frames, append(encodeJSON(part), '\n')) }
	for _, p := range c.draws.pieces(c.reasoning) {
		send(c.ollamaPart(len(frames), obj{"thinking": p}))
	}
	for _, p := range c.draws.pieces(c.spoken()) {
		send(c.ollamaPart(len(frames), obj{"content": p}))
	}
	for _, call := range c.ollamaCalls() {
		send(c.ollamaPart(len(frames), obj{"tool_calls": []obj{call}}))
	}
	send(c.ollamaEnd(c.ollamaPart(len(frames), obj{})))
	return frames
}

func failOllama(f *failure, _ string) any {
	if f.code == "model_not_found" {
		return obj{"error": "model '" + f.model + "' not found"}
	}
	return obj{"error": f.message}
}
