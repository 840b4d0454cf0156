package sim

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/internal/pause"
	"github.com/cupel-eval/cupel/providers/sim/internal/model"
)

// obj is a JSON object, whose members are written in the order of their names.
type obj = map[string]any

// eventStream is the media type of server-sent events.
const eventStream = "text/event-stream"

// pieces cuts a text into what the frames of a stream carry: mostly after a word
// or some, now and then within one. The places are drawn from the seed.
func (d draws) pieces(text string) []string {
	pcg := rand.NewPCG(binary.BigEndian.Uint64(d.digest[16:24]), binary.BigEndian.Uint64(d.digest[24:32]))
	var out []string
	for len(text) > 0 {
		draw := pcg.Uint64()
		least, within := int(1+draw%12), draw>>32%4 == 0
		end := 0
		for n := 0; end < len(text) && (n < least || !within && text[end] != ' '); n++ {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return out
}

// play writes the frames of a stream, each at its time, until ctx ends.
func play(ctx context.Context, w http.ResponseWriter, media string, frames [][]byte, spread time.Duration) {
	h := w.Header()
	h["Date"] = nil
	h.Set("Content-Type", media)
	h.Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	for i, f := range frames {
		if i > 0 {
			_ = pause.For(ctx, spread/time.Duration(len(frames)-1))
		}
		if ctx.Err() != nil {
			return
		}
		if _, err := w.Write(f); err != nil {
			return // the client is gone
		}
		_ = flush.Flush() // a writer that cannot flush gets it all at the end
	}
}

// encodeJSON writes v as services do.
func encodeJSON(v any) []byte { return model.JSON(v) }

// events collects server-sent events.
type events struct{ frames [][]byte }

// send adds an event with a name, or without one if that is empty.
func (e *events) send(name string, v any) {
	head := ""
	if name != "" {
		head = "event: " + name + "\n"
	}
	e.frames = append(e.frames, []byte(head+"data: "+string(encodeJSON(v))+"\n\n"))
}

// typed adds an event that has its name as its type, too.
func (e *events) typed(kind string, members obj) {
	members["type"] = kind
	e.send(kind, members)
}

// draws is what a reply is made unique by: its ids and times. The digest seeds all else
// that is random about it.
type draws struct {
	digest [sha256.Size]byte
	// normal is standard normal, cut off at ±3.
	normal float64
}

// drawsFor seeds the stream with SHA-256(seed, model, key). key is the client's
// request id when it sent one, otherwise the body of the request.
func drawsFor(seed int64, model, clientID string, body []byte) draws {
	h := sha256.New()
	var word [8]byte
	put := func(b []byte) {
		binary.BigEndian.PutUint64(word[:], uint64(len(b)))
		h.Write(word[:])
		h.Write(b)
	}
	h.Write([]byte("cupel sim 1\n"))
	binary.BigEndian.PutUint64(word[:], uint64(seed))
	h.Write(word[:])
	put([]byte(model))
	if clientID != "" {
		put([]byte("id"))
		put([]byte(clientID))
	} else {
		put([]byte("body"))
		put(body)
	}
	var d draws
	h.Sum(d.digest[:0])
	pcg := rand.NewPCG(binary.BigEndian.Uint64(d.digest[0:8]), binary.BigEndian.Uint64(d.digest[8:16]))
	unit := func() float64 { return float64(pcg.Uint64()>>11) / (1 << 53) }
	// Box-Muller; 1-u is in (0,1], so the logarithm is finite.
	u, v := 1-unit(), unit()
	d.normal = max(-3, min(3, math.Sqrt(-2*math.Log(u))*math.Cos(2*math.Pi*v)))
	return d
}

// id returns prefix and 24 hex digits that depend on all that seeded the draws.
func (d draws) id(prefix string) string { return prefix + d.hash(prefix) }

// nth is the i-th of several ids, from 0; the first one is id.
func (d draws) nth(prefix string, i int) string {
	if i == 0 {
		return d.id(prefix)
	}
	return prefix + d.hash(prefix+"."+strconv.Itoa(i)+".")
}

// hash is 24 hex digits that depend on a name and all that seeded the draws.
func (d draws) hash(name string) string {
	sum := sha256.Sum256(append([]byte(name), d.digest[:]...))
	return hex.EncodeToString(sum[:12])
}

// created is a Unix time in November 2026: replies must not depend on a clock.
func (d draws) created() int64 {
	const november2026 = 1793491200 // 2026-11-01T00:00:00Z
	return november2026 + int64(binary.BigEndian.Uint32(d.digest[16:20])%(30*24*3600))
}
