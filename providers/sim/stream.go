package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"time"
	"unicode/utf8"
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
			sleep(ctx, spread/time.Duration(len(frames)-1))
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

// encodeJSON writes v as services do: on one line, no HTML escapes.
func encodeJSON(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("{}") // unreachable: only maps, texts and numbers are encoded
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

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

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
