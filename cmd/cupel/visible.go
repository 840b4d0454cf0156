package main

import (
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/invisible"
)

// visible writes text on with the characters escaped that cannot be seen, so that
// what a model or a provider wrote can neither control a terminal nor reorder a line. Newlines and tabs stay. It is safe for concurrent use.
type visible struct {
	io.Writer
	mu  sync.Mutex
	cut []byte // the beginning of a character whose end is in the next write
}

// Write implements io.Writer.
func (w *visible) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.cut, b...)
	out := make([]byte, 0, len(text)+8)
	for len(text) > 0 && utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if r != '\n' && r != '\t' && invisible.Unsafe(r) {
			out = fmt.Appendf(out, `\u{%X}`, r)
		} else {
			out = utf8.AppendRune(out, r) // U+FFFD for what is no UTF-8
		}
	}
	w.cut = append([]byte(nil), text...)
	if _, err := w.Writer.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
