package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// Digest returns the SHA-256, in lower-case hex, of the digests of the three tables. The digest
// of a table covers all its rows without the columns run_id and replayed, so that a replay has
// the digest of its source. It depends on the order of the rows, but not on their storage: nil
// and empty lists are equal, and a byte that is not UTF-8 counts as U+FFFD, as Write and
// Journal.Append store it.
func (r Rows) Digest() string {
	var d Digester
	addAll(&d.episodes, r.Episodes)
	addAll(&d.turns, r.Turns)
	addAll(&d.calls, r.ToolCalls)
	return d.Sum()
}

func addAll[T any, P record[T]](d *tableDigester[T, P], rows []T) {
	for i := range rows {
		d.add(&rows[i])
	}
}

// Digester computes Rows.Digest from one episode after another, in ledger order. The zero value
// has no rows. It is not safe for concurrent use.
type Digester struct {
	episodes tableDigester[Episode, *Episode]
	turns    tableDigester[Turn, *Turn]
	calls    tableDigester[ToolCall, *ToolCall]
}

// Add adds the rows of the next episode.
func (d *Digester) Add(rec EpisodeRows) {
	d.episodes.add(&rec.Episode)
	addAll(&d.turns, rec.Turns)
	addAll(&d.calls, rec.ToolCalls)
}

// Sum returns the digest of the rows added so far.
func (d *Digester) Sum() string {
	return sumOf(d.episodes.all.sum(), d.turns.all.sum(), d.calls.all.sum())
}

// sumOf is the digest of digests.
func sumOf(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// tableDigester computes two digests of one table: one for Rows.Digest, and one of all columns.
// The second also hashes runs of equal run_id and replayed, which rarely change from row to
// row, so that it costs almost nothing.
type tableDigester[T any, P record[T]] struct {
	rows *scratch[T, P]
	all  hashed // without run_id and replayed
	run  hashed // run_id, replayed and their number of rows

	runID    string // valid UTF-8
	replayed bool
	count    uint64
}

// hashed is an encoder that hashes its output and drops it. The zero value is empty.
type hashed struct {
	encoder
	hash hash.Hash // nil before the first byte
}

// digestBuffer is the number of bytes per call of the hash.
const digestBuffer = 32 << 10

// add adds a row and returns its size in bytes and whether all its strings are valid UTF-8.
func (d *tableDigester[T, P]) add(row *T) (size int, clean bool) {
	if d.rows == nil {
		d.rows = newScratch[T, P]()
	}
	s := d.rows
	s.row = *row
	k := P(&s.row).key()
	id := k.RunID
	if id != d.runID {
		id = validUTF8(id)
	}
	clean = id == k.RunID
	if id != d.runID || k.Replayed != d.replayed {
		d.endRun()
		d.runID, d.replayed = id, k.Replayed
	}
	d.count++
	k.RunID, k.Replayed = "", false
	before := len(d.all.buf)
	d.all.dirty = false
	s.encode(&d.all.encoder)
	size = len(d.all.buf) - before
	d.all.flush(digestBuffer)
	return size, clean && !d.all.dirty
}

// flush hashes the buffer if it has at least n bytes.
func (h *hashed) flush(n int) {
	if h.hash == nil {
		h.hash = sha256.New()
	}
	if len(h.buf) >= n {
		h.hash.Write(h.buf)
		h.buf = h.buf[:0]
	}
}

func (h *hashed) sum() []byte {
	h.flush(0)
	return h.hash.Sum(nil)
}

func (d *tableDigester[T, P]) endRun() {
	if d.count > 0 {
		d.run.string(d.runID)
		d.run.bool(d.replayed)
		d.run.uint(d.count)
		d.run.flush(digestBuffer)
		d.count = 0
	}
}

// sumAll returns the digest of all columns. It ends the current run of equal values.
func (d *tableDigester[T, P]) sumAll() string {
	d.endRun()
	return sumOf(d.all.sum(), d.run.sum())
}
