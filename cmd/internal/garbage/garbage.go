// Package garbage sets when the process of a command collects garbage. Importing it is
// enough: it does so in its initialisation, since the tables of other packages are the first
// garbage. Its few imports let Go initialise it before most of them.
//
// What a command has in use is little, and that of a run does not grow with it, so Go's own
// settings would collect garbage every few hundred turns, for a fifth of all time.
package garbage

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// firstAt is how much memory the process takes before the first collection, in bytes. Most
	// commands end before.
	firstAt = 64 << 20
	// percent is how much garbage is left from then on, in percent of what is in use.
	percent = 400
	// least is where garbage is collected more often again, in bytes.
	least = 256 << 20
)

func init() { collectLess(os.LookupEnv) } //nolint:gochecknoinits // see the package comment

// collectLess collects garbage less often. GOGC and GOMEMLIMIT in the environment have the
// last word.
func collectLess(env func(string) (string, bool)) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := env(name); set {
			return
		}
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(firstAt)
	afterCollection(func() { debug.SetGCPercent(percent) })
}

// afterCollection sets the limit after the next collection, and after every later one.
func afterCollection(also func()) {
	// A collection finds that nothing refers to this value.
	runtime.AddCleanup(new([64]byte), func(struct{}) {
		also()
		inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
		metrics.Read(inUse)
		debug.SetMemoryLimit(limit(int64(inUse[0].Value.Uint64() + inUse[1].Value.Uint64())))
		afterCollection(func() {})
	}, struct{}{})
}

// limit is the memory at which garbage is collected more often, in bytes. Thousands of episodes
// in parallel use more than least: near a limit that is too low, nothing but garbage is collected.
func limit(inUse int64) int64 { return max(least, inUse*3/2) }
