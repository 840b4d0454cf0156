package natsstore

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cupel-eval/cupel/harness/admission/shared"
)

// KV returns a key-value store of JetStream for shared limits.
func KV(kv jetstream.KeyValue) shared.KV { return keys{kv} }

type keys struct{ jetstream.KeyValue }

func (k keys) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	v, err := k.KeyValue.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		err = shared.ErrNoKey
	}
	if err != nil {
		return nil, 0, classified("get", key, err)
	}
	return v.Value(), v.Revision(), nil
}

func (k keys) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	revision, err := k.KeyValue.Create(ctx, key, value)
	return revision, changed("create", key, err)
}

func (k keys) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	revision, err := k.KeyValue.Update(ctx, key, value, revision)
	return revision, changed("update", key, err)
}

func changed(operation, key string, err error) error {
	if conflict(err) {
		err = shared.ErrConflict
	}
	return classified(operation, key, err)
}
