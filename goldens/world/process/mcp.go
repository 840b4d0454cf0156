package process

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
)

// mcpVersion is the revision of the Model Context Protocol that cupel offers.
const mcpVersion = "2025-06-18"

// initialize opens an MCP session. Any revision that the server prefers will do: the
// methods used have not changed.
func (c *conn) initialize(ctx context.Context) error {
	hello := json.RawMessage(`{"protocolVersion":"` + mcpVersion + `","capabilities":{},"clientInfo":{"name":"cupel","version":"1"}}`)
	answer, err := c.roundTrip(ctx, "initialize", hello)
	switch {
	case err != nil:
		return err
	case answer.Error != nil:
		return c.fail("refuses initialize: %s", answer.Error.Message)
	}
	if err := c.write(json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); err != nil {
		return c.exited("initialize")
	}
	return nil
}

// serve answers a request of the server's own: ping, and nothing else. Notifications are
// passed over.
func (c *conn) serve(m message) error {
	if m.ID == nil {
		return nil
	}
	out := message{Version: "2.0", ID: m.ID}
	if m.Method == "ping" {
		out.Result = json.RawMessage(`{}`)
	} else {
		out.Error = &refusal{Code: -32601, Message: "cupel offers no " + m.Method}
	}
	return c.write(out)
}

// askMCP makes a request of an MCP server: tools and call are the protocol's own, reset and
// state its extra methods.
func (c *conn) askMCP(ctx context.Context, method string, params json.RawMessage) (reply, error) {
	switch method {
	case "tools":
		return c.listMCP(ctx)
	case "call":
		return c.callMCP(ctx, params)
	}
	answer, err := c.roundTrip(ctx, method, params)
	return answer.reply, err
}

// listMCP collects the pages of tools/list.
func (c *conn) listMCP(ctx context.Context) (reply, error) {
	const maxPages = 100
	var all []json.RawMessage
	params := json.RawMessage(`{}`)
	for range maxPages {
		answer, err := c.roundTrip(ctx, "tools/list", params)
		if err != nil || answer.Error != nil {
			return answer.reply, err
		}
		var page struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(answer.Result, &page); err != nil {
			return reply{}, c.fail("answers tools/list with %s; answer {\"tools\": [...]}", quote(answer.Result))
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" {
			list, err := encode(all)
			return reply{Result: list}, err
		}
		if params, err = encode(map[string]string{"cursor": page.NextCursor}); err != nil {
			return reply{}, err
		}
	}
	return reply{}, c.fail("answers tools/list with more than %d pages", maxPages)
}

// callMCP calls a tool. The value is the structured content; else the one text, as the
// object or list that it writes or as a text; else the list of contents. An error in the
// result, or of an unknown tool, is a refusal. _meta has the time of the call, and in the
// answer changed and harm.
func (c *conn) callMCP(ctx context.Context, params json.RawMessage) (reply, error) {
	var call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Now       string          `json:"now"`
	}
	if err := json.Unmarshal(params, &call); err != nil {
		return reply{}, err
	}
	params, err := encode(map[string]any{"name": call.Name, "arguments": call.Arguments, "_meta": map[string]string{"now": call.Now}})
	if err != nil {
		return reply{}, err
	}
	answer, err := c.roundTrip(ctx, "tools/call", params)
	if err != nil || answer.Error != nil {
		return answer.reply, err
	}
	var result struct {
		Content           json.RawMessage `json:"content"`
		StructuredContent json.RawMessage `json:"structuredContent"`
		IsError           bool            `json:"isError"`
		Meta              struct {
			Changed *bool  `json:"changed"`
			Harm    string `json:"harm"`
		} `json:"_meta"`
	}
	var content []struct{ Type, Text string }
	if json.Unmarshal(answer.Result, &result) != nil || json.Unmarshal(result.Content, &content) != nil {
		return reply{}, c.fail("answers tools/call with %s; answer {\"content\": [...]}", quote(answer.Result))
	}
	if result.IsError {
		var texts []string
		for _, part := range content {
			texts = append(texts, part.Text)
		}
		return reply{Error: &refusal{Code: "E_TOOL", Message: strings.Join(texts, "\n")}}, nil
	}
	out := reply{Result: result.StructuredContent, Changed: result.Meta.Changed, Harm: result.Meta.Harm}
	switch {
	case out.Result != nil:
	case len(content) == 1 && content[0].Type == "text":
		out.Result, err = textValue(content[0].Text)
	default:
		out.Result = result.Content
	}
	return out, err
}

// textValue is the value of a text: the object or list that it is, or else the text.
func textValue(text string) (json.RawMessage, error) {
	if trimmed := bytes.TrimSpace([]byte(text)); len(trimmed) > 0 && strings.IndexByte("{[", trimmed[0]) >= 0 && json.Valid(trimmed) {
		return trimmed, nil
	}
	return encode(text)
}
