// Package loopback serves HTTP to programs on this machine. Every listener of cupel is
// started here, so one place says that none is reachable from elsewhere unasked.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a running HTTP server. Its methods are safe for concurrent use.
type Server struct {
	url    string
	http   *http.Server
	cancel context.CancelFunc
	served chan error
	close  func() error
	silent silent
}

// silent are the connections that have not sent anything yet. Clients open some in
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

// Start listens on addr and serves h until Close is called or ctx ends; even then Close
// must be called to wait for the end. addr is host:port; an empty addr means a free port
// of 127.0.0.1, and an empty host means 127.0.0.1. Any host but loopback is refused
// unless remote is set. HTTP/2 is served without TLS to clients that begin with it.
func Start(ctx context.Context, addr string, h http.Handler, remote bool) (*Server, error) {
	addr, err := complete(addr, remote)
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // the AWS SDK speaks nothing else to an http:// address
	base, cancel := context.WithCancel(ctx)
	s := &Server{
		url: "http://" + ln.Addr().String(),
		http: &http.Server{
			Handler:           h,
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

// URL is the server's address, such as http://127.0.0.1:40123, without a path.
func (s *Server) URL() string { return s.url }

// Close stops listening, ends the contexts of requests, waits for those in flight (at
// most a second and a half: HTTP/2 connections take one to end) and returns the error
// that ended the server, nil if there was none. Later calls return the same.
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
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// complete fills in what addr leaves out, and refuses a host that is not loopback unless
// remote is set.
func complete(addr string, remote bool) (string, error) {
	if addr == "" {
		return "127.0.0.1:0", nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("address %q: %w", addr, err)
	}
	if host == "" && !remote {
		host = "127.0.0.1"
	}
	ip := net.ParseIP(host)
	if !remote && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("address %q is not loopback; use 127.0.0.1, localhost or [::1]", addr)
	}
	return net.JoinHostPort(host, port), nil
}
