package recorder

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/dnaeon/go-vcr/v2/cassette"
)

// Bounds of a cassette. One beyond them is neither written nor read.
const (
	maxBytes        = 64 << 20
	maxInteractions = 10_000
	maxFrames       = 1 << 16 // an exchange; further reads join the last frame
)

// frame is one read of a response body: its size, and the time since the read
// before it (the first: since sending).
type frame struct {
	bytes  int
	micros int64
}

// interaction is a go-vcr interaction and what cupel keeps beside it.
type interaction struct {
	Request   cassette.Request
	Response  cassette.Response
	digest    string
	firstByte time.Duration
	frames    []frame
	// closedEarly says that the body was closed before its end came.
	closedEarly bool
	// failure is what the transport said when it failed, before the response if
	// there is no status, after its body otherwise; empty if it did not.
	failure  string
	timedOut bool
}

// tape is the content of a cassette.
type tape struct {
	header       Header
	interactions []interaction
	// digest is the SHA-256 hex of the whole file.
	digest string
}

// check says what makes the tape unfit for replay.
func (t *tape) check() error {
	if n := len(t.interactions); n > maxInteractions {
		return fmt.Errorf("%d interactions, at most %d are read", n, maxInteractions)
	}
	if len(t.interactions) == 0 {
		return errors.New("it holds no interactions")
	}
	for i := range t.interactions {
		if err := t.interactions[i].check(); err != nil {
			return fmt.Errorf("interaction %d: %w", i, err)
		}
	}
	return nil
}

func (it *interaction) check() error {
	if it.Request.Method == "" || it.Request.URL == "" {
		return errors.New("no request method or url")
	}
	if c := it.Response.Code; (c != 0 || it.failure == "" || it.Response.Body != "") && (c < 100 || c > 999) {
		return fmt.Errorf("response code %d is no HTTP status", c)
	}
	if len(it.digest) != 64 {
		return errors.New("no request digest")
	}
	if it.timedOut && it.failure == "" || it.closedEarly && it.failure != "" {
		return errors.New("an end that contradicts itself")
	}
	if it.Response.Duration < 0 || it.firstByte < 0 {
		return errors.New("negative time")
	}
	for _, f := range it.frames {
		if f.bytes <= 0 || f.bytes > maxBytes || f.micros < 0 {
			return fmt.Errorf("frame [%d, %d] is out of range", f.bytes, f.micros)
		}
	}
	if sum := frameBytes(it.frames); sum != len(it.Response.Body) {
		return fmt.Errorf("frames hold %d bytes, the response body %d", sum, len(it.Response.Body))
	}
	return nil
}

func frameBytes(frames []frame) int {
	sum := 0
	for _, f := range frames {
		sum += f.bytes
	}
	return sum
}

// adopt fills in what an interaction of another tool lacks: the body comes as
// one frame at its recorded duration.
func (it *interaction) adopt() {
	if u, err := url.Parse(it.Request.URL); err == nil {
		it.Request.URL = canonicalURL(u)
	}
	it.Request.Form = nil
	it.Request.Headers = keptHeaders(it.Request.Headers)
	it.Response.Headers = keptHeaders(it.Response.Headers)
	it.Response.Duration = it.Response.Duration.Truncate(time.Microsecond)
	it.digest = requestDigest(it.Request.Method, it.Request.URL, it.Request.Body)
	it.firstByte, it.frames = 0, nil
	if n := len(it.Response.Body); n > 0 {
		it.firstByte = it.Response.Duration
		it.frames = []frame{{n, it.Response.Duration.Microseconds()}}
	}
}
