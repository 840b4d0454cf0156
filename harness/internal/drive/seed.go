package drive

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/oklog/ulid/v2"
)

// Seed is an episode's source of randomness: the SHA-256 of its identity.
type Seed [sha256.Size]byte

// NewSeed returns the seed of an episode of a run.
func NewSeed(run int64, task, candidate string, trial int) Seed {
	return sha256.Sum256(fmt.Appendf(nil, "cupel/episode/1\x00%d\x00%s\x00%s\x00%d", run, task, candidate, trial))
}

// Int64 is the non-negative number written in the ledger.
func (s Seed) Int64() int64 { return int64(binary.BigEndian.Uint64(s[:8]) >> 1) }

// ids creates monotonic ULIDs from the virtual clock and a seed: those of
// ulid.Monotonic(rand.NewChaCha8(seed), 1<<16), but faster, because that rejects 255 of 256
// increments and uses a reader for each. It is not safe for concurrent use.
type ids struct {
	source *rand.ChaCha8
	drawn  [768]byte
	used   int // of drawn
	ms     uint64
	// high and low are the entropy of the last id.
	high uint16
	low  uint64
}

func newIDs(s Seed) *ids {
	g := &ids{source: rand.NewChaCha8(s)}
	g.used = len(g.drawn)
	return g
}

// draw returns at least n bytes of the source, valid until the next draw.
func (g *ids) draw(n int) []byte {
	if len(g.drawn)-g.used < n {
		kept := copy(g.drawn[:], g.drawn[g.used:])
		_, _ = g.source.Read(g.drawn[kept:]) // never fails
		g.used = 0
	}
	return g.drawn[g.used:]
}

// next returns the next id. It cannot fail before the year 10889 or with fewer than 2^63
// ids in a millisecond.
func (g *ids) next(at time.Time) string {
	ms := ulid.Timestamp(at)
	if g.ms == ms && (g.high != 0 || g.low != 0) {
		g.increment()
	} else {
		b := g.draw(10)
		g.used += 10
		g.ms, g.high, g.low = ms, binary.BigEndian.Uint16(b), binary.BigEndian.Uint64(b[2:])
	}
	var id ulid.ULID
	if err := id.SetTime(ms); err != nil {
		panic("harness: ulid: " + err.Error())
	}
	binary.BigEndian.PutUint16(id[6:], g.high)
	binary.BigEndian.PutUint64(id[8:], g.low)
	return id.String()
}

// increment adds a random number of at most 1<<16, so that ids made in one
// millisecond stay sorted.
func (g *ids) increment() {
	n := uint64(0)
	for n == 0 {
		b := g.draw(3)
		// A candidate has its low bits first, of which the first byte holds one.
		at := 0
		for ; n == 0 && at+3 <= len(b); at += 3 {
			if b[at+2] == 0 {
				n = uint64(b[at]&1) | uint64(b[at+1])<<8
			}
		}
		g.used += at
	}
	var carry uint64
	if g.low, carry = bits.Add64(g.low, n+1, 0); carry > 0 {
		if g.high++; g.high == 0 {
			panic("harness: ulid: " + ulid.ErrMonotonicOverflow.Error())
		}
	}
}

// NewRunID returns the id of a run: a ULID of the given time with the digest of the run's
// inputs as its entropy.
func NewRunID(at time.Time, parts ...string) string {
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
