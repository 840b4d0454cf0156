// Package session makes calls of the tools of MCP servers.
//
// Every request goes through an http.RoundTripper, as a POST to http://mcp.invalid/SERVER/open
// or http://mcp.invalid/SERVER/call/TOOL with the arguments as canonical JSON. Put a recorder
// between a session and a local.Transport, and the recorder's replay answers all requests
// without the server.
package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/local"
	"github.com/cupel-eval/cupel/internal/mcp"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// hostName is the host in the addresses of the requests: RFC 6761 keeps it from resolving.
const hostName = "mcp.invalid"

const (
	maxResult  = 1 << 20 // bytes of a recorded result
	maxMessage = 4 << 10 // bytes of the message of an error
)

// Session is one episode's use of a server. The server is started, or connected to, by the
// first request that reaches it. Not safe for concurrent use, but by Close.
type Session struct {
	server toolserver.Server
	// Lookup finds the environment variables of the server.
	lookup func(string) (string, bool)
	// past are the calls that were made, in order.
	past []call

	mu     sync.Mutex
	client *mcp.Client
	ended  bool
	done   int // how many of past this server has run
}

// call is one call of a tool; without a name it opens the session.
type call struct {
	name string
	args json.RawMessage
}

// New makes a session of a server. lookup finds the environment variables that it names; it
// is not needed in a replay.
func New(s toolserver.Server, lookup func(string) (string, bool)) *Session {
	return &Session{server: s, lookup: lookup}
}

// Open starts the server and compares its tools with the pinned ones. The error says what
// has changed.
func (s *Session) Open(ctx context.Context, transport http.RoundTripper) error {
	_, err := s.send(ctx, transport, "open", call{})
	return err
}

// Call calls a tool. An error is not the tool's: the server does not work, or the transport.
func (s *Session) Call(ctx context.Context, transport http.RoundTripper, c tool.Call) (tool.Result, error) {
	args, err := tool.Canonical(c.Args)
	if err != nil {
		return tool.Result{}, err
	}
	one := call{c.Name, args}
	text, err := s.send(ctx, transport, "call/"+c.Name, one)
	if err != nil {
		return tool.Result{}, err
	}
	s.past = append(s.past, one)
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return tool.Result{}, fmt.Errorf("%s, a call of %s: read the answer: %w", s.server, c.Name, err)
	}
	return a.result()
}

// send sends a request through the transport.
func (s *Session) send(ctx context.Context, transport http.RoundTripper, path string, c call) ([]byte, error) {
	body := append([]byte(nil), c.args...)
	if body == nil {
		body = []byte("{}")
	}
	return local.Post(ctx, transport, "http://"+hostName+"/"+s.server.Name+"/"+path, body, 2*maxResult, local.Answer{
		From: "server",
		Make: func(ctx context.Context) ([]byte, error) { return s.serve(ctx, c) },
		Instead: func() ([]byte, error) {
			if c.name == "" {
				return nil, fmt.Errorf("%s: its name holds a credential and is withheld", s.server)
			}
			return plainjson.Marshal(refused("E_SECRET", "the tool's answer holds a credential and is withheld"))
		},
	})
}

// Close ends the session and the server.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.client != nil {
		s.client.Close()
	}
}

// serve has the server answer a request. If recordings have answered earlier calls, as in a
// resumed recording or a fork, a server with a reset runs these again first, because it must
// be in the state they led to. One without keeps its state itself, if it has any, and must
// not do twice what it did.
func (s *Session) serve(ctx context.Context, c call) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, fmt.Errorf("%s: the episode has ended", s.server)
	}
	if s.client == nil {
		var err error
		if s.client, err = start(ctx, s.server, s.lookup); err != nil {
			return nil, err
		}
	}
	for ; s.done < len(s.past); s.done++ {
		if len(s.server.Reset) == 0 {
			continue
		}
		if _, err := s.ask(ctx, s.past[s.done]); err != nil {
			return nil, err
		}
	}
	if c.name == "" {
		name, version := s.client.Server()
		return plainjson.Marshal(map[string]string{"server": name, "version": version, "digest": s.server.Pinned.Digest})
	}
	a, err := s.ask(ctx, c)
	if err != nil {
		return nil, err
	}
	s.done++ // Call adds it to past
	return plainjson.Marshal(a)
}

