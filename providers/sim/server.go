package sim

import (
	"context"
	"fmt"

	"github.com/cupel-eval/cupel/internal/loopback"
)

// Start listens on addr and serves until Close is called or ctx ends; even then Close must be called to wait
// for the end. addr is host:port; an empty addr means a free port of 127.0.0.1, and an empty host means
// 127.0.0.1. Any host but loopback is refused unless cfg.AllowRemote is set: the simulation asks for no key.
func Start(ctx context.Context, addr string, cfg Config) (*loopback.Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	local, err := loopback.Start(ctx, addr, Handler(cfg), cfg.AllowRemote)
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	return local, nil
}
