package process

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/cupel-eval/cupel/internal/mcp"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// askMCP makes a request of an MCP server: tools and call are the protocol's own, reset and
// state its extra methods. _meta has the time of the call, and in the answer changed and
// harm.
func askMCP(ctx context.Context, c *mcp.Client, method string, params json.RawMessage) (answer reply, err error) {
	switch method {
	case "tools":
		var list []json.RawMessage
		if list, err = c.List(ctx); err == nil {
			answer.Result, err = plainjson.Marshal(list)
		}
	case "call":
		answer, err = callMCP(ctx, c, params)
	default:
		answer.Result, err = c.Request(ctx, method, params)
	}
	if refused, ok := errors.AsType[*mcp.RefusedError](err); ok {
		return reply{Error: &refusal{Code: refused.Code, Message: refused.Message}}, nil
	}
	return answer, err
}

// callMCP calls a tool. An error in the result is a refusal.
func callMCP(ctx context.Context, c *mcp.Client, params json.RawMessage) (reply, error) {
	var call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Now       string          `json:"now"`
	}
	if err := json.Unmarshal(params, &call); err != nil {
		return reply{}, err
	}
	result, err := c.Call(ctx, call.Name, call.Arguments, map[string]string{"now": call.Now})
	if err != nil {
		return reply{}, err
	}
	if result.IsError {
		return reply{Error: &refusal{Code: "E_TOOL", Message: result.Text()}}, nil
	}
	var meta struct {
		Changed *bool  `json:"changed"`
		Harm    string `json:"harm"`
	}
	if result.Meta != nil && json.Unmarshal(result.Meta, &meta) != nil {
		return reply{}, c.Fail("answers tools/call with _meta %s; answer {\"changed\": true, \"harm\": \"why\"}", result.Meta)
	}
	value, err := result.Value()
	return reply{Result: value, Changed: meta.Changed, Harm: meta.Harm}, err
}