// start resets what the server acts on, starts it and checks its tools.
func start(ctx context.Context, s toolserver.Server, lookup func(string) (string, bool)) (*mcp.Client, error) {
	if len(s.Reset) > 0 {
		if err := s.Program("the reset of the MCP server "+s.Name, s.Reset, lookup).Run(ctx, s.Timeout); err != nil {
			return nil, err
		}
	}
	client, now, err := dial(ctx, s, lookup)
	if err != nil {
		return nil, err
	}
	if changes := s.Pinned.Changes(now); changes != "" {
		client.Close()
		return nil, fmt.Errorf("the tools of %s are not the pinned ones: %s; to accept them, run: cupel suite tools %s --pin", s, changes, s.Dir)
	}
	return client, nil
}

// List asks a server for its tools.
func List(ctx context.Context, s toolserver.Server, lookup func(string) (string, bool)) (toolserver.Pinned, error) {
	client, now, err := dial(ctx, s, lookup)
	if err == nil {
		client.Close()
	}
	return now, err
}

func dial(ctx context.Context, s toolserver.Server, lookup func(string) (string, bool)) (client *mcp.Client, now toolserver.Pinned, err error) {
	if s.URL != "" {
		headers := http.Header{}
		for _, h := range s.Headers {
			value := h.Value
			if h.Env != "" {
				secret, ok := lookup(h.Env)
				if !ok {
					return nil, now, fmt.Errorf("%s needs a value for its header %s: set %s", s, h.Name, h.Env)
				}
				value = h.Prefix + secret
			}
			headers.Set(h.Name, value)
		}
		client, err = mcp.DialURL(ctx, s.String(), s.URL, headers, http.DefaultTransport, s.Timeout)
	} else {
		client, err = mcp.DialCommand(ctx, s.Program("the MCP server "+s.Name, s.Command, lookup), s.Timeout)
	}
	if err != nil {
		return nil, now, err
	}
	list, err := client.List(ctx)
	if err == nil {
		name, version := client.Server()
		if now, err = toolserver.Pin(name, version, list); err != nil {
			err = fmt.Errorf("%s: %w", s, err)
		}
	}
	if err != nil {
		client.Close()
		return nil, now, err
	}
	return client, now, nil
}

// ask makes one call.
func (s *Session) ask(ctx context.Context, c call) (answer, error) {
	result, err := s.client.Call(ctx, c.name, c.args, nil)
	var late *mcp.TimeoutError
	var no *mcp.RefusedError
	switch {
	case errors.As(err, &late):
		a := refused("E_TIMEOUT", fmt.Sprintf("no answer within %v", s.server.Timeout))
		a.Error.Timeout = true
		return a, nil
	case errors.As(err, &no):
		return refused(fmt.Sprintf("E_%.0f", no.Code), no.Message), nil
	case err != nil:
		return answer{}, err
	}
	result.Meta = nil
	if result.Content, err = describe(result.Content); err != nil {
		return answer{}, err
	}
	if len(result.Content)+len(result.Structured) > maxResult {
		return refused("E_TOO_LARGE", fmt.Sprintf("the tool's answer is longer than %d bytes", maxResult)), nil
	}
	return answer{Result: &result}, nil
}

// answer is what is recorded of a call: the result of the server, or an error in its place.
type answer struct {
	*mcp.Result
	Error *refusal `json:"error,omitempty"`
}

type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Timeout bool   `json:"timeout,omitempty"`
}

func refused(code, message string) answer {
	return answer{Error: &refusal{Code: code, Message: clip.Bytes(message, maxMessage)}}
}

// result is what the agent gets.
func (a answer) result() (tool.Result, error) {
	switch {
	case a.Error != nil && a.Error.Timeout:
		return tool.Result{Outcome: tool.Timeout, Code: a.Error.Code, Message: a.Error.Message}, nil
	case a.Error != nil:
		return tool.Result{Outcome: tool.Error, Code: a.Error.Code, Message: a.Error.Message}, nil
	case a.Result == nil:
		return tool.Result{}, errors.New("a recorded answer of an MCP server has neither content nor error: the cassette is damaged")
	case a.IsError:
		return tool.Result{Outcome: tool.Error, Code: "E_TOOL", Message: clip.Bytes(a.Text(), maxMessage)}, nil
	}
	value, err := a.Value()
	if err != nil {
		return tool.Result{}, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Outcome: tool.OK, Value: compact.Bytes()}, nil
}
