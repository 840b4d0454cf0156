package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// bedrock is the Converse wire of Amazon Bedrock.
var bedrock = wire{
	name:      "bedrock",
	requestID: "X-Amzn-Requestid",
	decode:    decodeBedrock,
	encode:    encodeBedrock,
	stream:    streamBedrock,
	media:     binaryStream,
	fail:      failBedrock,
	mark:      markBedrock,
}

// bedrockRequest is a request. As in Gemini's, the names on the wire are those of the
// fields except for the case of letters, which encoding/json does not look at.
type bedrockRequest struct {
	Messages []struct {
		Role    string
		Content []bedrockBlock
	}
	System          []bedrockBlock
	InferenceConfig struct {
		MaxTokens     *int
		Temperature   *float64
		StopSequences []string
	}
	ToolConfig *struct {
		Tools []struct {
			ToolSpec *struct {
				Name        string
				InputSchema struct{ JSON json.RawMessage }
			}
			CachePoint json.RawMessage
		}
		ToolChoice map[string]struct{ Name string }
	}
	OutputConfig *struct {
		TextFormat struct {
			Type      string
			Structure struct{ JSONSchema *struct{ Schema string } }
		}
	}
}

// bedrockBlock is a union: exactly one member is there.
type bedrockBlock struct {
	Text  *string
	Image *struct {
		Format string
		Source struct{ Bytes *string }
	}
	ToolUse *struct {
		ToolUseID, Name string
		Input           json.RawMessage
	}
	ToolResult *struct {
		ToolUseID, Status string
		Content           []bedrockBlock
	}
	ReasoningContent *struct {
		ReasoningText *struct{ Text, Signature string }
	}
	JSON, CachePoint json.RawMessage
}

func decodeBedrock(req *http.Request, body []byte) modelRequest {
	r := parse[bedrockRequest](body)
	c := r.InferenceConfig
	refuseIf(len(r.Messages) == 0, "", "A conversation must have at least one message. Try again with a conversation that has at least one message.")
	refuseIf(c.MaxTokens != nil && *c.MaxTokens < 1, "", "1 validation error detected: Value '%d' at 'inferenceConfig.maxTokens' failed to satisfy constraint: Member must have value greater than or equal to 1", value(c.MaxTokens))
	refuseIf(c.Temperature != nil && (*c.Temperature < 0 || *c.Temperature > 1), "", "1 validation error detected: Value '%v' at 'inferenceConfig.temperature' failed to satisfy constraint: Member must have value between 0 and 1", value(c.Temperature))
	q := modelRequest{model: req.PathValue("model"), maxTokens: value(c.MaxTokens), temperature: c.Temperature, stop: c.StopSequences, stream: strings.HasSuffix(req.URL.Path, "/converse-stream")}
	for i, b := range r.System {
		refuseIf(b.Text == nil && !given(b.CachePoint), "", "The content field in the system object at system.%d is empty. Add a text block and try again.", i)
		q.system += value(b.Text)
	}
	r.converse(&q)
	r.offer(&q)
	q.settled("",
		"The number of toolResult blocks at messages.{at}.content exceeds the number of toolUse blocks of previous turn.",
		"Expected toolResult blocks at messages.{next}.content for the following Ids: {ids}")
	if r.OutputConfig != nil {
		s := r.OutputConfig.TextFormat.Structure.JSONSchema
		refuseIf(r.OutputConfig.TextFormat.Type != "json_schema" || s == nil || !describesObject(json.RawMessage(s.Schema)), "", "The value at outputConfig.textFormat is not valid: a json_schema with a schema of an object is required.")
		q.bind(formatSchema)
	}
	return q
}

// converse reads the messages. Their roles must alternate, the user's first.
func (r bedrockRequest) converse(q *modelRequest) {
	for i, m := range r.Messages {
		out := utterance{at: i, own: m.Role == "assistant"}
		refuseIf(m.Role != "user" && m.Role != "assistant", "", "1 validation error detected: Value '%s' at 'messages.%d.member.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]", clip.Runes(m.Role, 40), i+1)
		refuseIf(i == 0 && out.own, "", "A conversation must start with a user message. Try again with a conversation that starts with a user message.")
		refuseIf(i > 0 && out.own == q.messages[i-1].own, "", "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.")
		refuseIf(len(m.Content) == 0, "", "The content field in the Message object at messages.%d is empty. Add a ContentBlock object to the content field and try again.", i)
		for j, b := range m.Content {
			at := fmt.Sprintf("messages.%d.content.%d", i, j)
			refuseIf(r.ToolConfig == nil && (b.ToolUse != nil || b.ToolResult != nil), "", "The toolConfig field must be defined when using toolUse and toolResult content blocks.")
			b.into(&out, at)
		}
		q.messages = append(q.messages, out)
	}
}

