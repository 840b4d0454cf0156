package harness

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/oklog/ulid/v2"
)

// seed is an episode's source of randomness: the SHA-256 of what identifies it.
type seed [sha256.Size]byte

func newSeed(run int64, task, candidate string, trial int) seed {
	return sha256.Sum256(fmt.Appendf(nil, "cupel/episode/1\x00%d\x00%s\x00%s\x00%d", run, task, candidate, trial))
}

// Int64 is the non-negative number written in the ledger.
func (s seed) Int64() int64 { return int64(binary.BigEndian.Uint64(s[:8]) >> 1) }

// ids makes monotonic ULIDs from the virtual clock and a seed. Not safe for
// concurrent use.
type ids struct{ entropy *ulid.MonotonicEntropy }

func newIDs(s seed) ids {
	// The increment is bounded so that ids made in one millisecond stay sorted.
	return ids{ulid.Monotonic(rand.NewChaCha8(s), 1<<16)}
}

// next returns the next id. It is unreachable for it to fail: the entropy never
// runs dry, and a millisecond would have to hold 2^63 ids to overflow.
func (g ids) next(at time.Time) string {
	id, err := ulid.New(ulid.Timestamp(at), g.entropy)
	if err != nil {
		panic("harness: ulid: " + err.Error())
	}
	return id.String()
}

// newRunID returns the id of a run: a ULID of the given time whose entropy is
// the digest of what the run is made from.
func newRunID(at time.Time, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = io.WriteString(h, p)
		h.Write([]byte{0})
	}
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at)) // fails only after the year 10889
	copy(id[6:], h.Sum(nil))
	return id.String()
}
