package secrets

import (
	"encoding/binary"
	"strings"
)

// streamedTexts returns the texts that a reply spells piece by piece, joined: what a
// stream cut in two is whole in there. Its events are JSON in lines, in events
// of a text/event-stream or in messages of an AWS event stream, also as base64
// within them; or it is one JSON value with its text in parts.
func streamedTexts(body string) []string {
	j, loose := joined(body)
	if loose != "" {
		return append(j.texts(), loose)
	}
	return j.texts()
}

// joined collects the strings of a body's events, and returns what is not JSON.
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
	// maxEvent bounds an event that comes in several lines.
	maxEvent = 64 << 10
)

// lines takes the events of a stream of lines, and returns what is no JSON.
func (j *streamJoiner) lines(body string) string {
	var loose []byte
	data := "" // of one event
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		more, ok := strings.CutPrefix(line, "data:")
		if !ok {
			loose, data = append(loose, data...), "" // it was broken
			j.event(strings.TrimLeft(line, "[, "))   // an event of its own, as in NDJSON
			continue
		}
		more = strings.TrimPrefix(more, " ")
		if len(data)+len(more) > maxEvent {
			loose, data = append(loose, data...), ""
		}
		data += more // it may come in several lines
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
