package sim

import (
	"encoding/binary"
	"hash/crc32"
)

// binaryStream is the media type of AWS's event streams.
const binaryStream = "application/vnd.amazon.eventstream"

// awsFrame makes one message of an event stream: its length, that of the headers
// and a CRC of both; headers of texts; the payload; a CRC of all before it. See
// "Amazon event stream" in the AWS SDK reference.
func awsFrame(payload []byte, headers ...[2]string) []byte {
	var head []byte
	for _, h := range headers {
		const text = 7
		head = append(head, byte(len(h[0])))
		head = append(head, h[0]...)
		head = append(head, text)
		head = binary.BigEndian.AppendUint16(head, uint16(len(h[1])))
		head = append(head, h[1]...)
	}
	const prelude, sum = 8, 4
	total := prelude + sum + len(head) + len(payload) + sum
	out := make([]byte, 0, total)
	out = binary.BigEndian.AppendUint32(out, uint32(total))
	out = binary.BigEndian.AppendUint32(out, uint32(len(head)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(out, head...)
	out = append(out, payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

// awsEvent is a message that carries an event.
func awsEvent(kind string, v any) []byte {
	return awsFrame(encodeJSON(v), [2]string{":event-type", kind}, [2]string{":content-type", "application/json"}, [2]string{":message-type", "event"})
}
