package cassette

import (
	"encoding/binary"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"
)

// Least sizes of what a pack counts, in bytes: they bound what a count can
// make the reader allocate.
const (
	leastInteraction = 15
	leastHeader      = 2
	leastRead        = 2
)

// packWriter appends numbers and texts; packReader reads them back.
type packWriter struct{ b []byte }

func (w *packWriter) number(n int64) { w.b = binary.AppendUvarint(w.b, uint64(n)) }

func (w *packWriter) flag(yes bool) {
	if yes {
		w.number(1)
	} else {
		w.number(0)
	}
}

func (w *packWriter) text(s string) {
	w.number(int64(len(s)))
	w.b = append(w.b, s...)
}

// data appends the interactions without loss.
func (w *packWriter) data(t *Data) {
	w.number(int64(len(t.Interactions)))
	for i := range t.Interactions {
		w.interaction(&t.Interactions[i])
	}
}

func (w *packWriter) interaction(it *Interaction) {
	w.text(it.Request.Method)
	w.text(it.Request.URL)
	w.headers(it.Request.Headers)
	w.text(it.Request.Body)
	w.text(it.Digest)
	w.text(it.Response.Status)
	w.number(int64(it.Response.Code))
	w.headers(it.Response.Headers)
	w.text(it.Response.Body)
	w.number(int64(it.Response.Duration))
	w.number(int64(it.FirstByte / time.Microsecond))
	w.number(int64(len(it.Reads)))
	for _, f := range it.Reads {
		w.number(int64(f.Bytes))
		w.number(f.Micros)
	}
	w.text(it.Failure)
	w.flag(it.ClosedEarly)
	w.end(it.TimedOut, it.Role)
}

// end appends whether a response timed out and, since packs have roles, 2 more and the role if
// there is one. A pack without roles is what it was before.
func (w *packWriter) end(timedOut bool, role string) {
	var n int64
	if timedOut {
		n = 1
	}
	if role == "" {
		w.number(n)
		return
	}
	w.number(n + 2)
	w.text(role)
}

func (w *packWriter) headers(h http.Header) {
	w.number(int64(len(h)))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		w.text(name)
		w.number(int64(len(h[name])))
		for _, v := range h[name] {
			w.text(v)
		}
	}
}

// packReader is the unread rest. Once bad, it stays bad. Its results share the memory of
// the text.
type packReader struct {
	rest string
	bad  bool
	lean bool // omit the headers of requests, which are not matched
}

// number reads a number from 0, in its shortest form.
func (r *packReader) number() int64 {
	var n uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64-1; i++ {
		c := r.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if c == 0 && i > 0 {
				break
			}
			r.rest = r.rest[i+1:]
			return int64(n)
		}
	}
	r.bad, r.rest = true, ""
	return 0
}

// count reads a number of items of at least least bytes each.
func (r *packReader) count(least int) int {
	n := r.number()
	if n > int64(len(r.rest)/least) {
		r.bad, r.rest = true, ""
		return 0
	}
	return int(n)
}

func (r *packReader) flag() bool {
	n := r.number()
	if n > 1 {
		r.bad = true
	}
	return n == 1
}

func (r *packReader) text() string {
	n := r.count(1)
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

// small reads a number that fits an int on every platform.
func (r *packReader) small() int {
	n := r.number()
	if n > math.MaxInt32 {
		r.bad, r.rest = true, ""
		return 0
	}
	return int(n)
}

// interactions reads what packWriter.data wrote, and nothing else.
func (r *packReader) interactions() []Interaction {
	n := r.count(leastInteraction)
	if n > MaxInteractions {
		r.bad, n = true, 0
	}
	list := make([]Interaction, n)
	for i := range list {
		r.interaction(&list[i])
	}
	return list
}

func (r *packReader) interaction(it *Interaction) {
	it.Request.Method = r.text()
	it.Request.URL = r.text()
	it.Request.Headers = r.headers(!r.lean)
	it.Request.Body = r.text()
	it.Digest = r.text()
	it.Response.Status = r.text()
	it.Response.Code = r.small()
	it.Response.Headers = r.headers(true)
	it.Response.Body = r.text()
	it.Response.Duration = time.Duration(r.number())
	micros := r.number()
	if micros > math.MaxInt64/int64(time.Microsecond) {
		r.bad = true
	}
	it.FirstByte = time.Duration(micros) * time.Microsecond
	if n := r.count(leastRead); n > 0 {
		it.Reads = make([]BodyRead, n)
	}
	for i := range it.Reads {
		it.Reads[i] = BodyRead{r.small(), r.number()}
	}
	it.Failure = r.text()
	it.ClosedEarly = r.flag()
	it.TimedOut, it.Role = r.end()
}

// end reads what packWriter.end wrote.
func (r *packReader) end() (timedOut bool, role string) {
	n := r.number()
	if n >= 2 {
		role = r.text()
	}
	if n > 3 || n >= 2 && role == "" {
		r.bad = true
	}
	return n&1 == 1, role
}

// headers reads names in order, so that duplicates are errors. It returns nil unless keep
// is set.
func (r *packReader) headers(keep bool) http.Header {
	n := r.count(leastHeader)
	var h http.Header
	var all []string
	if keep {
		h, all = make(http.Header, n), make([]string, 0, n) // usually one value each
	}
	last := ""
	for i := range n {
		name := r.text()
		from, values := len(all), r.count(1)
		for range values {
			if v := r.text(); keep {
				all = append(all, v)
			}
		}
		if i > 0 && name <= last || values == 0 {
			r.bad = true
		}
		if keep {
			h[name] = all[from:len(all):len(all)]
		}
		last = name
	}
	return h
}
