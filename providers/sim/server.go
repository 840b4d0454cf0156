package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a running simulation. Its methods are safe for concurrent use.
type Server struct {
	url    string
	http   *http.Server
	cancel context.CancelFunc
	served chan error
	close  func() error
	silent silent
}

// silent are the connections that have not asked anything yet. Clients open some in
// advance, and http.Server waits five seconds for each to speak before it shuts down.
type silent struct {
	mu    sync.Mutex
	conns map[net.Conn]bool // nil once they are closed
}

func (s *silent) track(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(s.conns, c)
	case s.conns == nil:
		_ = c.Close()
	default:
		s.conns[c] = true
	}
}

func (s *silent) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
	s.conns = nil
}

// Start listens on addr and serves until Close is called or ctx ends; even then
// Close must be called to wait for the end. addr is host:port; an empty addr
// means a free port of 127.0.0.1, and an empty host means 127.0.0.1. Any host
// but loopback is refused unless cfg.AllowRemote is set.
func Start(ctx context.Context, addr string, cfg Config) (*Server, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	addr, err := listenAddress(addr, cfg.AllowRemote)
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("sim: listen: %w", err)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // the AWS SDK speaks nothing else to an http:// address
	base, cancel := context.WithCancel(ctx)
	s := &Server{
		url: "http://" + ln.Addr().String(),
		http: &http.Server{
			Handler:           Handler(cfg),
			Protocols:         &protocols,
			BaseContext:       func(net.Listener) context.Context { return base },
			ReadHeaderTimeout: 10 * time.Second,
			ReadTimeout:       time.Minute,
			IdleTimeout:       2 * time.Minute,
			MaxHeaderBytes:    64 << 10,
		},
		cancel: cancel,
		served: make(chan error, 1),
		silent: silent{conns: map[net.Conn]bool{}},
	}
	s.http.ConnState = s.silent.track
	s.close = sync.OnceValue(s.shutdown)
	go func() { s.served <- s.http.Serve(ln) }()
	context.AfterFunc(base, func() { _ = s.close() })
	return s, nil
}

// URL is the server's address, such as http://127.0.0.1:40123, without the
// version segment: wires add /v1.
func (s *Server) URL() string { return s.url }

// Close stops listening, wakes every request that sleeps, waits for those in
// flight (at most a second and a half: HTTP/2 connections take one to end) and returns the error that ended the server, nil
// if there was none. Later calls return the same.
func (s *Server) Close() error { return s.close() }

func (s *Server) shutdown() error {
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancel()
	s.silent.hangUp()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(served, err)
	}
	if err != nil {
		return fmt.Errorf("sim: close: %w", err)
	}
	return nil
}

// listenAddress completes addr and holds it to loopback unless remote is set.
func listenAddress(addr string, remote bool) (string, error) {
	if addr == "" {
		return "127.0.0.1:0", nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("sim: address %q: %w", addr, err)
	}
	if host == "" && !remote {
		host = "127.0.0.1"
	}
	ip := net.ParseIP(host)
	if !remote && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("sim: address %q is not loopback: the simulation asks for no key; set AllowRemote to serve it anyway", addr)
	}
	return net.JoinHostPort(host, port), nil
}
