package sim

import (
	"context"
	"fmt"

	"github.com/cupel-eval/cupel/internal/loopback"
)

// Server is a running simulation. Its methods are safe for concurrent use.
type Server struct{ local *loopback.Server }

// Start listens on addr and serves until Close is called or ctx ends; even then Close must be called to wait
// for the end. addr is host:port; an empty addr means a free port of 127.0.0.1, and an empty host means
// 127.0.0.1. Any host but loopback is refused unless cfg.AllowRemote is set: the simulation asks for no key.
func Start(ctx context.Context, addr string, cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	local, err := loopback.Start(ctx, addr, Handler(cfg), cfg.AllowRemote)
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	return &Server{local}, nil
}

// URL is the server's address, such as http://127.0.0.1:40123, without the version segment: wires add /v1.
func (s *Server) URL() string { return s.local.URL() }

// Close stops listening, wakes every request that sleeps, waits at most a second and a half for those in
// flight and returns the error that ended the server, nil if there was none. Later calls return the same.
func (s *Server) Close() error {
	if err := s.local.Close(); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	return nil
}
