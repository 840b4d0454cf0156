package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/tmaxmax/go-sse"
)

// Framing is how a stream is cut into frames.
type Framing struct {
	// Media is the media type asked for.
	Media string
	// Starts reports whether a body that begins with head (white space and byte order
	// mark cut off) is a stream; asked says whether one was asked for.
	Starts func(head []byte, asked bool) bool
	// Cut hands every frame of r, of at most limit bytes each, to f, until f fails
	// or r ends. Its error wraps ErrBroken when the bytes are damaged, and
	// bufio.ErrTooLong when a frame is over the limit.
	Cut func(r io.Reader, limit int, f func(Frame) error) error
}

// Events are server-sent events, as in the WHATWG HTML standard, section 9.2.
var Events = Framing{Media: "text/event-stream", Starts: startsEvents, Cut: cutEvents}

// Lines is one JSON document a line.
var Lines = Framing{Media: "application/x-ndjson", Starts: func(_ []byte, asked bool) bool { return asked }, Cut: cutLines}

// Frame is one frame of a stream.
type Frame struct {
	// Event is its type; empty when it has none.
	Event string
	// Data is its content. It may be kept.
	Data string
}

// ErrBroken is wrapped by the errors of Framing.Cut when r ends within a frame or
// a checksum is wrong: that is the transport's failure, not the provider's.
var ErrBroken = errors.New("the bytes are damaged")

// errStop ends the reading of frames without a failure.
var errStop = errors.New("stop")

// startsEvents recognises a stream by its first field, regardless of the content type.
func startsEvents(head []byte, _ bool) bool {
	name, _, ok := bytes.Cut(head, []byte(":"))
	if !ok {
		return false
	}
	switch string(name) {
	case "", "data", "event", "id", "retry":
		return true
	}
	return false
}

// cutEvents also passes on a last event without a following blank line. Its content shows whether
// it is complete.
func cutEvents(r io.Reader, limit int, f func(Frame) error) error {
	// The standard drops an unfinished event at the end; some servers end so.
	for event, err := range sse.Read(io.MultiReader(r, strings.NewReader("\n\n")), &sse.ReadConfig{MaxEventSize: limit}) {
		if err != nil {
			return err
		}
		if event.Data == "" {
			continue // nothing but a name or an id
		}
		if err := f(Frame{Event: event.Type, Data: event.Data}); err != nil {
			return err
		}
	}
	return nil
}

// cutLines passes on each line that is not blank.
func cutLines(r io.Reader, limit int, f func(Frame) error) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, limit)
	for scanner.Scan() {
		if line := bytes.TrimSpace(scanner.Bytes()); len(line) > 0 {
			if err := f(Frame{Data: string(line)}); err != nil {
				return err
			}
		}
	}
	return scanner.Err()
}
