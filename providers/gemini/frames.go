package gemini

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// framing cuts both forms of a stream: server-sent events and the elements of
// one JSON array. An array that comes unasked is a document.
var framing = wire.Framing{
	Media: wire.Events.Media,
	Starts: func(head []byte, asked bool) bool {
		return asked && bytes.HasPrefix(head, []byte("[")) || wire.Events.Starts(head, asked)
	},
	Cut: func(r io.Reader, limit int, f func(wire.Frame) error) error {
		b := bufio.NewReader(r)
		skipMark(b)
		if head, _ := b.Peek(1); string(head) == "[" { // what fails here fails below
			return cutArray(b, f)
		}
		return wire.Events.Cut(b, limit, f)
	},
}

// cutArray passes on each element. The decoder detects an array that ends early, because it has not
// seen the end of the reply.
func cutArray(b *bufio.Reader, f func(wire.Frame) error) error {
	dec := json.NewDecoder(b)
	if _, err := dec.Token(); err != nil {
		return early(err)
	}
	for dec.More() {
		var element json.RawMessage
		if err := dec.Decode(&element); err != nil {
			return early(err)
		}
		if err := f(wire.Frame{Data: string(element)}); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return early(err)
}

// skipMark drops white space and a byte order mark, which JSON does not allow.
func skipMark(b *bufio.Reader) {
	for {
		switch r, _, err := b.ReadRune(); {
		case err != nil:
			return
		case r != '\ufeff' && r != ' ' && r != '\t' && r != '\r' && r != '\n':
			_ = b.UnreadRune() // just read
			return
		}
	}
}

func early(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
