package bedrock

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// eventStream is the binary framing of AWS: length, headers, payload and two
// checksums for each message (Smithy, "Amazon Event Stream specification").
var eventStream = wire.Framing{Media: "application/vnd.amazon.eventstream", Starts: startsMessage, Cut: cutMessages}

// streamEnd is the type of a frame of our own: the stream ended between two
// messages.
const streamEnd = ":end"

// startsMessage recognises a message by its length, of which the first of four bytes
// is zero: messages are below 16 MiB. No JSON begins so.
func startsMessage(head []byte, _ bool) bool { return len(head) > 0 && head[0] == 0 }

// prelude is what a message begins with: its length, that of its headers and a
// checksum of both. trailer is the checksum at its end.
const (
	prelude = 12
	trailer = 4
)

// cutMessages passes on the events of r. An exception ends them.
func cutMessages(r io.Reader, limit int, f func(wire.Frame) error) error {
	in := bufio.NewReader(r)
	decoder := eventstream.NewDecoder()
	var payload []byte // used again: a frame has its own copy
	for {
		head, err := in.Peek(prelude)
		switch {
		case len(head) == 0 && errors.Is(err, io.EOF):
			return f(wire.Frame{Event: streamEnd})
		case errors.Is(err, io.EOF):
			return fmt.Errorf("%w: the stream ends within a message", wire.ErrBroken)
		case err != nil:
			return err
		}
		size, headers := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])
		switch {
		case crc32.ChecksumIEEE(head[:8]) != binary.BigEndian.Uint32(head[8:]), uint64(size) < uint64(headers)+prelude+trailer:
			return fmt.Errorf("%w: a message of %d bytes, %d of them headers", wire.ErrBroken, size, headers)
		case int64(size) > int64(limit):
			return fmt.Errorf("a message of %d bytes: %w", size, bufio.ErrTooLong)
		}
		m, err := decoder.Decode(in, payload[:0])
		var checksum eventstream.ChecksumError
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &checksum):
			return fmt.Errorf("%w: %w", wire.ErrBroken, err)
		case err != nil:
			return err
		}
		payload = m.Payload
		if err := handOn(m, f); err != nil {
			return err
		}
	}
}

// handOn separates events from faults.
func handOn(m eventstream.Message, f func(wire.Frame) error) error {
	header := func(name string) string {
		if v := m.Headers.Get(name); v != nil {
			return v.String()
		}
		return ""
	}
	switch header(":message-type") {
	case "exception":
		fault := wire.ReadFault(bytes.TrimSpace(m.Payload))
		fault.Type, fault.Code = header(":exception-type"), ""
		return &fault
	case "error": // one that the API does not name
		return &wire.Fault{Type: header(":error-code"), Message: header(":error-message")}
	}
	return f(wire.Frame{Event: header(":event-type"), Data: string(m.Payload)})
}
