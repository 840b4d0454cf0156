package sim

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/pause"
)

// cutting is a Chaos that sends a part of a reply: of a stream at frames, of a whole one at body.
func cutting(name, does, whole, stream string, frames func(*fault, [][]byte), body func(*fault, []byte)) Chaos {
	return Chaos{Name: name, Does: does, Whole: kinds(whole), Stream: kinds(stream), act: func(m *fault) {
		if r, ok := m.reply(); !ok {
			return
		} else if f := r.frames(); f != nil {
			frames(m, f)
		} else {
			body(m, r.body.Bytes())
		}
	}}
}

// intact leaves a reply that is not a stream as it is.
func intact(m *fault, body []byte) { m.send(0, body) }

// halfway is the number of frames to send of a stream that is to end too early.
func halfway(frames [][]byte) int { return min(max(1, len(frames)/2), endFrame(frames)) }

// maxSilence bounds how long a silent server keeps a connection open.
const maxSilence = time.Minute

// cuts are the connections that fail and the replies that lack an end.
func cuts() []Chaos {
	silent := func(m *fault) { _ = pause.For(m.r.Context(), maxSilence); m.drop() }
	half := func(name, does, whole, stream string, then func(*fault)) Chaos {
		return cutting(name, does, whole, stream,
			func(m *fault, f [][]byte) { m.send(0, f[:halfway(f)]...); then(m) },
			func(m *fault, b []byte) { m.send(0, b[:len(b)/2]); then(m) })
	}
	return []Chaos{
		{Name: "disconnect", Does: "the connection is closed before any header", Whole: kinds("transport"), Stream: kinds("transport"), act: (*fault).drop},
		{Name: "hang", Does: "no answer; the connection is closed after a minute", Whole: kinds("timeout"), Stream: kinds("timeout"), act: silent},
		half("stall", "half of the reply, then nothing; the connection is closed after a minute", "timeout", "timeout", silent),
		half("cut-body", "the connection breaks in the middle, of a stream between two frames", "transport", "transport", (*fault).drop),
		half("end-early", "half of the reply, then a regular end of the response", "malformed", "transport", func(*fault) {}),
		cutting("cut-frame", "the connection breaks within a frame, of a whole reply before its last byte", "transport", "transport",
			func(m *fault, f [][]byte) {
				n := halfway(f)
				m.send(0, append(slices.Clone(f[:n]), f[n][:len(f[n])/2])...)
				m.drop()
			},
			func(m *fault, b []byte) { m.send(0, b[:len(b)-1]); m.drop() }),
		cutting("half-arguments", "a stream ends regularly among the arguments of a tool call, or in the middle if there is none", "", "transport",
			func(m *fault, f [][]byte) {
				n := halfway(f)
				if at := framesWith(f, argsWords); len(at) > 0 {
					n = min(at[len(at)/2]+1, endFrame(f))
				}
				m.send(0, f[:n]...)
			}, intact),
		cutting("no-finish", "a stream ends regularly before the frame that says why the model stopped", "", "transport",
			func(m *fault, f [][]byte) { m.send(0, f[:endFrame(f)]...) }, intact),
	}
}

// answers are the fields where a wire keeps the model's text and calls; usage is elsewhere.
var answers = []string{"choices", "content", "candidates", "message", "output", "generated_text"}

