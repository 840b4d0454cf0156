package secrets

import (
	"encoding/binary"
	"strings"
)

// streamedTexts joins the pieces of the texts in a reply, because a stream may split a credential.
// The reply has JSON events in lines, in a text/event-stream or in messages of an AWS event
// stream, also in base64; or it is one JSON value with several parts of a text.
func streamedTexts(body string) []string {
	j, loose := joined(body)
	if loose != "" {
		return append(j.texts(), loose)
	}
	return j.texts()
}

// joined joins the strings of a body's events and returns the text that is not JSON.
func joined(body string) (j *streamJoiner, loose string) {
	j = &streamJoiner{at: map[string]*fieldText{}}
	if strings.HasPrefix(body, "\x00") {
		awsMessages(body, func(payload string) { j.event(payload) })
		return j, ""
	}
	rest := body
	for ok := true; ok; {
		var n int
		rest = strings.TrimLeft(rest, jsonSpace+",")
		if n, ok = j.event(rest); ok {
			rest = rest[n:]
		}
	}
	return j, j.lines(rest)
}

const (
	jsonSpace = " \t\r\n"
	// maxEvent bounds an event of several lines, in bytes.
	maxEvent = 64 << 10
)

// lines adds the events of a stream of lines and returns the text that is not JSON.
func (j *streamJoiner) lines(body string) string {
	var loose []byte
	data := "" // of one event
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		more, ok := strings.CutPrefix(line, "data:")
		if !ok {
			loose, data = append(loose, data...), "" // incomplete
			j.event(strings.TrimLeft(line, "[, "))   // a separate event, as in NDJSON
			continue
		}
		more = strings.TrimPrefix(more, " ")
		if len(data)+len(more) > maxEvent {
			loose, data = append(loose, data...), ""
		}
		data += more // an event may have several lines
		if !strings.HasPrefix(data, "{") && !strings.HasPrefix(data, "[") {
			loose, data = append(loose, more...), ""
		} else if strings.HasSuffix(data, "}") || strings.HasSuffix(data, "]") {
			if _, ok := j.event(data); ok {
				data = ""
			}
		}
	}
	return string(append(loose, data...))
}

// awsMessages calls f with the payloads of an AWS event stream (Smithy, "Amazon
// Event Stream specification"): length, length of the headers, checksum; headers;
// payload; checksum.
func awsMessages(body string, f func(payload string)) {
	for len(body) >= 16 {
		size := uint64(binary.BigEndian.Uint32([]byte(body[:4])))
		headers := uint64(binary.BigEndian.Uint32([]byte(body[4:8])))
		if size > uint64(len(body)) || size < headers+16 {
			return
		}
		f(body[12+headers : size-4])
		body = body[size:]
	}
}
