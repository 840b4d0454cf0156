package process

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
)

// hostName is the host in the addresses of the requests: RFC 6761 keeps it from resolving.
const hostName = "world.invalid"

// request is one request of a world to its command.
type request struct {
	method string
	params json.RawMessage
	answer []byte // once it was answered
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
