// Package proxy is the HTTP server that foreign programs take for their models and tools.
// A session is what one program, or one episode of it, reaches under a URL with a token of
// its own; the package knows nothing of episodes. A server answers only requests that name
// this machine or the advertised host, and forwards only what package gateway knows.
package proxy

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cupel-eval/cupel/internal/loopback"
	"github.com/cupel-eval/cupel/providers/gateway"
)

// The bounds of a session.
const (
	MaxBody     = 64 << 20 // bytes of a request
	MaxRequests = 10_000
	maxEnded    = 1 << 16 // sessions that ended and are still known, to be counted
	maxNotes    = 64      // hosts, and refused requests, that a session lists
)

// Options configure a Server. The zero value listens on a free port of 127.0.0.1.
type Options struct {
	// Listen is host:port. A host that is not loopback needs Remote.
	Listen string
	Remote bool
	// Advertise is the URL that programs get in place of the bound address, such as
	// http://host.docker.internal:8123, without a path.
	Advertise string
}

// Server serves sessions. Its methods are safe for concurrent use.
type Server struct {
	http *loopback.Server
	url  string
	host string // that of Advertise, in lower case
	ctx  context.Context

	mu     sync.Mutex
	open   map[string]*Handle       // by token
	stable map[string][]*Handle     // open ones by secret
	ended  map[string]*atomic.Int64 // late requests by token
	order  []string                 // of ended
	oldest int                      // in order, once it is full
}

// Session is what a program reaches.
type Session struct {
	// Token is part of the URL, and the key that the program gets in place of a provider's.
	// Empty means one of 128 random bits.
	Token string
	// Secret makes the session reachable at /s/SECRET/…, too: by requests that carry the
	// token as their key, or TraceID in their traceparent, or neither if Any is set and the
	// session is the only open one of the secret. Empty means it is not.
	Secret  string
	TraceID string // 32 hexadecimal digits in lower case
	Any     bool
	// Model answers a request to a model. Its context ends with the session, not when the
	// program stops waiting: a reply that was paid for is read to its end. An error becomes
	// HTTP 400 in the form of the request's API, a *Refusal has its own status.
	Model func(ctx context.Context, r gateway.Request) (*http.Response, error)
	// MCP answers at …/mcp, OTLP at …/v1/traces, …/v1/logs and …/v1/metrics; nil is 404.
	MCP, OTLP http.Handler
}

