// Package mcp speaks the Model Context Protocol: a server of tools, and a client of
// servers that are commands or have a URL. It knows neither suites nor episodes.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBody bounds a request to the server, in bytes. The arguments of a call may have far
// fewer, which whoever runs it checks.
const maxBody = 4 << 20

// Tool is a tool that a server offers.
type Tool struct {
	Name, Description string
	// Schema is the JSON Schema of the arguments, an object. It is offered as it is;
	// only a missing "type" is added, because clients refuse a schema without it.
	Schema json.RawMessage
	// ReadOnly is the annotation readOnlyHint: the tool changes nothing.
	ReadOnly bool
}

// Answer is what the call of a tool returned: a Value, or with a Code an error, of which
// Message says more.
type Answer struct {
	Value         json.RawMessage
	Code, Message string
}

// ServerOptions describe a server.
type ServerOptions struct {
	Name, Version string
	// Tools are listed in this order.
	Tools []Tool
	// Call runs a tool. It is called in parallel, for tools of the list only and with
	// arguments that are a JSON object. The context ends when the client hangs up. An error
	// is not an answer of the tool: the client is told its text as an error of the protocol.
	// Return one after the end of the episode.
	Call func(ctx context.Context, name string, args json.RawMessage) (Answer, error)
}

// Handler returns a server that speaks streamable HTTP without state: it ignores session
// ids, so any number of sessions may use it, in parallel, and it answers a GET with 405.
// All answers are application/json. It does not check the Host of a request: whoever listens
// does. Safe for concurrent use.
func Handler(o ServerOptions) http.Handler {
	s := &server{options: o}
	for _, t := range o.Tools {
		s.tools = append(s.tools, &mcp.Tool{
			Name: t.Name, Description: t.Description, InputSchema: objectSchema(t.Schema),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly},
		})
	}
	h := mcp.NewStreamableHTTPHandler(s.of, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: maxBody,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Clients that can only read one of the two are served, too.
		r = r.Clone(r.Context())
		r.Header.Set("Accept", "application/json, text/event-stream")
		h.ServeHTTP(w, r)
	})
}

type server struct {
	options ServerOptions
	tools   []*mcp.Tool
}

// of is the SDK's server for a request. Each request has one of its own, because a call must
// end with its request, and the SDK's context of a call does not.
func (s *server) of(r *http.Request) *mcp.Server {
	sdk := mcp.NewServer(&mcp.Implementation{Name: s.options.Name, Version: s.options.Version}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	sdk.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler { return s.receive(r.Context(), next) })
	return sdk
}

// receive lists and calls the tools. The SDK's own way sorts them by name and panics on
// schemas that cupel takes.
func (s *server) receive(request context.Context, next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, ok := req.(*mcp.CallToolRequest); ok {
			return s.call(request, call.Params)
		}
		res, err := next(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok && err == nil {
			list.Tools = s.tools
		}
		return res, err
	}
}

// call runs a tool.
func (s *server) call(ctx context.Context, p *mcp.CallToolParamsRaw) (mcp.Result, error) {
	if !slices.ContainsFunc(s.tools, func(t *mcp.Tool) bool { return t.Name == p.Name }) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", p.Name)}
	}
	args := bytes.TrimSpace(p.Arguments)
	switch {
	case len(args) == 0 || string(args) == "null":
		args = []byte("{}")
	case args[0] != '{':
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("the arguments of %s must be an object", p.Name)}
	}
	answer, err := s.options.Call(ctx, p.Name, json.RawMessage(args))
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	out := &mcp.CallToolResult{}
	if p.Meta[mcp.MetaKeyProtocolVersion] != nil {
		// Requests that name their revision are of 2026-07-28 or later, whose clients refuse a
		// result that does not say that it is complete. Only decoding can set this here.
		err = out.UnmarshalJSON([]byte(`{"resultType":"complete"}`))
	}
	answer.fill(out)
	return out, err
}

// fill makes a result of the answer: text and, of an object, structured content, too. A text
// is written without quotes.
func (a Answer) fill(out *mcp.CallToolResult) {
	text, isText := "", false
	out.IsError = a.Code != ""
	switch {
	case out.IsError:
		text = a.Code + ": " + a.Message
	case bytes.HasPrefix(bytes.TrimSpace(a.Value), []byte(`"`)):
		isText = json.Unmarshal(a.Value, &text) == nil
	case bytes.HasPrefix(bytes.TrimSpace(a.Value), []byte("{")):
		out.StructuredContent = a.Value
	}
	if !out.IsError && !isText {
		text = string(a.Value)
	}
	out.Content = []mcp.Content{&mcp.TextContent{Text: text}}
}

// objectSchema adds the type that MCP demands of a schema of arguments.
func objectSchema(schema json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	if members["type"] != nil {
		return schema
	}
	rest, comma := bytes.TrimSpace(schema)[1:], ","
	if len(members) == 0 {
		comma = ""
	}
	return json.RawMessage(`{"type":"object"` + comma + string(rest))
}
