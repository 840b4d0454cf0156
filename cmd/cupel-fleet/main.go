// Command cupel-fleet is cupel with workers on several machines: a queue, workers that take
// episodes from it, and runs that they execute.
package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cupel-eval/cupel/cmd"
	"github.com/cupel-eval/cupel/harness/fleet/natsfleet"
	"github.com/cupel-eval/cupel/harness/store"
	"github.com/cupel-eval/cupel/harness/store/s3store"
)

func main() {
	cmd.Main(cmd.App{Fleet: natsfleet.Service{}, Stores: map[string]func(string, func(string) (string, bool)) (store.Store, error){
		"s3": func(address string, lookup func(string) (string, bool)) (store.Store, error) {
			return s3store.Open(address, s3store.Options{Lookup: lookup})
		},
		"nats": openQueue, "tls": openQueue,
		"file": func(address string, _ func(string) (string, bool)) (store.Store, error) {
			folder := strings.TrimPrefix(address, "file://")
			if !filepath.IsAbs(folder) {
				return nil, fmt.Errorf("%s: name an absolute folder, such as file:///mnt/evals", address)
			}
			return store.Folder(folder), nil
		},
	}})
}

// openQueue opens a store in the queue of a fleet.
func openQueue(address string, lookup func(string) (string, bool)) (store.Store, error) {
	return natsfleet.OpenStore(context.Background(), address, lookup)
}
