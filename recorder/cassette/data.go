// Package cassette reads, writes, checks, compares and packs cassettes: the files that
// hold recorded HTTP exchanges. It opens no network.
//
// A cassette is a go-vcr file with two additions that go-vcr ignores: a cupel block (what
// was recorded; per exchange the digest that is matched and the size and delay of every
// read) and, as the last line, a checksum: the SHA-256 of every byte above it. A file
// that was cut or edited is a *CorruptError.
//
// Everything that is read from a cassette is untrusted.
package cassette

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	govcr "github.com/dnaeon/go-vcr/v2/cassette"

	"github.com/cupel-eval/cupel/recorder/internal/canonical"
)

// These are the bounds of a cassette. cupel neither writes nor reads larger ones.
const (
	MaxBytes        = 64 << 20 // of a file, and of a body
	MaxInteractions = 12_000   // beyond the requests that an external agent may make
	MaxReads        = 1 << 16  // an exchange; further reads join the last one
)

// BodyRead is one read of a response body: its size, and the time in microseconds since
// the read before it (the first: since sending).
type BodyRead struct {
	Bytes  int
	Micros int64
}

// Interaction is a go-vcr interaction with cupel's additions.
type Interaction struct {
	Request  govcr.Request
	Response govcr.Response
	// Digest is the SHA-256 hex of the canonical request: what is matched.
	Digest string
	// FirstByte is the time from sending to the first byte of the body.
	FirstByte time.Duration
	// Reads are the reads of the body, in order.
	Reads []BodyRead
	// ClosedEarly is set if the body was closed before its end.
	ClosedEarly bool
	// Failure is the transport's error, before the response if there is no status, otherwise
	// after its body; empty if it did not fail.
	Failure  string
	TimedOut bool
	// Role says who made the request if it was not the candidate, such as judge or user; see
	// recorder.InRole. It is part of what is matched.
	Role string
}

// Data is the content of a cassette.
type Data struct {
	Header       Header
	Interactions []Interaction
	// Digest is the SHA-256 hex of the whole file.
	Digest string
}

// Check returns an error if a cassette cannot be replayed.
func (t *Data) Check() error {
	if n := len(t.Interactions); n > MaxInteractions {
		return fmt.Errorf("%d interactions, at most %d are read", n, MaxInteractions)
	}
	if len(t.Interactions) == 0 {
		return errors.New("no interactions")
	}
	for i := range t.Interactions {
		if err := t.Interactions[i].Check(); err != nil {
			return fmt.Errorf("interaction %d: %w", i, err)
		}
	}
	return nil
}

// Check returns an error if an interaction cannot be replayed.
func (it *Interaction) Check() error {
	if it.Request.Method == "" || it.Request.URL == "" {
		return errors.New("no request method or url")
	}
	if c := it.Response.Code; (c != 0 || it.Failure == "" || it.Response.Body != "") && (c < 100 || c > 999) {
		return fmt.Errorf("response code %d is not an HTTP status", c)
	}
	if len(it.Digest) != 64 {
		return errors.New("no request digest")
	}
	if it.TimedOut && it.Failure == "" || it.ClosedEarly && it.Failure != "" {
		return errors.New("timed_out without failed, or closed_early with failed")
	}
	if it.Response.Duration < 0 || it.FirstByte < 0 {
		return errors.New("negative time")
	}
	for _, f := range it.Reads {
		if f.Bytes <= 0 || f.Bytes > MaxBytes || f.Micros < 0 {
			return fmt.Errorf("frame [%d, %d] is out of range", f.Bytes, f.Micros)
		}
	}
	if sum := readBytes(it.Reads); sum != len(it.Response.Body) {
		return fmt.Errorf("frames hold %d bytes, the response body %d", sum, len(it.Response.Body))
	}
	return nil
}

func readBytes(reads []BodyRead) int {
	sum := 0
	for _, f := range reads {
		sum += f.Bytes
	}
	return sum
}

// adopt fills in what an interaction of another tool lacks: its body becomes one read at
// its recorded duration.
func (it *Interaction) adopt() {
	if u, err := url.Parse(it.Request.URL); err == nil {
		it.Request.URL = canonical.URL(u)
	}
	it.Request.Form = nil
	it.Request.Headers = canonical.KeptHeaders(it.Request.Headers)
	it.Response.Headers = canonical.KeptHeaders(it.Response.Headers)
	it.Response.Duration = it.Response.Duration.Truncate(time.Microsecond)
	it.Digest = it.Raw().Digest()
	it.FirstByte, it.Reads = 0, nil
	if n := len(it.Response.Body); n > 0 {
		it.FirstByte = it.Response.Duration
		it.Reads = []BodyRead{{n, it.Response.Duration.Microseconds()}}
	}
}

// Request is a request with its canonical URL and an unparsed body, and who made it.
type Request struct{ Method, URL, Body, Role string }

// Digest returns the SHA-256 hex of the canonical request: what is matched.
func (r Request) Digest() string {
	return canonical.RoleDigest(r.Role, canonical.Digest(r.Method, r.URL, r.Body))
}

// Raw returns the request, which shares its body.
func (it *Interaction) Raw() Request {
	return Request{it.Request.Method, it.Request.URL, it.Request.Body, it.Role}
}
