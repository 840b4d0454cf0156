package sim

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/pause"
)

// fault is one request that something happens to.
type fault struct {
	w      http.ResponseWriter
	r      *http.Request
	next   http.Handler
	wire   wire
	vendor string
}

// captured is a reply that has not been sent yet. It is an http.ResponseWriter.
type captured struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (c *captured) Header() http.Header { return c.header }

func (c *captured) WriteHeader(status int) {
	c.status = cmp.Or(c.status, status)
}

func (c *captured) Write(p []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	return c.body.Write(p)
}

// Flush does nothing: all of it is kept.
func (c *captured) Flush() {}

// reply asks the model and puts its headers down. ok is false when it failed by
// itself: that failure has then been sent.
func (m *fault) reply() (c *captured, ok bool) {
	c = &captured{header: http.Header{}}
	m.next.ServeHTTP(c, m.r)
	maps.Copy(m.w.Header(), c.header)
	if c.status == http.StatusOK {
		return c, true
	}
	m.w.WriteHeader(c.status)
	_, _ = m.w.Write(c.body.Bytes())
	return c, false
}

// send writes pieces one by one, with a pause after each.
func (m *fault) send(every time.Duration, pieces ...[]byte) {
	m.w.WriteHeader(http.StatusOK)
	for _, p := range pieces {
		if _, err := m.w.Write(p); err != nil || m.r.Context().Err() != nil {
			return
		}
		if f, ok := m.w.(http.Flusher); ok {
			f.Flush()
		}
		_ = pause.For(m.r.Context(), every)
	}
}

// drop closes the connection without an end to the reply.
func (m *fault) drop() { panic(http.ErrAbortHandler) }

func (c *captured) isEvents() bool {
	return strings.HasPrefix(c.header.Get("Content-Type"), "text/event-stream")
}

// frames cuts a stream into its frames, ends included; a reply that is not a stream has none.
func (c *captured) frames() [][]byte {
	body := c.body.Bytes()
	var frames [][]byte
	kind := c.header.Get("Content-Type")
	for len(body) > 0 {
		n := len(body)
		switch {
		case c.isEvents():
			for _, blank := range []string{"\n\n", "\r\n\r\n"} {
				if i := bytes.Index(body, []byte(blank)); i >= 0 {
					n = min(n, i+len(blank))
				}
			}
		case strings.Contains(kind, "ndjson"):
			if i := bytes.IndexByte(body, '\n'); i >= 0 {
				n = i + 1
			}
		case strings.Contains(kind, "vnd.amazon.eventstream"):
			if len(body) >= 4 { // the first word is the length of the message
				n = min(n, max(4, int(binary.BigEndian.Uint32(body))))
			}
		default:
			return nil
		}
		frames, body = append(frames, body[:n]), body[n:]
	}
	return frames
}

// endWords occur in the frame with the reason why a model stopped, of any wire.
var endWords = [][]byte{
	[]byte(`"finish_reason":"`), []byte(`"stop_reason":"`), []byte(`"finishReason":"`), []byte(`"stopReason":"`),
	[]byte(`"done":true`), []byte(`"response.completed"`), []byte(`"response.incomplete"`), []byte(`"message-end"`), []byte(`[DONE]`),
}

// argsWords occur in the frames with the arguments of a call.
var argsWords = [][]byte{
	[]byte(`"arguments":`), []byte(`"input_json_delta"`), []byte(`"functionCall"`), []byte(`"toolUse"`), []byte(`function_call_arguments.delta`),
}

func framesWith(frames [][]byte, words [][]byte) []int {
	var found []int
	for i, f := range frames {
		if slices.ContainsFunc(words, func(w []byte) bool { return bytes.Contains(f, w) }) {
			found = append(found, i)
		}
	}
	return found
}

// endFrame is the index of the frame that says why the model stopped, or of the last.
func endFrame(frames [][]byte) int {
	if at := framesWith(frames, endWords); len(at) > 0 {
		return at[0]
	}
	return max(0, len(frames)-1)
}
