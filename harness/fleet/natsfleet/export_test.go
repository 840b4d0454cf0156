package natsfleet

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cupel-eval/cupel/harness/admission/shared"
	"github.com/cupel-eval/cupel/harness/fleet"
)

// KV is where a fleet keeps its shared limits.
func KV(kv jetstream.KeyValue) shared.KV { return buckets{kv} }

// Through lets a queue use another JetStream, which wrap makes of its own.
func Through(q fleet.Queue, wrap func(jetstream.JetStream) jetstream.JetStream) {
	q.(*queue).js = wrap(q.(*queue).js)
}

// AppendData and ReadData store and read what a unit has exchanged.
func AppendData(ctx context.Context, q fleet.Queue, subject string, data []byte) error {
	return appendData(ctx, q.(*queue), subject, data)
}

func ReadData(ctx context.Context, q fleet.Queue, subject string) (data []byte, messages int, err error) {
	return readData(ctx, q.(*queue), subject)
}
