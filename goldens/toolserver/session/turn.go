package session

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/goldens/toolserver"
)

// turns are the locks of what servers with a reset act on. They are of the whole process,
// because what two runs of a process reset is the same, too.
var turns sync.Map

// Turn waits until no other episode uses what the resets of servers act on: one episode's
// reset would be another's loss. The caller must call end, once. The error is that of ctx.
func Turn(ctx context.Context, servers []toolserver.Server) (end func(), err error) {
	var keys []string
	for _, s := range servers {
		if len(s.Reset) > 0 {
			keys = append(keys, strings.Join(append([]string{s.Dir}, s.Reset...), "\x00"))
		}
	}
	slices.Sort(keys) // so that no two episodes wait for each other
	var held []chan struct{}
	end = func() {
		for _, turn := range held {
			<-turn
		}
	}
	for _, key := range slices.Compact(keys) {
		one, _ := turns.LoadOrStore(key, make(chan struct{}, 1))
		turn, _ := one.(chan struct{})
		select {
		case turn <- struct{}{}:
			held = append(held, turn)
		case <-ctx.Done():
			end()
			return func() {}, ctx.Err()
		}
	}
	return end, nil
}
