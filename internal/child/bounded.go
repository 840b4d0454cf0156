package child

import (
	"errors"
	"strings"
	"sync"
)

// ErrTooMuch is the error of a Bounded that is full.
var ErrTooMuch = errors.New("too much output")

// Bounded keeps what is written to it up to Max bytes, and refuses more. Safe for concurrent
// use once Max is set.
type Bounded struct {
	Max int

	mu   sync.Mutex
	text []byte
	full bool
}

// Write implements io.Writer.
func (b *Bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full = b.full || len(b.text)+len(p) > b.Max; b.full {
		return 0, ErrTooMuch
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

// Bytes returns what was kept, and whether more was refused.
func (b *Bounded) Bytes() (text []byte, refused bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text, b.full
}

// Tail keeps the last Max bytes of what is written to it. Safe for concurrent use once Max
// is set.
type Tail struct {
	Max int

	mu  sync.Mutex
	end []byte
}

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p[max(0, len(p)-t.Max):]...)
	if n := len(t.end) - t.Max; n > 0 {
		t.end = append(t.end[:0], t.end[n:]...)
	}
	return len(p), nil
}

// String returns what was kept, as valid UTF-8.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.end), "")
}