func (b bedrockBlock) into(out *utterance, at string) {
	switch {
	case b.Text != nil:
		refuseIf(strings.TrimSpace(*b.Text) == "", "", "The text field in the ContentBlock object at %s is blank. Add text to the text field, and try again.", at)
		out.text += *b.Text
	case b.Image != nil && !out.own:
		refuseIf(b.Image.Source.Bytes == nil || !slices.Contains([]string{"png", "jpeg", "gif", "webp"}, b.Image.Format), "", "The model returned the following errors: %s.image.source: bytes of a png, jpeg, gif or webp are required", at)
		p, ok := pictureOf("image/"+b.Image.Format, *b.Image.Source.Bytes)
		refuseIf(!ok, "", "The model returned the following errors: Could not process image")
		out.images = append(out.images, p)
	case b.ToolUse != nil && out.own:
		refuseIf(b.ToolUse.ToolUseID == "" || b.ToolUse.Name == "" || !isObject(b.ToolUse.Input), "", "The format of the value at %s.toolUse.input is invalid. Provide a json object for the field and try again.", at)
		out.calls = append(out.calls, invocation{ID: b.ToolUse.ToolUseID, Name: b.ToolUse.Name, Args: string(b.ToolUse.Input)})
	case b.ToolResult != nil && !out.own:
		b.result(out, at)
	case b.ReasoningContent != nil && out.own:
		if t := b.ReasoningContent.ReasoningText; t != nil && t.Signature != signature(t.Text) {
			refuse("", "The model returned the following errors: %s: Invalid `signature` in `thinking` block", at)
		}
	case given(b.CachePoint):
	default:
		refuse("", "The content block at %s is of a kind that a message of this role cannot have.", at)
	}
}

func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) && json.Valid(raw)
}

func (b bedrockBlock) result(out *utterance, at string) {
	t := b.ToolResult
	refuseIf(t.Status != "" && t.Status != "success" && t.Status != "error", "", "1 validation error detected: Value '%s' at '%s.toolResult.status' failed to satisfy constraint: Member must satisfy enum value set: [success, error]", clip.Runes(t.Status, 40), at)
	r := result{id: t.ToolUseID, failed: t.Status == "error"}
	for i, part := range t.Content {
		var inner utterance
		if given(part.JSON) {
			r.text += string(part.JSON)
			continue
		}
		refuseIf(part.Text == nil && part.Image == nil, "", "The content block at %s.toolResult.content.%d is of a kind that a tool result cannot have.", at, i)
		part.into(&inner, fmt.Sprintf("%s.toolResult.content.%d", at, i))
		r.text += inner.text
		r.images = append(r.images, inner.images...)
	}
	out.results = append(out.results, r)
}

func (r bedrockRequest) offer(q *modelRequest) {
	if r.ToolConfig == nil {
		return
	}
	for i, t := range r.ToolConfig.Tools {
		switch s := t.ToolSpec; {
		case s == nil && given(t.CachePoint):
			continue
		case s == nil || !functionName.MatchString(s.Name):
			refuse("", "1 validation error detected: Value at 'toolConfig.tools.%d.member.toolSpec.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+", i+1)
		case !describesObject(s.InputSchema.JSON):
			refuse("", "The value at toolConfig.tools.%d.toolSpec.inputSchema.json.type must be one of the following: object.", i)
		case slices.Contains(q.tools, s.Name):
			refuse("", "The tool name %s is used more than once in toolConfig.tools.", s.Name)
		}
		q.offer(t.ToolSpec.Name, t.ToolSpec.InputSchema.JSON)
	}
	refuseIf(len(q.tools) == 0, "", "1 validation error detected: Value '[]' at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1")
	refuseIf(len(r.ToolConfig.ToolChoice) > 1, "", "The toolChoice field is a union: set one member of it.")
	for kind, c := range r.ToolConfig.ToolChoice {
		switch kind {
		case "auto":
		case "any":
			q.choice = choiceAny
		case "tool":
			q.choice, q.tool = choiceNamed, c.Name
			refuseIf(!slices.Contains(q.tools, c.Name), "", "The tool %s of toolConfig.toolChoice is not defined in toolConfig.tools.", clip.Runes(c.Name, 64))
		default:
			refuse("", "The toolChoice field has no member %s.", clip.Runes(kind, 40))
		}
	}
}
