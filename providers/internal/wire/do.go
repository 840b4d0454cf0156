package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// Decoder reads the replies of one wire into a Builder. One is made for each
// exchange; it is used by one goroutine.
type Decoder interface {
	// Whole reads a complete body that is not a stream. A *Fault as the error is one
	// reported by the provider.
	Whole(b *Builder, body []byte) error
	// Frame folds one frame of a stream. done reports that nothing follows.
	Frame(b *Builder, f Frame) (done bool, err error)
}

// response is the received part of the response. Body is nil if no body was kept.
type response struct {
	Status    int
	Header    http.Header
	Body      []byte
	RequestID string
}

// maxFrames bounds the times kept of a stream.
const maxFrames = 1 << 16

// Do makes one exchange. The error is nil exactly when a complete reply came;
// otherwise it is a *fault.Error, and the reply contains what is known.
// warnings are what the request left out.
func (c *Client) Do(ctx context.Context, call providers.Call, r Request, d Decoder, warnings []string) (providers.Reply, error) {
	b := &Builder{emit: call.OnDelta}
	if !call.Stream {
		b.emit = nil
	}
	req, err := c.request(ctx, call, r)
	if err != nil {
		kind := fault.InvalidRequest
		switch {
		case errors.Is(err, errUnsigned) && ctx.Err() != nil:
			kind = transportKind(ctx, err)
		case errors.Is(err, errUnsigned):
			kind = fault.Auth
		}
		return c.over(b, response{}, call, warnings, c.Error(response{}, call.Model, kind, "", err))
	}
	start := c.now()
	resp, err := c.http.Do(req)
	if err != nil {
		return c.over(b, response{}, call, warnings, c.Error(response{}, call.Model, transportKind(ctx, err), "", err))
	}
	defer func() { _ = resp.Body.Close() }()
	a := response{Status: resp.StatusCode, Header: resp.Header}
	a.RequestID = c.bounded(firstHeader(resp.Header, append([]string{"X-Request-Id", "Request-Id"}, c.dialect.RequestID...)...), maxID)
	x := exchange{client: c, ctx: ctx, call: call, answer: a, decoder: d, builder: b, start: start}
	if r.Framing.Cut == nil {
		r.Framing = Events
	}
	failed := x.read(resp, r.Framing)
	return c.over(b, x.answer, call, warnings, failed)
}

// exchange is the reading of one response.
type exchange struct {
	client  *Client
	ctx     context.Context
	call    providers.Call
	answer  response
	decoder Decoder
	builder *Builder
	start   time.Time
	body    *counted
}

// counted is a bounded body that remembers how it ended.
type counted struct {
	source io.Reader
	left   int64
	err    error // of source, but io.EOF
}

func (b *counted) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.source.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

var errTooLong = errors.New("the reply is too long")

// read reads a response by its status and by what its body begins with: servers
// answer a request for a stream with a document, and the other way round,
// regardless of the content type.
func (x *exchange) read(resp *http.Response, framing Framing) *fault.Error {
	body := resp.Body
	x.body = &counted{source: body, left: x.client.maxBody + 1}
	ok := x.answer.Status >= 200 && x.answer.Status <= 299
	head, err := peek(x.body, resp.ContentLength)
	head = trimStart(head) // no JSON and no event begins so
	if ok && framing.Starts(head, x.call.Stream) {
		return x.stream(io.MultiReader(bytes.NewReader(head), &pass{x.body, err}), body, framing)
	}
	whole, more := bytes.NewBuffer(head), err
	if more == nil {
		_, more = whole.ReadFrom(x.body)
	}
	switch {
	case errors.Is(more, errTooLong), x.body.left <= 0:
		return x.client.Error(x.answer, x.call.Model, fault.Malformed, fmt.Sprintf("the reply is longer than %d bytes", x.client.maxBody), nil)
	case more != nil && !errors.Is(more, io.EOF):
		return x.client.Error(x.answer, x.call.Model, transportKind(x.ctx, more), "the reply broke off", more)
	}
	x.answer.Body = whole.Bytes()
	if !ok {
		return x.client.fault(x.answer, x.call.Model, x.client.dialect.Fault(x.answer.Body))
	}
	if len(bytes.TrimSpace(x.answer.Body)) == 0 {
		if x.call.Stream {
			return x.client.Error(x.answer, x.call.Model, fault.Transport, "the stream ended before its first event", io.ErrUnexpectedEOF)
		}
		return x.client.Error(x.answer, x.call.Model, fault.Malformed, "the body is empty", nil)
	}
	x.builder.Complete = true
	failed := x.failure(x.decoder.Whole(x.builder, x.answer.Body), x.answer.Body)
	if failed == nil && !x.builder.Complete {
		return x.client.Error(x.answer, x.call.Model, fault.Transport, "the reply says that it is not finished", io.ErrUnexpectedEOF)
	}
	return failed
}

// pass reads on after a peek that ended with err.
type pass struct {
	r   io.Reader
	err error
}

func (p *pass) Read(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	return p.r.Read(b)
}

// peek reads until something but white space has come, at most 4 KiB. What it
// returns has room for a reply of the announced length, or for most of those whose
// length is not announced (-1, or 0 of transports that leave it out).
func peek(r io.Reader, length int64) ([]byte, error) {
	room := 8 << 10
	if length > 0 && length < 64<<10 { // more is not believed until it has come
		room = int(length) + bytes.MinRead
	}
	head := make([]byte, 0, room)
	limit := min(room, 4<<10)
	for len(head) < limit {
		n, err := r.Read(head[len(head):limit])
		head = head[:len(head)+n]
		if err != nil || len(trimStart(head)) >= len("event:") {
			return head, err
		}
	}
	return head, nil
}