// malformedReplies are the replies with status 200 that are not valid replies.
func malformedReplies() []Chaos {
	malformed := kinds("malformed")
	say := func(media, body string) func(*fault) {
		return func(m *fault) { m.w.Header().Set("Content-Type", media); m.send(0, []byte(body)) }
	}
	inside := Chaos{Name: "error-in-200", Does: "200 with the vendor's words for overloaded", Whole: kinds("overloaded"), Stream: kinds("overloaded")}
	inside.act = func(m *fault) { m.sendError(200, "application/json", m.errorBody(busy)) }
	hollow := cutting("no-choices", "200 without the part that holds the answer, such as choices or content; the usage is there", "malformed", "",
		func(m *fault, f [][]byte) { m.send(0, f...) },
		func(m *fault, b []byte) { m.send(0, without(b, answers)) })
	hollow.Paid = true
	return []Chaos{
		inside, hollow,
		{Name: "empty", Does: "200 without a body", Whole: malformed, Stream: kinds("malformed", "transport"), act: say("application/json", "")},
		{Name: "web-page", Does: "200 with a web page, as of a captive portal", Whole: malformed, Stream: malformed, act: say("text/html", "<html><head><title>Sign in</title></head></html>")},
		cutting("bad-frame", "a stream has a frame in its middle that is no JSON", "", "malformed",
			func(m *fault, f [][]byte) {
				m.send(0, slices.Insert(slices.Clone(f), halfway(f), m.frame("content_block_delta", `{"a": frame}`))...)
			}, intact),
		cutting("error-midstream", "the vendor's words for overloaded in the middle of a stream, which then ends", "", "overloaded",
			func(m *fault, f [][]byte) { m.send(0, append(slices.Clone(f[:halfway(f)]), m.failing())...) }, intact),
		cutting("oversized", "9 MiB of nothing within the reply", "malformed", "malformed",
			func(m *fault, f [][]byte) { m.send(0, slices.Insert(slices.Clone(f), halfway(f), m.padding())...) },
			func(m *fault, b []byte) { m.send(0, bytes.Repeat([]byte(" "), oversize), b) }),
	}
}

const oversize = 9 << 20

var busy = wireError{status: 503, kind: "overloaded", text: "The model is overloaded. Please try again later."}

func without(body []byte, fields []string) []byte {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return []byte("{}")
	}
	for _, name := range fields {
		delete(object, name)
	}
	return encodeJSON(object)
}

// frame makes a frame of the wire's stream of data; event names it where the wire has names.
func (m *fault) frame(event, data string) []byte {
	kind := m.w.Header().Get("Content-Type")
	switch {
	case m.vendor == "bedrock":
		return awsFrame([]byte(data), [2]string{":message-type", "event"}, [2]string{":event-type", "contentBlockDelta"}, [2]string{":content-type", "application/json"})
	case strings.Contains(kind, "ndjson"):
		return []byte(data + "\n")
	case m.vendor == "anthropic" || m.vendor == "openai-responses":
		return []byte("event: " + event + "\ndata: " + data + "\n\n")
	}
	return []byte("data: " + data + "\n\n")
}

// failing is the frame with an error in a stream.
func (m *fault) failing() []byte {
	switch m.vendor {
	case "bedrock":
		return awsFrame(m.errorBody(busy), [2]string{":message-type", "exception"}, [2]string{":exception-type", "serviceUnavailableException"}, [2]string{":content-type", "application/json"})
	case "openai-responses":
		return m.frame("error", `{"type":"error","code":"server_error","message":"The server had an error.","param":null,"sequence_number":99}`)
	case "cohere":
		return m.frame("message-end", `{"type":"message-end","delta":{"error":"The model is overloaded.","finish_reason":"ERROR"}}`)
	}
	return m.frame("error", string(m.errorBody(busy)))
}

// padding is a frame of no meaning that is larger than any client should take.
func (m *fault) padding() []byte {
	blank := bytes.Repeat([]byte(" "), oversize)
	switch {
	case m.vendor == "bedrock":
		return awsFrame(blank, [2]string{":message-type", "event"}, [2]string{":event-type", "padding"})
	case strings.Contains(m.w.Header().Get("Content-Type"), "ndjson"):
		return append(blank, '\n')
	}
	return slices.Concat([]byte(":"), blank, []byte("\n\n"))
}

// odd is a Chaos that a client reads as if nothing had happened.
func odd(name, does string, act func(m *fault, c *captured)) Chaos {
	return Chaos{Name: name, Does: does, act: func(m *fault) {
		if c, ok := m.reply(); ok {
			act(m, c)
		}
	}}
}

