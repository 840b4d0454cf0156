package shared

import (
	"bytes"
	"context"
	"errors"
	"sync"
)

// KV is a key-value store in which every change of a key has a revision, such as the one
// of JetStream. A change may have been made although its call failed.
type KV interface {
	// Get returns the latest value and its revision. It fails with ErrNoKey if there is none.
	Get(ctx context.Context, key string) (value []byte, revision uint64, err error)
	// Create makes a key that does not exist, and Update replaces the value of a revision. Both
	// fail with ErrConflict if another change was first.
	Create(ctx context.Context, key string, value []byte) (revision uint64, err error)
	Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
}

// These errors are returned by a KV.
var (
	ErrNoKey    = errors.New("the key does not exist")
	ErrConflict = errors.New("the key was changed by another")
)

// Memory returns a KV for the goroutines of one process.
func Memory() KV { return &memory{values: map[string]revised{}} }

type memory struct {
	mu     sync.Mutex
	last   uint64
	values map[string]revised
}

type revised struct {
	value    []byte
	revision uint64
}

func (m *memory) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.values[key]
	if !ok {
		return nil, 0, errors.Join(ErrNoKey, ctx.Err())
	}
	return bytes.Clone(v.value), v.revision, ctx.Err()
}

func (m *memory) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	return m.Update(ctx, key, value, 0)
}

func (m *memory) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if m.values[key].revision != revision {
		return 0, ErrConflict
	}
	m.last++
	m.values[key] = revised{bytes.Clone(value), m.last}
	return m.last, nil
}
