package bedrock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// request is the body sent (API Reference, "Converse"). Field order is fixed:
// equal calls give equal bytes. The model is part of the address.
type request struct {
	Messages        []message        `json:"messages"`
	System          []block          `json:"system,omitempty"`
	InferenceConfig *inferenceConfig `json:"inferenceConfig,omitempty"`
	OutputConfig    *outputConfig    `json:"outputConfig,omitempty"`
	ToolConfig      *toolConfig      `json:"toolConfig,omitempty"`

	model    string
	warnings []string
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is one content block; one field of it is set.
type block struct {
	Reasoning  *reasoning  `json:"reasoningContent,omitempty"`
	Text       string      `json:"text,omitempty"`
	Image      *image      `json:"image,omitempty"`
	ToolUse    *toolUse    `json:"toolUse,omitempty"`
	ToolResult *toolResult `json:"toolResult,omitempty"`
}

type image struct {
	Format string `json:"format"`
	Source struct {
		Bytes []byte      `json:"bytes,omitempty"`
		S3    *s3Location `json:"s3Location,omitempty"`
	} `json:"source"`
}

type s3Location struct {
	URI string `json:"uri"`
}

type toolUse struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type toolResult struct {
	ID      string  `json:"toolUseId"`
	Content []block `json:"content"`
	Status  string  `json:"status,omitempty"`
}

type inferenceConfig struct {
	MaxTokens   int      `json:"maxTokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	Stop        []string `json:"stopSequences,omitempty"`
}

// newRequest says what to send, and which settings are left out.
func newRequest(call providers.Call) (*request, []string) {
	r := &request{Messages: []message{}, model: call.Model}
	if call.System != "" {
		r.System = []block{{Text: call.System}}
	}
	for i, m := range call.Messages {
		r.add(i, m)
	}
	r.infer(call)
	r.offer(call)
	r.ask(call.Format)
	if call.Seed != nil {
		r.warn("seed: not part of the Converse API, not sent")
	}
	if call.Serial {
		r.warn("serial: not part of the Converse API, not sent")
	}
	return r, r.warnings
}

func (r *request) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(r.warnings, w) {
		r.warnings = append(r.warnings, w)
	}
}

func (r *request) infer(call providers.Call) {
	c := inferenceConfig{MaxTokens: call.MaxTokens, Temperature: call.Temperature, Stop: call.Stop}
	if c.Temperature != nil && refusesTemperature(call.Model) {
		c.Temperature = nil
		r.warn("temperature: not taken by this model, not sent")
	}
	if c.MaxTokens != 0 || c.Temperature != nil || len(c.Stop) > 0 {
		r.InferenceConfig = &c
	}
}

// add adds a message. Roles must alternate, and the results of one turn's calls
// must be in one message: those of one role are put together (User Guide,
// "Use a tool to complete an Amazon Bedrock model response").
func (r *request) add(at int, m providers.Message) {
	role, blocks := m.Role, r.blocks(m)
	if role == providers.RoleTool {
		role = providers.RoleUser
	}
	if len(blocks) == 0 {
		r.warn("message %d is empty: not sent, the API refuses blank text", at+1)
		return
	}
	if last := len(r.Messages) - 1; last >= 0 && r.Messages[last].Role == role {
		r.Messages[last].Content = append(r.Messages[last].Content, blocks...)
		return
	}
	r.Messages = append(r.Messages, message{Role: role, Content: blocks})
}

// blocks is the content of a message. Signed reasoning is first.
func (r *request) blocks(m providers.Message) []block {
	if m.Role == providers.RoleTool {
		result := &toolResult{ID: m.CallID}
		switch {
		case m.Failed && r.takesStatus():
			result.Status = "error"
		case m.Failed:
			m.Text = wire.Said(m)
		}
		result.Content = append([]block{}, r.said(m)...)
		return []block{{ToolResult: result}}
	}
	var blocks []block
	if m.Role == providers.RoleAssistant {
		for _, b := range putBack(m.Continuation) {
			blocks = append(blocks, block{Reasoning: b})
		}
	}
	blocks = append(blocks, r.said(m)...)
	for _, c := range m.Calls {
		blocks = append(blocks, block{ToolUse: &toolUse{ID: c.ID, Name: c.Name, Input: r.input(c)}})
	}
	return blocks
}

// said is the images and the text of a message. Blank text is refused.
func (r *request) said(m providers.Message) []block {
	var blocks []block
	for _, i := range m.Images {
		if b := r.image(i); b != nil {
			blocks = append(blocks, block{Image: b})
		}
	}
	if strings.TrimSpace(m.Text) != "" {
		blocks = append(blocks, block{Text: m.Text})
	}
	return blocks
}

// image takes a picture as bytes or from S3 (API Reference, "ImageBlock").
func (r *request) image(i providers.Image) *image {
	b := &image{}
	switch {
	case len(i.Data) > 0:
		b.Source.Bytes = i.Data
	case strings.HasPrefix(i.URL, "s3://"):
		b.Source.S3 = &s3Location{i.URL}
	default:
		r.warn("image: the API takes bytes or an s3:// address, not sent")
		return nil
	}
	media := cmp.Or(i.MediaType, http.DetectContentType(i.Data))
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		b.Format = strings.TrimPrefix(media, "image/")
	case "image/jpg":
		b.Format = "jpeg"
	default:
		r.warn("image: the API takes png, jpeg, gif and webp, not %.60q, not sent", media)
		return nil
	}
	return b
}

// input is the arguments of a call, which must be an object. What the model once
// wrote otherwise is kept as text inside one.
func (r *request) input(c providers.ToolCall) json.RawMessage {
	if strings.TrimSpace(c.Args) == "" {
		return json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if wire.Unmarshal([]byte(c.Args), &object) == nil && object != nil {
		return json.RawMessage(c.Args)
	}
	r.warn("call %.80q: the arguments are not a JSON object, sent as text inside one", c.ID)
	text, err := json.Marshal(map[string]string{"arguments": c.Args})
	if err != nil {
		return json.RawMessage("{}") // a map of strings always encodes
	}
	return text
}

// takesStatus reports whether the model takes the status of a failed tool: Claude and
// Nova do (API Reference, "ToolResultBlock"). What an ARN represents is not known.
func (r *request) takesStatus() bool {
	return slices.ContainsFunc([]string{"claude", "nova", "arn:"}, func(part string) bool { return strings.Contains(r.model, part) })
}

// refusesTemperature reports whether a model is of the families of Claude that
// answer 400 to any temperature.
func refusesTemperature(model string) bool {
	for _, family := range []string{"claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-fable-5"} {
		if _, rest, ok := strings.Cut(model, "anthropic."+family); ok && (rest == "" || rest[0] == '-' || rest[0] == ':') {
			return true
		}
	}
	return false
}
