package process

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
)

// maxReused bounds what a process may have written to be used again, in bytes: the bound of its
// standard output is that of an episode.
const maxReused = 64 << 20

// Pool keeps the processes of ended worlds for later worlds of the same command, which begin
// with reset as always. It is for proofs, which open thousands of worlds. A process is used again
// only for a reset that a new process has answered before, and only if the state is then the same.
// A command that fails this once gets a new process for each world, and so do MCP servers. One idle
// process for each processor is kept. The zero value is ready. It is safe for concurrent use.
type Pool struct {
	mu     sync.Mutex
	closed bool
	idle   map[string][]*conn
	fresh  map[string][]byte // the state after a reset of a new process, by command and reset
	once   map[string]bool   // the commands that are not used again
}

// key is the same for kinds whose processes can replace each other.
func (k Kind) key() (string, error) {
	env, err := k.program().Environ()
	return fmt.Sprintf("%q %q %q %v", k.Command, k.Dir, env, k.Timeout), err
}

// reset returns a process that has answered reset.
func (p *Pool) reset(ctx context.Context, k Kind, r request) (c *conn, answer []byte, err error) {
	key, err := k.key()
	if err != nil {
		return nil, nil, err
	}
	at := key + "\n" + string(r.params)
	p.mu.Lock()
	want, known := p.fresh[at]
	if idle := p.idle[key]; known && !p.once[key] && len(idle) > 0 {
		c, p.idle[key] = idle[len(idle)-1], idle[:len(idle)-1]
	}
	p.mu.Unlock()
	if c != nil {
		c.kind = k
		if answer, state, err := beginIn(ctx, c, r); err == nil && bytes.Equal(state, want) {
			return c, answer, nil
		}
		c.close()
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		p.mu.Lock()
		p.once = with(p.once, key, true)
		p.mu.Unlock()
	}
	if c, err = start(ctx, k); err != nil {
		return nil, nil, err
	}
	answer, state, err := beginIn(ctx, c, r)
	if err != nil {
		c.close()
		return nil, nil, err
	}
	if state != nil {
		p.mu.Lock()
		p.fresh = with(p.fresh, at, state)
		p.mu.Unlock()
	}
	return c, answer, nil
}

// with sets a value of a map, which may be nil.
func with[V any](m map[string]V, key string, value V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}

// beginIn has a process begin an episode. The state is nil if the process does not say it: whoever
// asks it next gets the reason.
func beginIn(ctx context.Context, c *conn, r request) (answer, state []byte, err error) {
	if answer, err = c.ask(ctx, r.method, r.params); err == nil {
		state, _ = c.ask(ctx, "state", []byte(`{}`))
	}
	return answer, state, err
}

// keep takes the process of a world that has ended; it reports false if it does not want it.
func (p *Pool) keep(c *conn) bool {
	key, err := c.kind.key()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || p.closed || p.once[key] || len(p.idle[key]) >= runtime.GOMAXPROCS(0) || c.mcp != nil || c.broken != nil || c.wrote > maxReused {
		return false
	}
	p.idle = with(p.idle, key, append(p.idle[key], c))
	return true
}

// Close ends the processes. Worlds that are still open end theirs themselves.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	all := slices.Concat(slices.Collect(maps.Values(p.idle))...)
	p.idle = nil
	p.mu.Unlock()
	var ended sync.WaitGroup
	for _, c := range all {
		ended.Go(c.close)
	}
	ended.Wait()
}
