package simserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
)

// Player is a server of OpenAI's Chat Completions that answers each task of a suite with its
// output. It is safe for concurrent use.
type Player struct {
	outputs map[string]output
	// asked has the ids of the tasks by what they ask.
	asked   map[string][]string
	tasks   int
	without int // tasks that have no output
}

// NewPlayer returns a server for the tasks of a suite. Outputs of other tasks are an error.
func NewPlayer(suite *goldens.Suite, outputs map[string]output) (*Player, error) {
	p := &Player{outputs: outputs, asked: map[string][]string{}}
	known := map[string]bool{}
	for _, t := range suite.Tasks {
		if t.Scripted {
			continue
		}
		specs, err := suite.ToolsOf(t)
		if err != nil {
			return nil, fmt.Errorf("task %s: %w", t.ID, err)
		}
		var offered []offer
		for _, s := range specs {
			offered = append(offered, offer{s.Name, s.Schema})
		}
		key := keyOf(t.Request, offered)
		p.asked[key] = append(p.asked[key], t.ID)
		if known[t.ID] = true; !has(outputs, t.ID) {
			p.without++
		}
		p.tasks++
	}
	var unpaired []string
	for id := range outputs {
		if !known[id] {
			unpaired = append(unpaired, id)
		}
	}
	if len(unpaired) > 0 {
		slices.Sort(unpaired)
		return nil, fmt.Errorf("%d outputs are of ids that are not tasks of suite %s, such as %s", len(unpaired), suite.Name, quote(unpaired[0]))
	}
	return p, nil
}

func has(outputs map[string]output, id string) bool { _, ok := outputs[id]; return ok }

// String says how many tasks have an output.
func (p *Player) String() string {
	return fmt.Sprintf("outputs of %d of %d tasks", p.tasks-p.without, p.tasks)
}

// offer is a function as a request has it.
type offer struct {
	name   string
	schema json.RawMessage
}

// keyOf identifies a task by its question and the functions that are offered with it: some
// questions are asked twice, with other functions.
func keyOf(question string, offered []offer) string {
	parts := []string{question}
	for _, o := range offered {
		schema, err := tool.Canonical(o.schema)
		if err != nil {
			schema = o.schema
		}
		parts = append(parts, o.name, string(schema))
	}
	return strings.Join(parts, "\x00")
}

// request is what is read of a request.
type request struct {
	Model    string
	Stream   bool
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
	Tools []struct {
		Function struct {
			Name       string
			Parameters json.RawMessage
		}
	}
}

// maxBody bounds a request, in bytes.
const maxBody = 8 << 20

// ServeHTTP implements http.Handler. What it has no output for it refuses with 404, which no
// client asks again and which says nothing about a model.
func (p *Player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		refuse(w, http.StatusNotFound, "this server plays outputs over POST /v1/chat/completions only")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var q request
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "the request cannot be read: "+err.Error())
		return
	}
	id, why := p.find(q)
	if why != "" {
		refuse(w, http.StatusNotFound, why)
		return
	}
	p.outputs[id].write(w, q)
}

// find returns the task that a request asks.
func (p *Player) find(q request) (id, why string) {
	question := ""
	for _, m := range q.Messages {
		if m.Role == "user" {
			question = textOf(m.Content)
		}
	}
	var offered []offer
	for _, t := range q.Tools {
		offered = append(offered, offer{t.Function.Name, t.Function.Parameters})
	}
	ids := p.asked[keyOf(question, offered)]
	if len(ids) == 0 {
		return "", "no task of the suite has this question with these functions: " + quote(question)
	}
	for _, other := range ids {
		if !has(p.outputs, other) {
			return "", fmt.Sprintf("the file has no output of task %s", other)
		}
		if !reflect.DeepEqual(p.outputs[other], p.outputs[ids[0]]) {
			return "", fmt.Sprintf("tasks %s ask the same with the same functions, and their outputs differ", strings.Join(ids, ", "))
		}
	}
	return ids[0], ""
}

// textOf is the content of a message: a text, or parts of which some are texts.
func textOf(content json.RawMessage) (text string) {
	var parts []struct{ Text string }
	if json.Unmarshal(content, &text) != nil && json.Unmarshal(content, &parts) == nil {
		for _, part := range parts {
			text += part.Text
		}
	}
	return text
}

func refuse(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "code": "no_output"}})
}

func reply(w http.ResponseWriter, status int, body any) {
	text, _ := json.Marshal(body) // texts encode
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that has gone does not read it
}

// write answers a request with the output. It reports no usage: that is not known.
func (o output) write(w http.ResponseWriter, q request) {
	message, reason := map[string]any{"role": "assistant", "content": o.text}, "stop"
	if len(o.calls) > 0 {
		var calls []any
		for i, c := range o.calls {
			calls = append(calls, map[string]any{"index": i, "id": fmt.Sprintf("call_%d", i+1), "type": "function",
				"function": map[string]any{"name": strings.ReplaceAll(c.name, ".", "_"), "arguments": c.args}})
		}
		message["content"], message["tool_calls"], reason = nil, calls, "tool_calls"
	}
	answer := map[string]any{"id": "output", "object": "chat.completion", "created": time.Unix(0, 0).Unix(), "model": q.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": reason}}}
	if !q.Stream {
		reply(w, http.StatusOK, answer)
		return
	}
	answer["object"], answer["choices"] = "chat.completion.chunk", []any{map[string]any{"index": 0, "delta": message, "finish_reason": reason}}
	text, _ := json.Marshal(answer) // texts encode
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", text) // a client that has gone does not read it
}
