package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cupel-eval/cupel/internal/lines"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// version is the revision of the protocol that the client offers. Any revision that the
// server prefers will do: the methods used have not changed. Newer ones begin with another
// request than initialize, which servers that know only older ones may not survive.
const version = "2025-11-25"

// Client is a session with a server. Safe for concurrent use.
type Client struct {
	name    string // of the server, in messages
	timeout time.Duration
	session *mcp.ClientSession
	wire    *wire
	process *lines.Process // nil over HTTP

	mu     sync.Mutex
	broken error // why a command was ended
}

// DialCommand starts a server and opens a session over its standard input and output. The
// timeout bounds the start and each answer.
func DialCommand(ctx context.Context, p lines.Program, timeout time.Duration) (*Client, error) {
	process, err := p.Start()
	if err != nil {
		return nil, err
	}
	c := &Client{name: p.String(), timeout: timeout, process: process}
	if err := c.open(ctx, &stdio{process: process}); err != nil {
		process.Close(0)
		return nil, err
	}
	return c, nil
}

// DialURL opens a session over HTTP. name is how messages name the server, the headers are
// sent with every request.
func DialURL(ctx context.Context, name, url string, headers http.Header, transport http.RoundTripper, timeout time.Duration) (*Client, error) {
	c, base := &Client{name: name, timeout: timeout}, &bounded{next: transport, headers: headers}
	err := c.open(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: lines.MaxLine,
		HTTPClient: &http.Client{
			Transport:     base,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	})
	if err != nil {
		return nil, err
	}
	base.version = c.session.InitializeResult().ProtocolVersion
	return c, nil
}

