package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cupel-eval/cupel/internal/lines"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// wire carries the messages of the SDK's session and, between them, requests whose results
// must stay as the server wrote them: the SDK would round their numbers and order their
// names, and knows only its own methods.
type wire struct {
	transport mcp.Transport
	mcp.Connection

	mu      sync.Mutex
	last    int
	waiting map[string]chan *jsonrpc.Response // by id
	refusal error                             // of the server, to initialize
	err     error                             // of the first read that failed
	broken  chan struct{}                     // closed with err
}

// Connect implements mcp.Transport.
func (w *wire) Connect(ctx context.Context) (mcp.Connection, error) {
	var err error
	w.Connection, err = w.transport.Connect(ctx)
	return w, err
}

// Read implements mcp.Connection.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := w.Connection.Read(ctx)
		w.mu.Lock()
		if err != nil && w.err == nil {
			w.err = err
			close(w.broken)
		}
		answer, _ := m.(*jsonrpc.Response)
		var to chan *jsonrpc.Response
		if answer != nil {
			id, _ := answer.ID.Raw().(string)
			to = w.waiting[id]
			if delete(w.waiting, id); to == nil && w.refusal == nil {
				w.refusal = answer.Error
			}
		}
		w.mu.Unlock()
		if to == nil {
			return m, err
		}
		to <- answer
	}
}

// failure is why nothing more can be read; nil if it can.
func (w *wire) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// request makes a request beside those of the SDK.
func (w *wire) request(ctx context.Context, method string, params json.RawMessage) (*jsonrpc.Response, error) {
	w.mu.Lock()
	w.last++
	name := "cupel-" + strconv.Itoa(w.last)
	to := make(chan *jsonrpc.Response, 1)
	w.waiting[name] = to
	w.mu.Unlock()
	id, err := jsonrpc.MakeID(name)
	if err != nil {
		return nil, err
	}
	if err := w.Write(ctx, &jsonrpc.Request{ID: id, Method: method, Params: params}); err != nil {
		return nil, err
	}
	select {
	case answer := <-to:
		return answer, nil
	case <-w.broken:
		return nil, w.failure()
	case <-ctx.Done():
		w.cancel(name)
		return nil, ctx.Err()
	}
}

// cancel tells the server that its answer is no longer awaited. It does not wait for
// the server either.
func (w *wire) cancel(id string) {
	w.mu.Lock()
	delete(w.waiting, id)
	w.mu.Unlock()
	ctx, stop := context.WithTimeout(context.Background(), lines.Grace)
	defer stop()
	params, err := plainjson.Marshal(map[string]string{"requestId": id})
	if err == nil {
		_ = w.Write(ctx, &jsonrpc.Request{Method: "notifications/cancelled", Params: params})
	}
}

// stdio is a transport over the lines of a command.
type stdio struct {
	process *lines.Process
	mu      sync.Mutex // of writes
}

// Connect implements mcp.Transport.
func (s *stdio) Connect(context.Context) (mcp.Connection, error) { return s, nil }

// SessionID implements mcp.Connection.
func (s *stdio) SessionID() string { return "" }

// Close implements mcp.Connection.
func (s *stdio) Close() error {
	s.process.Close(lines.Grace)
	return nil
}

// Write implements mcp.Connection.
func (s *stdio) Write(ctx context.Context, m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, s.process.Kill)
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process.Write(line)
}

// garbageError is a line that is not a message.
type garbageError []byte

// Error implements error.
func (e garbageError) Error() string { return "not a message: " + lines.Quote(e) }

// Read implements mcp.Connection.
func (s *stdio) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, err := s.process.Read()
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		m, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			return nil, garbageError(bytes.Clone(line[:min(len(line), 1<<10)]))
		}
		return m, nil
	}
}

// bounded is a transport that adds headers and bounds answers.
type bounded struct {
	next    http.RoundTripper
	headers http.Header
	// version is the revision that was agreed on: the SDK's own connection cannot learn of it
	// through a wire.
	version string
}

// RoundTrip implements http.RoundTripper.
func (b *bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	maps.Copy(req.Header, b.headers)
	if b.version != "" {
		req.Header.Set("Mcp-Protocol-Version", b.version)
	}
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &boundedBody{resp.Body, lines.MaxLine}
	return resp, nil
}

// boundedBody fails after so many bytes.
type boundedBody struct {
	io.ReadCloser
	left int64
}

// errLong is the error of an answer that is too long.
var errLong = errors.New("the answer is longer than " + fmt.Sprint(lines.MaxLine>>20) + " MiB")

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errLong
	}
	return n, err
}
