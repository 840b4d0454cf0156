package gemini

import (
	"encoding/json"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// part is a Part of a Content, in replies and in requests. Of those that only
// servers write, what must go back is kept as it came.
type part struct {
	Text                *string           `json:"text,omitempty"`
	Thought             bool              `json:"thought,omitempty"`
	Signature           string            `json:"thoughtSignature,omitempty"`
	Call                *functionCall     `json:"functionCall,omitempty"`
	Response            *functionResponse `json:"functionResponse,omitempty"`
	Inline              *blob             `json:"inlineData,omitempty"`
	File                *file             `json:"fileData,omitempty"`
	ExecutableCode      json.RawMessage   `json:"executableCode,omitempty"`
	CodeExecutionResult json.RawMessage   `json:"codeExecutionResult,omitempty"`
	ToolCall            json.RawMessage   `json:"toolCall,omitempty"`
	ToolResponse        json.RawMessage   `json:"toolResponse,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type functionResponse struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name"`
	Response result `json:"response"`
}

// result has the keys that the API knows: see FunctionResponse (ai.google.dev/api/caching).
type result struct {
	Output *string `json:"output,omitempty"`
	Error  *string `json:"error,omitempty"`
}

type blob struct {
	MIME string `json:"mimeType"`
	Data []byte `json:"data"`
}

type file struct {
	MIME string `json:"mimeType,omitempty"`
	URI  string `json:"fileUri"`
}

// into writes a part into the reply. What server tools ran does not show there.
func (p part) into(b *wire.Builder) {
	switch {
	case p.Call != nil:
		if string(p.Call.Args) == "null" {
			p.Call.Args = nil
		}
		b.Call("", p.Call.ID, p.Call.Name).Args(string(p.Call.Args))
	case p.Text != nil && p.Thought:
		b.Reasoning(*p.Text)
	case p.Text != nil:
		b.Text(*p.Text)
	case p.Inline != nil, p.File != nil:
		b.Warn("the reply holds data that is no text: left out")
	}
}

// kept are the parts that must go back if the conversation continues. Signatures
// belong to the very part they came with, and parts with one are not merged:
// see "Thought signatures" (ai.google.dev/gemini-api/docs/thought-signatures).
type kept struct {
	parts []part
	texts [][]byte // of those parts that are plain text, once there is more than one piece
	need  bool     // there is more than plain text
}

func (k *kept) add(p part) {
	last := len(k.parts) - 1
	switch {
	case p.Inline != nil, p.Thought && p.Signature == "":
		return
	case p.Text == nil || p.Signature != "":
		k.need = true
		k.parts, k.texts = append(k.parts, p), append(k.texts, nil)
	case *p.Text == "":
	case last >= 0 && k.parts[last].Text != nil && k.parts[last].Signature == "":
		if k.texts[last] == nil {
			k.texts[last] = []byte(*k.parts[last].Text)
		}
		k.texts[last] = append(k.texts[last], *p.Text...)
	default:
		k.parts, k.texts = append(k.parts, p), append(k.texts, nil)
	}
}

// continued is the form of a Continuation; the name distinguishes it from foreign ones.
type continued struct {
	Parts []json.RawMessage `json:"gemini_parts"`
}

// continuation is nil when Text says it all.
func (k *kept) continuation() json.RawMessage {
	if !k.need {
		return nil
	}
	parts := make([]part, len(k.parts))
	for i, p := range k.parts {
		if k.texts[i] != nil {
			p.Text = new(string(k.texts[i]))
		}
		parts[i] = p
	}
	text, err := json.Marshal(struct {
		Parts []part `json:"gemini_parts"`
	}{parts})
	if err != nil { // not with parts that were decoded
		return nil
	}
	return text
}

// readContinuation returns the parts of one of ours, and what ids its calls had.
func readContinuation(raw json.RawMessage) (parts []json.RawMessage, ids []string) {
	var c continued
	if len(raw) == 0 || wire.Unmarshal(raw, &c) != nil {
		return nil, nil
	}
	for _, text := range c.Parts {
		var p part
		if wire.Unmarshal(text, &p) != nil {
			return nil, nil
		}
		if p.Call != nil {
			ids = append(ids, p.Call.ID)
		}
	}
	return c.Parts, ids
}
