package natsfleet

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/store"
	"github.com/cupel-eval/cupel/harness/store/natsstore"
)

// OpenStore opens the store of runs NAME in the queue of an address nats://HOST:PORT/NAME, or
// tls://HOST:PORT/NAME, and makes it if there is none. lookup reads environment variables: those of
// fleet.Access.FromEnvironment, and CUPEL_QUEUE_CA. The connection lasts as long as the process.
func OpenStore(ctx context.Context, address string, lookup func(name string) (string, bool)) (store.Store, error) {
	s, err := openStore(ctx, address, lookup)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", shown(address), err)
	}
	return s, nil
}

func openStore(ctx context.Context, address string, lookup func(string) (string, bool)) (store.Store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	name := strings.Trim(u.Path, "/")
	if !namePattern.MatchString(name) {
		return nil, fmt.Errorf("name of a store %.40q: write nats://HOST:PORT/NAME with up to 32 letters, digits, - and _", name)
	}
	u.Path = ""
	a := fleet.Access{URL: u.String(), Client: "cupel-store", Say: func(string) {}}
	a.FromEnvironment(lookup)
	a.CA, _ = lookup("CUPEL_QUEUE_CA")
	o, err := options(a)
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(a.URL, o...)
	if err != nil {
		return nil, explain(err)
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(requestTimeout))
	if err != nil {
		return nil, err
	}
	s, err := natsstore.Open(ctx, js, "cupel-store-"+name)
	if err != nil {
		nc.Close()
		return nil, explain(err)
	}
	return s, nil
}
