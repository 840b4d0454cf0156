package formats

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/harness/imports"
)

// maxTrial bounds the numbers of trials.
const maxTrial = 1_000_000

// chatMessage is a message in the forms of OpenAI, Anthropic, AgentDojo and Inspect.
type chatMessage struct {
	ID      string         `json:"id"`
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content"`
	Calls   []chatCall     `json:"tool_calls"`
	CallID  string         `json:"tool_call_id"`
	Name    string         `json:"name"`
	// ToolCall is the call that AgentDojo repeats in its answer; Function is Inspect's name of it.
	ToolCall jsontext.Value `json:"tool_call"`
	Function string         `json:"function"`
	// Error is why a tool failed: a text, or Inspect's object.
	Error  jsontext.Value `json:"error"`
	Others members        `json:",embed"`
}

// chatCall is a call: OpenAI's has a function with name and arguments as text, the others have the
// name and arguments as an object.
type chatCall struct {
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	Function  jsontext.Value `json:"function"`
	Name      string         `json:"name"`
	Args      jsontext.Value `json:"args"`
	Arguments jsontext.Value `json:"arguments"`
	Input     jsontext.Value `json:"input"`
	Others    members        `json:",embed"`
}

// messages converts a conversation; path is where it is in the row.
func messages(list []chatMessage, r *imports.Rows, path string) ([]imports.Message, error) {
	out := make([]imports.Message, 0, len(list))
	for i := range list {
		m := &list[i]
		to := imports.Message{Role: m.Role, CallID: m.CallID}
		switch m.Role {
		case imports.RoleSystem, imports.RoleUser, imports.RoleAssistant, imports.RoleTool:
		case "developer":
			to.Role = imports.RoleSystem
		case "human":
			to.Role = imports.RoleUser
		case "ai", "model":
			to.Role = imports.RoleAssistant
		case "function":
			to.Role = imports.RoleTool
		default:
			return nil, fmt.Errorf("message %d has the role %.40q, must be system, user, assistant or tool", i+1, m.Role)
		}
		to.Text, to.Failed = content(m.Content, r, path, &to), failure(m.Error)
		for j := range m.Calls {
			p, err := m.Calls[j].proposal(r, path)
			if err != nil {
				return nil, fmt.Errorf("message %d, call %d: %w", i+1, j+1, err)
			}
			to.Calls = append(to.Calls, p)
		}
		r.Unknown(path, m.Others)
		out = append(out, to)
	}
	return out, nil
}

// content is a text, or a list of parts of which the texts count; calls and results among them are
// those of Anthropic.
func content(v jsontext.Value, r *imports.Rows, path string, m *imports.Message) string {
	switch v.Kind() {
	case '[':
	case 0, 'n':
		return ""
	default:
		return scalar(v)
	}
	var parts []struct {
		Type      string         `json:"type"`
		Text      string         `json:"text"`
		ID        string         `json:"id"`
		Name      string         `json:"name"`
		Input     jsontext.Value `json:"input"`
		ToolUseID string         `json:"tool_use_id"`
		Content   jsontext.Value `json:"content"`
	}
	if imports.Decode(v, &parts) != nil {
		return string(v)
	}
	var texts []string
	for _, p := range parts {
		switch p.Type {
		case "", "text", "input_text", "output_text":
			texts = append(texts, p.Text)
		case "tool_use":
			m.Calls = append(m.Calls, imports.Proposal{ID: p.ID, Name: p.Name, Args: string(p.Input)})
		case "tool_result":
			m.Role, m.CallID = imports.RoleTool, p.ToolUseID
			texts = append(texts, content(p.Content, r, path, m))
		default:
			r.LeftOut("content " + path + p.Type)
		}
	}
	return strings.Join(texts, "\n")
}

func (c *chatCall) proposal(r *imports.Rows, path string) (imports.Proposal, error) {
	p := imports.Proposal{ID: c.ID, Name: c.Name}
	args := c.Args
	if args == nil {
		args = c.Arguments
	}
	if args == nil {
		args = c.Input
	}
	switch c.Function.Kind() {
	case '{':
		var f struct {
			Name      string         `json:"name"`
			Arguments jsontext.Value `json:"arguments"`
			Others    members        `json:",embed"`
		}
		if err := imports.Decode(c.Function, &f); err != nil {
			return p, err
		}
		p.Name, args = f.Name, f.Arguments
		r.Unknown(path+"tool_calls[].function.", f.Others)
	case '"':
		p.Name = scalar(c.Function)
	}
	if p.Name == "" {
		return p, fmt.Errorf("a call needs a name; it has %.60q", c.Function)
	}
	r.Unknown(path+"tool_calls[].", c.Others)
	p.Args = scalar(args)
	return p, nil
}

// failure is the text of an error: a text, or an object with a message.
func failure(v jsontext.Value) string {
	switch v.Kind() {
	case 0, 'n', 'f':
		return ""
	case '{':
		var e struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		}
		if imports.Decode(v, &e) == nil && (e.Message != "" || e.Type != "") {
			return cmp.Or(e.Message, e.Type)
		}
	}
	return scalar(v)
}

// scalar is the text of a JSON string, and of anything else its JSON.
func scalar(v jsontext.Value) string {
	if v.Kind() != '"' {
		return string(v)
	}
	var s string
	if json.Unmarshal(v, &s, jsontext.AllowInvalidUTF8(true)) != nil {
		return string(v)
	}
	return s
}

// padded makes the order of short whole numbers that of their texts.
func padded(id string) string {
	if len(id) > 0 && len(id) < 4 && strings.Trim(id, "0123456789") == "" {
		return strings.Repeat("0", 4-len(id)) + id
	}
	return id
}

// stem is the name of a file without its suffixes.
func stem(name string) string {
	name = strings.TrimSuffix(name, ".gz")
	for _, s := range []string{".json", ".jsonl", ".ndjson", ".eval"} {
		name = strings.TrimSuffix(name, s)
	}
	return name
}

// short is a name for texts: equal texts have equal names.
func short(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:4])
}
