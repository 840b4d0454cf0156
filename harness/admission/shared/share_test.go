package shared

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// bucketOf is what one worker may send at once on a lane, in millionths of a minute.
type bucketOf struct{ level, size, cut int64 }

// Whatever workers join, leave, idle, send, and lose the race to store their exchange: all of
// them together never send more than one process would, whose bucket is full at first.
func TestBucketsAreOne(t *testing.T) {
	const lane, minute = "p/key", 60_000 // in ms
	for seed := range uint64(testkit.Long(400, 10_000)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		r := &record{Format: format, Leases: map[string]*lease{}, Lanes: map[string]int64{}}
		workers, one, ids := map[string]*bucketOf{}, int64(wholeRate), []string{"a", "b", "c", "d"}
		for range 300 {
			id := ids[rng.IntN(len(ids))]
			w := workers[id]
			switch {
			case w == nil:
				workers[id] = &bucketOf{}
				r.Leases[id] = &lease{}
			case rng.IntN(3) == 0: // time passes
				ms := rng.Int64N(minute / 4)
				one = min(wholeRate, one+ms*wholeRate/minute+1)
				for _, w := range workers {
					w.level = min(w.size, w.level+ms*w.size/minute)
				}
			case rng.IntN(2) == 0:
				n := int64(0)
				if w.level > 0 {
					n = 1 + rng.Int64N(w.level)
				}
				w.level, one = w.level-n, one-n
				require.GreaterOrEqual(t, one, int64(0), "seed %d: the workers passed the rate", seed)
			case rng.IntN(20) == 0: // it leaves, or its lease expires
				if r.Leases[id].expire(); rng.IntN(2) == 0 {
					delete(r.Leases, id)
				}
				delete(workers, id)
			default:
				w.exchange(r, id, lane, rng)
			}
		}
	}
}

// exchange is that of a Member: what the bucket loses goes before the record is stored, and what
// it gains comes afterwards.
func (w *bucketOf) exchange(r *record, id, lane string, rng *rand.Rand) {
	stored := r.encode()
	was := w.size
	rep := report{lanes: map[string]int64{lane: w.level + w.cut}}
	if rng.IntN(10) == 0 {
		rep.lanes = map[string]int64{} // it idles
	}
	out := r.exchange(id, rep)
	w.cut = out.cut[lane]
	size := int64(out.shares[lane]*wholeRate + 0.5)
	w.size = min(was, size)
	w.level = min(w.level, w.size)
	if rng.IntN(3) == 0 { // another worker was faster
		before, err := decode(stored)
		if err != nil {
			panic(err)
		}
		*r = *before
		return
	}
	w.size, w.cut = size, 0
	w.level = min(w.size, w.level+int64(out.filled[lane]*wholeRate+0.5))
}
