package process

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// hostName is the host in the addresses of the requests: RFC 6761 keeps it from resolving.
const hostName = "world.invalid"

type requestKey struct{}

// request is one request of a world to its command.
type request struct {
	host   *host
	method string
	params json.RawMessage
	answer []byte // once it was answered
}

// Transport answers the requests of process worlds by their commands, which it starts. It
// sits beneath a recorder, so that a replayed request starts nothing. It takes no settings
// and is safe for concurrent use.
type Transport struct{}

// Handles reports whether a request is one of a process world.
func (Transport) Handles(req *http.Request) bool {
	_, ok := req.Context().Value(requestKey{}).(request)
	return ok
}

// RoundTrip implements http.RoundTripper. An error says what the command did wrong and what
// to do, or is that of the request's context.
func (Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close() // what the command gets is in the context
	}
	one, ok := req.Context().Value(requestKey{}).(request)
	if !ok {
		return nil, fmt.Errorf("send a request to %s: not one of a world's; its command is started by a run", req.URL.Host)
	}
	answer, err := one.host.send(req.Context(), one)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(answer)),
		Body: io.NopCloser(bytes.NewReader(answer)), Request: req,
	}, nil
}

// host runs the command of one world. The process is started by the first request that
// reaches it. If recordings have answered earlier requests, as in a resumed recording or a
// fork, these are made again first, because the process must be in the state they led to.
type host struct {
	kind Kind
	// past are the answered requests that led to the world's state, in order.
	past []request

	mu    sync.Mutex
	conn  *conn
	ended bool
	done  int // how many of past this process has answered
}

// send has the command answer a request.
func (h *host) send(ctx context.Context, r request) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil, fmt.Errorf("%s: its world is closed", h.kind)
	}
	if h.conn == nil && h.kind.Pool != nil && r.method == "reset" && !h.kind.MCP {
		var answer []byte
		var err error
		if h.conn, answer, err = h.kind.Pool.reset(ctx, h.kind, r); err == nil {
			h.done++
		}
		return answer, err
	}
	if h.conn == nil {
		var err error
		if h.conn, err = start(ctx, h.kind); err != nil {
			return nil, err
		}
	}
	for ; h.done < len(h.past); h.done++ {
		was := h.past[h.done]
		again, err := h.conn.ask(ctx, was.method, was.params)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(again, was.answer) {
			return nil, fmt.Errorf("%s answers request %d (%s) differently from its recording; record the episode again, or make the command deterministic", h.kind, h.done+1, was.method)
		}
	}
	answer, err := h.conn.ask(ctx, r.method, r.params)
	if err == nil && r.method != "state" {
		h.done++ // the world adds it to past
	}
	return answer, err
}

// close ends the process, if there is one.
func (h *host) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	if h.conn != nil && (h.kind.Pool == nil || !h.kind.Pool.keep(h.conn)) {
		h.conn.close()
	}
}