// Refusal is an error of Session.Model with a status.
type Refusal struct {
	Status  int
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// Start listens until Close is called or ctx ends.
func Start(ctx context.Context, o Options) (*Server, error) {
	s := &Server{ctx: ctx, open: map[string]*Handle{}, stable: map[string][]*Handle{}, ended: map[string]*atomic.Int64{}}
	if o.Advertise != "" {
		u, err := url.Parse(o.Advertise)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "" {
			return nil, fmt.Errorf("start the model proxy: advertise %q is not a URL of a host; write one such as http://host.docker.internal:8123", o.Advertise)
		}
		s.host = strings.ToLower(u.Hostname())
	}
	var err error
	if s.http, err = loopback.Start(ctx, o.Listen, http.HandlerFunc(s.serve), o.Remote); err != nil {
		return nil, fmt.Errorf("start the model proxy: %w", err)
	}
	s.url = strings.TrimRight(cmp.Or(o.Advertise, s.http.URL()), "/")
	return s, nil
}

// URL is the address that programs get, without a path.
func (s *Server) URL() string { return s.url }

// Close stops the server. Sessions need not be closed before.
func (s *Server) Close() error { return s.http.Close() }

// Open makes a session reachable until its Close. Its error is that of a token which is in
// use, or was.
func (s *Server) Open(session Session) (*Handle, error) {
	session.Token = cmp.Or(session.Token, NewToken())
	h := &Handle{s: s, session: session, late: new(atomic.Int64), idle: make(chan struct{})}
	h.ctx, h.cancel = context.WithCancel(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[session.Token] != nil || s.ended[session.Token] != nil {
		h.cancel()
		return nil, errors.New("open a session of the model proxy: its token is in use")
	}
	s.open[session.Token] = h
	if session.Secret != "" {
		s.stable[session.Secret] = append(s.stable[session.Secret], h)
	}
	return h, nil
}

// NewToken returns 128 random bits as 32 hexadecimal digits.
func NewToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return fmt.Sprintf("%x", b)
}

// Handle is an open session. Its methods are safe for concurrent use.
type Handle struct {
	s       *Server
	session Session
	ctx     context.Context
	cancel  context.CancelFunc
	late    *atomic.Int64
	hosts   hosts

	mu       sync.Mutex
	requests int
	inFlight int
	closed   bool
	idle     chan struct{} // closed once it is closed and nothing is in flight
	refused  []string
}

// Base is the session's URL, without /v1.
func (h *Handle) Base() string { return h.s.url + "/e/" + h.session.Token }

// Token is the key that the program gets.
func (h *Handle) Token() string { return h.session.Token }

// Refuse is the URL of a forward proxy that refuses every host and lists it: see Hosts.
func (h *Handle) Refuse() string {
	scheme, host, _ := strings.Cut(h.s.url, "://")
	return scheme + "://cupel:" + h.session.Token + "@" + host
}

// Hosts are the hosts that the program tried to reach through Refuse, sorted, at most 64
// of them.
func (h *Handle) Hosts() []string { return h.hosts.list() }

// Late is how many requests came after Close so far.
func (h *Handle) Late() int { return int(h.late.Load()) }

// Refused are the first 64 requests that were refused before Session.Model: method, path
// and reason.
func (h *Handle) Refused() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.refused)
}

// Close ends the session: further requests get 410 and are counted. It waits for those in
// flight until ctx ends, then cancels them. A second call only waits.
func (h *Handle) Close(ctx context.Context) {
	h.s.end(h)
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		if h.inFlight == 0 {
			close(h.idle)
		}
	}
	h.mu.Unlock()
	select {
	case <-h.idle:
	case <-ctx.Done():
	}
	h.cancel()
	<-h.idle
}

// end makes a session unreachable.
func (s *Server) end(h *Handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := h.session.Token
	if s.open[token] != h {
		return
	}
	delete(s.open, token)
	s.ended[token] = h.late
	if len(s.order) < maxEnded {
		s.order = append(s.order, token)
	} else {
		delete(s.ended, s.order[s.oldest])
		s.order[s.oldest] = token
		s.oldest = (s.oldest + 1) % maxEnded
	}
	if secret := h.session.Secret; secret != "" {
		s.stable[secret] = slices.DeleteFunc(s.stable[secret], func(other *Handle) bool { return other == h })
		if len(s.stable[secret]) == 0 {
			delete(s.stable, secret)
		}
	}
}

// begin counts a request and says why it is refused, if it is.
func (h *Handle) begin() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		h.late.Add(1)
		return errEnded
	}
	h.requests++
	if h.requests > MaxRequests {
		return fmt.Errorf("this is request %d; a session takes at most %d", h.requests, MaxRequests)
	}
	h.inFlight++
	return nil
}

func (h *Handle) done() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.inFlight--; h.inFlight == 0 && h.closed {
		close(h.idle)
	}
}

// note keeps a refused request for Refused.
func (h *Handle) note(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.refused) < maxNotes {
		h.refused = append(h.refused, what)
	}
}

// hosts are names of hosts, at most maxNotes.
type hosts struct {
	mu    sync.Mutex
	names map[string]bool
}

func (n *hosts) add(address string) {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		name = address
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names == nil {
		n.names = map[string]bool{}
	}
	if len(n.names) < maxNotes {
		n.names[strings.ToLower(name[:min(len(name), 253)])] = true
	}
}

func (n *hosts) list() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := make([]string, 0, len(n.names))
	for name := range n.names {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