// open agrees on the protocol. It announces no capabilities, because servers offer other
// tools to clients that have some.
func (c *Client) open(ctx context.Context, t mcp.Transport) error {
	sdk := mcp.NewClient(&mcp.Implementation{Name: "cupel", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	c.wire = &wire{transport: t, waiting: map[string]chan *jsonrpc.Response{}, broken: make(chan struct{})}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var err error
	if c.session, err = sdk.Connect(limited, c.wire, &mcp.ClientSessionOptions{ProtocolVersion: version}); err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*jsonrpc.Error](c.wire.refusal); ok { // nothing is being read any more
		return c.Fail("refuses initialize: %s", refused.Message)
	}
	return c.explain(ctx, limited, "initialize", err)
}

// Server returns the name and the version that the server gives itself.
func (c *Client) Server() (name, version string) {
	if info := c.session.InitializeResult().ServerInfo; info != nil {
		return info.Name, info.Version
	}
	return "", ""
}

// RefusedError is an error that the server answered a request with.
type RefusedError struct {
	Code    float64
	Message string
}

// Error implements error.
func (e *RefusedError) Error() string { return fmt.Sprintf("%v: %s", e.Code, e.Message) }

// TimeoutError says that the server did not answer in time. It is told that cupel does not wait
// for the answer any more, and the session continues.
type TimeoutError struct{ error }

// Request makes a request and returns its result as the server wrote it. An error is a
// *RefusedError, a *TimeoutError, that of the context, or what the server did wrong.
func (c *Client) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	c.mu.Lock()
	broken := c.broken
	c.mu.Unlock()
	if broken != nil {
		return nil, broken
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	answer, err := c.wire.request(limited, method, params)
	var refused *jsonrpc.Error
	switch {
	case err != nil && ctx.Err() == nil && limited.Err() != nil && c.wire.failure() == nil:
		return nil, &TimeoutError{c.late(method)}
	case err != nil:
		return nil, c.explain(ctx, limited, method, err)
	case errors.As(answer.Error, &refused):
		return nil, &RefusedError{Code: float64(refused.Code), Message: refused.Message}
	case answer.Error != nil:
		return nil, answer.Error
	}
	return answer.Result, nil
}

// explain says why a request has no answer. A command is ended, and all later requests
// fail for the same reason.
func (c *Client) explain(ctx, limited context.Context, method string, err error) error {
	if c.process == nil {
		return c.fault(ctx, limited, method, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = c.fault(ctx, limited, method, err)
		c.process.Close(0)
	}
	return c.broken
}

func (c *Client) fault(ctx, limited context.Context, method string, err error) error {
	failure := c.wire.failure()
	var garbage garbageError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil && c.process != nil:
		return c.process.Late(method, c.timeout)
	case limited.Err() != nil:
		return c.late(method)
	case c.process == nil:
		return fmt.Errorf("%s, request %s: %w", c.name, method, err)
	case errors.As(failure, &garbage):
		return c.process.Garbage(garbage)
	case failure != nil:
		err = failure
	}
	return c.process.Explain(err, method, "return less")
}

func (c *Client) late(method string) error {
	return fmt.Errorf("%s did not answer %s within %v", c.name, method, c.timeout)
}

// Fail ends the session and makes an error that names the server.
func (c *Client) Fail(format string, args ...any) error {
	if c.process == nil {
		c.Close()
		return fmt.Errorf("%s %s", c.name, fmt.Sprintf(format, args...))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = c.process.Fail(format, args...)
	return c.broken
}

// Close ends the session and the command.
func (c *Client) Close() {
	if c.process != nil {
		c.process.Close(lines.Grace) // a session of which the command is gone ends immediately
	}
	if c.session != nil {
		_ = c.session.Close() // the server may be gone
	}
}

// maxPages bounds the pages of tools/list.
const maxPages = 100

// List collects the pages of tools/list, each tool as the server describes it.
func (c *Client) List(ctx context.Context) ([]json.RawMessage, error) {
	var all []json.RawMessage
	params := json.RawMessage(`{}`)
	for range maxPages {
		answer, err := c.Request(ctx, "tools/list", params)
		if err != nil {
			return nil, err
		}
		var page struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return nil, c.Fail("answers tools/list with %s; answer {\"tools\": [...]}", lines.Quote(answer))
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" {
			return all, nil
		}
		if params, err = json.Marshal(map[string]string{"cursor": page.NextCursor}); err != nil {
			return nil, err
		}
	}
	return nil, c.Fail("answers tools/list with more than %d pages", maxPages)
}

// Result is what a call of a tool returned.
type Result struct {
	Content    json.RawMessage `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
	Meta       json.RawMessage `json:"_meta,omitempty"`
}

// Call calls a tool. meta, if not nil, goes along as _meta. The error is that of Request.
func (c *Client) Call(ctx context.Context, name string, args json.RawMessage, meta map[string]string) (Result, error) {
	params, err := plainjson.Marshal(struct {
		Name      string            `json:"name"`
		Arguments json.RawMessage   `json:"arguments"`
		Meta      map[string]string `json:"_meta,omitempty"`
	}{name, args, meta})
	if err != nil {
		return Result{}, err
	}
	answer, err := c.Request(ctx, "tools/call", params)
	if err != nil {
		return Result{}, err
	}
	var out Result
	if json.Unmarshal(answer, &out) != nil || json.Unmarshal(out.Content, new([]part)) != nil {
		return Result{}, c.Fail("answers tools/call with %s; answer {\"content\": [...]}", lines.Quote(answer))
	}
	return out, nil
}

// part is one content of a result.
type part struct{ Type, Text string }

func (r Result) parts() (parts []part) {
	_ = json.Unmarshal(r.Content, &parts) // as Call has done
	return parts
}

// Text joins the texts of the content.
func (r Result) Text() string {
	var out bytes.Buffer
	for i, p := range r.parts() {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(p.Text)
	}
	return out.String()
}

// Value is the structured content; else the one text, as the object or list that it writes
// or as a text; else the list of contents.
func (r Result) Value() (json.RawMessage, error) {
	parts := r.parts()
	switch {
	case r.Structured != nil:
		return r.Structured, nil
	case len(parts) != 1 || parts[0].Type != "text":
		return r.Content, nil
	}
	text := bytes.TrimSpace([]byte(parts[0].Text))
	if len(text) > 0 && bytes.IndexByte([]byte("{["), text[0]) >= 0 && json.Valid(text) {
		return text, nil
	}
	return plainjson.Marshal(parts[0].Text)
}