func trimStart(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n\ufeff") }

// stream folds the frames. Times are those of the frames that brought a piece.
func (x *exchange) stream(r io.Reader, body io.ReadCloser, framing Framing) *fault.Error {
	b := x.builder
	var bad string
	err := framing.Cut(r, int(min(x.client.maxBody, 1<<30)), func(f Frame) error {
		before := b.pieces
		done, err := x.decoder.Frame(b, f)
		if b.pieces > before {
			x.note(body)
		}
		switch {
		case err != nil:
			bad = f.Data
			return err
		case done:
			b.Complete = true
			return errStop
		}
		return nil
	})
	partial := func(e *fault.Error) *fault.Error {
		e.Partial = b.pieces > 0
		return e
	}
	switch {
	case errors.Is(err, errStop):
		drain(body)
		return nil
	case x.body.err != nil: // before err: the model did not cause half a frame
		// A finish reason does not make up for the end that is missing: usage or another
		// call may have followed it.
		return partial(x.client.Error(x.answer, x.call.Model, transportKind(x.ctx, x.body.err), "the stream broke off", x.body.err))
	case x.body.left <= 0, errors.Is(err, bufio.ErrTooLong):
		return partial(x.client.Error(x.answer, x.call.Model, fault.Malformed, fmt.Sprintf("the reply is longer than %d bytes", x.client.maxBody), nil))
	case errors.Is(err, ErrBroken):
		return partial(x.client.Error(x.answer, x.call.Model, fault.Transport, "the stream broke off", err))
	case half(err, bad):
		return partial(x.client.Error(x.answer, x.call.Model, fault.Transport, "the stream ended in the middle of an event", io.ErrUnexpectedEOF))
	case err != nil:
		return partial(x.failure(err, []byte(bad)))
	case !b.Complete:
		return partial(x.client.Error(x.answer, x.call.Model, fault.Transport, "the stream ended before its last event", io.ErrUnexpectedEOF))
	}
	return nil
}

// half reports whether a frame was refused because its JSON ends too early: it
// is the last of a stream that was cut off.
func half(err error, frame string) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) && frame != "" && syntax.Offset >= int64(len(frame)) && strings.HasPrefix(syntax.Error(), "unexpected end")
}

// note keeps the time of a frame: the transport's own if it has one.
func (x *exchange) note(body io.ReadCloser) {
	r := &x.builder.Reply
	if !x.call.Stream || len(r.Frames) >= maxFrames {
		return
	}
	var at time.Duration
	if c, ok := body.(interface{ Elapsed() time.Duration }); ok {
		at = c.Elapsed()
	} else {
		at = x.client.now().Sub(x.start)
	}
	if len(r.Frames) == 0 {
		r.FirstToken = at
	}
	r.Frames = append(r.Frames, at)
}

// drainTime bounds the wait for a server to close after the last event.
const drainTime = 250 * time.Millisecond

// drain reads to the end of a finished stream, so that the connection can be used again and a
// recording is whole. A body that it closes is closed when it returns.
func drain(body io.ReadCloser) {
	end := sync.OnceFunc(func() { _ = body.Close() })
	timer := time.AfterFunc(drainTime, end)
	_, _ = io.Copy(io.Discard, io.LimitReader(body, 64<<10)) // the reply is already complete
	if !timer.Stop() {
		end()
	}
}

// failure makes a typed error of what a decoder returned.
func (x *exchange) failure(err error, body []byte) *fault.Error {
	var f *Fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return x.client.fault(x.answer, x.call.Model, *f)
	}
	return x.client.Error(x.answer, x.call.Model, fault.Malformed, "the body is not the expected JSON: "+plain(bytes.TrimSpace(body)), err)
}

// batchedHeader marks the reply to a request that was sent in a batch: batching.Header.
const batchedHeader = "X-Cupel-Batched"

// over completes a reply with data of the exchange.
func (c *Client) over(b *Builder, a response, call providers.Call, warnings []string, failed *fault.Error) (providers.Reply, error) {
	r := b.build(ForcedTool(call))
	r.RequestID, r.Status = cmp.Or(a.RequestID, c.bounded(b.Reply.RequestID, maxID)), a.Status
	r.Model = c.bounded(r.Model, maxID)
	r.Warnings = append(warnings, r.Warnings...)
	if a.Header.Get(batchedHeader) != "" {
		r.Batched = true
		r.Usage.SetTier("batch") // which not every provider reports
	}
	if what := b.unsupported(); failed == nil && what != "" {
		failed = c.Error(a, call.Model, fault.Unsupported, what, nil)
	}
	if failed == nil {
		return r, nil
	}
	failed.RequestID = cmp.Or(failed.RequestID, r.RequestID)
	return r, failed
}

func firstHeader(h http.Header, names ...string) string {
	for _, name := range names {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// Decode folds a body in memory, without HTTP, as Do would: for tests,
// fuzzing and benchmarks of decoders. The error is a *Fault when the provider
// reported one. complete is false for a stream that was cut off.
func Decode(d Decoder, framing Framing, body []byte, asked bool, forced string) (r providers.Reply, complete bool, err error) {
	b := &Builder{}
	if body = trimStart(body); framing.Starts(body, asked) {
		err = framing.Cut(bytes.NewReader(body), max(len(body), 4<<10)*2, func(f Frame) error {
			done, err := d.Frame(b, f)
			if done && err == nil {
				b.Complete, err = true, errStop
			}
			return err
		})
		if errors.Is(err, errStop) {
			err = nil
		}
	} else {
		b.Complete = true
		err = d.Whole(b, body)
	}
	r = b.build(forced)
	if what := b.unsupported(); err == nil && what != "" {
		err = errors.New(what)
	}
	return r, b.Complete, err
}