// harmless are the oddities a client has to put up with.
func harmless() []Chaos {
	ends := func(name, does, end string) Chaos {
		return odd(name, does, func(m *fault, c *captured) {
			if c.isEvents() {
				lines := bytes.ReplaceAll(c.body.Bytes(), []byte("\r\n"), []byte("\n"))
				m.send(0, smallPieces(bytes.ReplaceAll(lines, []byte("\n"), []byte(end)))...)
				return
			}
			m.send(0, c.body.Bytes())
		})
	}
	return []Chaos{
		ends("crlf", "server-sent events with CRLF at the end of lines, some of them split", "\r\n"),
		ends("cr", "server-sent events with CR at the end of lines", "\r"),
		odd("rechunk", "pieces of 1 to 3 bytes, which split characters and frames", func(m *fault, c *captured) { m.send(0, smallPieces(c.body.Bytes())...) }),
		odd("slow-start", "the first byte comes after 50 ms", func(m *fault, c *captured) {
			_ = pause.For(m.r.Context(), 50*time.Millisecond)
			m.send(0, c.body.Bytes())
		}),
		odd("slow-drip", "the reply comes in 20 pieces, 2 ms apart", func(m *fault, c *captured) {
			m.send(2*time.Millisecond, slices.Collect(slices.Chunk(c.body.Bytes(), c.body.Len()/20+1))...)
		}),
		odd("wrong-type", "JSON as text/html, a stream as application/json", func(m *fault, c *captured) {
			media := "text/html"
			if c.frames() != nil {
				media = "application/json"
			}
			m.w.Header().Set("Content-Type", media)
			m.send(0, c.body.Bytes())
		}),
		odd("gzip", "compressed, if the client takes that", zipped),
		cutting("keepalive", "comments, pings or blank lines between the frames of a stream", "", "",
			func(m *fault, f [][]byte) { m.send(0, bytes.Join(f, m.filler())) }, intact),
		cutting("duplicate-finish", "the frame of a stream that says why the model stopped comes twice", "", "",
			func(m *fault, f [][]byte) {
				m.send(0, slices.Insert(slices.Clone(f), endFrame(f)+1, m.justEnd(f[endFrame(f)]))...)
			}, intact),
		cutting("no-done", "a stream without [DONE], of wires that have it", "", "",
			func(m *fault, f [][]byte) {
				m.send(0, slices.DeleteFunc(f, func(f []byte) bool { return bytes.Contains(f, []byte("[DONE]")) })...)
			}, intact),
	}
}

// justEnd is the frame that says why the model stopped, without a part of the answer. Only Gemini's has one.
func (m *fault) justEnd(frame []byte) []byte {
	var r map[string]json.RawMessage
	var candidates []map[string]json.RawMessage
	data, ok := bytes.CutPrefix(frame, []byte("data: "))
	if m.vendor != "gemini" || !ok || json.Unmarshal(data, &r) != nil || json.Unmarshal(r["candidates"], &candidates) != nil {
		return frame
	}
	for _, c := range candidates {
		delete(c, "content")
	}
	r["candidates"], _ = json.Marshal(candidates) // it was JSON
	text, _ := json.Marshal(r)
	return m.frame("", string(text))
}

// filler is what means nothing between two frames.
func (m *fault) filler() []byte {
	switch {
	case m.vendor == "bedrock":
		return nil
	case strings.Contains(m.w.Header().Get("Content-Type"), "ndjson"):
		return []byte("\n")
	case m.vendor == "anthropic":
		return []byte(": keep-alive\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n")
	}
	return []byte(": keep-alive\n\n")
}

// smallPieces cuts a body into pieces of 1 to 3 bytes; of a long one, the rest comes as one piece.
func smallPieces(body []byte) [][]byte {
	var pieces [][]byte
	for i := 0; len(body) > 0; i++ {
		n := min(len(body), 1+i%3)
		if i >= 4<<10 {
			n = len(body)
		}
		pieces, body = append(pieces, body[:n]), body[n:]
	}
	return pieces
}

func zipped(m *fault, c *captured) {
	if !strings.Contains(m.r.Header.Get("Accept-Encoding"), "gzip") {
		m.send(0, c.body.Bytes())
		return
	}
	m.w.Header().Set("Content-Encoding", "gzip")
	frames := c.frames()
	if frames == nil {
		frames = [][]byte{c.body.Bytes()}
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	var pieces [][]byte
	for _, f := range frames {
		_, _ = z.Write(f) // a buffer takes everything
		_ = z.Flush()
		pieces = append(pieces, bytes.Clone(out.Bytes()))
		out.Reset()
	}
	_ = z.Close()
	m.send(0, append(pieces, out.Bytes())...)
}
