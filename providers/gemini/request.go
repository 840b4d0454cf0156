package gemini

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// request is the body sent. Field order is fixed: equal calls give equal bytes.
type request struct {
	System   *content    `json:"systemInstruction,omitempty"`
	Contents []content   `json:"contents"`
	Config   *config     `json:"generationConfig,omitempty"`
	Tools    []tool      `json:"tools,omitempty"`
	Choice   *toolConfig `json:"toolConfig,omitempty"`
}

// content is a message. Its parts are of type part, or raw ones that go back.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []any  `json:"parts"`
}

// config is GenerationConfig (ai.google.dev/api/generate-content).
type config struct {
	MaxTokens   int             `json:"maxOutputTokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	Seed        *int64          `json:"seed,omitempty"`
	Stop        []string        `json:"stopSequences,omitempty"`
	MIME        string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
}

// maxStop is how many stop sequences are taken.
const maxStop = 5

// newRequest says what to send, and which settings are left out.
func newRequest(call providers.Call) (request, []string) {
	var warnings []string
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	r := request{Contents: contents(call)}
	if call.System != "" {
		r.System = &content{Parts: []any{part{Text: &call.System}}}
	}
	c := config{MaxTokens: call.MaxTokens, Temperature: call.Temperature, Seed: call.Seed, Stop: call.Stop}
	if len(c.Stop) > maxStop {
		c.Stop = c.Stop[:maxStop]
		warn("stop: %d sequences are taken, the other %d were not sent", maxStop, len(call.Stop)-maxStop)
	}
	if s := call.Seed; s != nil && (*s < math.MinInt32 || *s > math.MaxInt32) {
		c.Seed = nil
		warn("seed: not part of the Gemini API beyond 32 bits, not sent")
	}
	if call.Serial && len(call.Tools) > 0 {
		warn("serial: not part of the Gemini API, not sent")
	}
	warnings = append(warnings, r.offer(call)...)
	warnings = append(warnings, c.ask(call)...)
	if c.given() {
		r.Config = &c
	}
	return r, warnings
}

func (c config) given() bool {
	return c.MaxTokens != 0 || c.Temperature != nil || c.Seed != nil || len(c.Stop) > 0 || c.MIME != ""
}

// foreignSignature represents the signature of a call that another model made,
// where Gemini 3 demands one: the base64 of skip_thought_signature_validator.
// See "Thought signatures" (ai.google.dev/gemini-api/docs/thought-signatures).
const foreignSignature = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="

// conversation turns messages into contents.
type conversation struct {
	list []content
	// calls are those made so far, by the ID of the reply. Theirs is what the
	// provider gave, and is sent back; one that was made up, here or elsewhere, is
	// not: Vertex AI's v1 refuses the field. Without it, the order identifies the call.
	calls map[string]functionCall
	// results reports that the last content holds results of tools, to which the
	// others of the same turn belong.
	results bool
	// sign reports that foreign calls need a signature.
	sign bool
}

func contents(call providers.Call) []content {
	c := conversation{list: make([]content, 0, len(call.Messages)), calls: map[string]functionCall{}, sign: signs(call.Model)}
	for _, m := range call.Messages {
		switch m.Role {
		case providers.RoleAssistant:
			c.assistant(m)
		case providers.RoleTool:
			c.tool(m)
			continue
		default:
			c.list = append(c.list, content{Role: "user", Parts: said(m)})
		}
		c.results = false
	}
	return c.list
}

// said are the images and the text of a message. Some text is always there: an
// empty content is refused.
func said(m providers.Message) []any {
	parts := pictures(m.Images)
	if m.Text != "" || len(parts) == 0 {
		parts = append(parts, part{Text: &m.Text})
	}
	return parts
}

func pictures(images []providers.Image) []any {
	var parts []any
	for _, i := range images {
		p := part{File: &file{MIME: i.MediaType, URI: i.URL}}
		if i.URL == "" {
			p = part{Inline: &blob{MIME: i.MediaType, Data: i.Data}}
		}
		parts = append(parts, p)
	}
	return parts
}

// assistant adds what a model said: as it came, if it is known.
func (c *conversation) assistant(m providers.Message) {
	raw, ids := readContinuation(m.Continuation)
	turn := content{Role: "model"}
	for _, p := range raw {
		turn.Parts = append(turn.Parts, p)
	}
	known := len(raw) > 0 && len(ids) == len(m.Calls)
	if !known {
		turn.Parts = nil
		if m.Text != "" {
			turn.Parts = append(turn.Parts, part{Text: &m.Text})
		}
	}
	for i, call := range m.Calls {
		f := functionCall{Name: call.Name, Args: arguments(call.Args)}
		if known {
			f.ID = ids[i]
		} else {
			p := part{Call: &f}
			if i == 0 && c.sign {
				p.Signature = foreignSignature
			}
			turn.Parts = append(turn.Parts, p)
		}
		c.calls[call.ID] = f
	}
	if len(turn.Parts) > 0 { // an empty content is refused
		c.list = append(c.list, turn)
	}
}

// arguments are those of a call, always as an object.
func arguments(text string) json.RawMessage {
	var object map[string]json.RawMessage
	if wire.Unmarshal([]byte(text), &object) == nil && object != nil {
		return json.RawMessage(text)
	}
	wrapped, _ := json.Marshal(map[string]string{"malformed_arguments": text}) // a string always encodes
	return wrapped
}

// tool adds a tool's answer; all answers to one turn are one content.
func (c *conversation) tool(m providers.Message) {
	f := functionResponse{Name: m.Name}
	if call, ok := c.calls[m.CallID]; ok {
		f.ID = call.ID
		f.Name = cmp.Or(f.Name, call.Name)
	}
	if m.Failed {
		f.Response.Error = &m.Text
	} else {
		f.Response.Output = &m.Text
	}
	if !c.results {
		c.list = append(c.list, content{Role: "user"})
		c.results = true
	}
	last := &c.list[len(c.list)-1]
	last.Parts = append(append(last.Parts, part{Response: &f}), pictures(m.Images)...)
}
