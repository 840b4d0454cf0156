package batching

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/providers/batch"
)

type identityKey struct{}

type identity struct {
	id, digest string
	held       *Held
}

// Identify returns a context whose request has an id and a digest of what it asks, by which a
// resumed run knows it again. held is what Claim returned; it may be nil.
func Identify(ctx context.Context, id, digest string, held *Held) context.Context {
	return context.WithValue(ctx, identityKey{}, identity{id, digest, held})
}

// Transport returns the transport of a provider's model requests.
func (c *Collector) Transport(provider string) http.RoundTripper { return transport{c, provider} }

type transport struct {
	c        *Collector
	provider string
}

// maxBody bounds the body of a request.
const maxBody = 64 << 20

// RoundTrip implements http.RoundTripper. It returns when the request's batch has ended, with a
// *WaitingError if the request's context ends while it is in a batch.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	who, _ := req.Context().Value(identityKey{}).(identity)
	e, _ := req.Context().Value(episodeKey{}).(*episode)
	c := t.c
	c.mu.Lock()
	g, err := groupOf(c, t.provider, req, body)
	if err != nil {
		c.mu.Unlock()
		return nil, err
	}
	it := &item{c: c, id: who.id, digest: who.digest, done: make(chan outcome, 1)}
	if who.held != nil {
		it = who.held.it
	}
	it.body, it.group, it.episode = body, g, e
	if !it.answered {
		c.block(e)
	}
	switch {
	case it.answered:
	case it.batch != nil:
		c.followEarlier(it.batch, g)
		c.check()
	default:
		it.enqueue()
	}
	c.mu.Unlock()
	o, err := it.wait(req.Context())
	if err != nil {
		return nil, err
	}
	return it.response(req, o), nil
}

func readBody(req *http.Request) (string, error) {
	if req.Body == nil {
		return "", fmt.Errorf("batch a request to %s: it has no body", req.URL.Host)
	}
	defer func() { _ = req.Body.Close() }()
	var b strings.Builder
	if n, err := io.Copy(&b, io.LimitReader(req.Body, maxBody+1)); err != nil || n > maxBody {
		return "", fmt.Errorf("batch a request to %s: read its body of at most %d bytes: %w", req.URL.Host, maxBody, cmpErr(err))
	}
	if strings.ContainsAny(b.String(), "\r\n") { // a line of JSON Lines is one line
		var line bytes.Buffer
		if err := json.Compact(&line, []byte(b.String())); err != nil {
			return "", fmt.Errorf("batch a request to %s: its body is not JSON: %w", req.URL.Host, err)
		}
		return line.String(), nil
	}
	return b.String(), nil
}

func cmpErr(err error) error {
	if err == nil {
		return io.ErrShortBuffer
	}
	return err
}

// groupOf returns the group of a request: those with one address, model and header. The caller
// must have locked.
func groupOf(c *Collector, provider string, req *http.Request, body string) (*group, error) {
	var asked struct {
		Model string `json:"model"`
	}
	_ = json.Unmarshal([]byte(body), &asked) // Gemini's model is in the address
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\n%s\n%s\n", provider, req.URL, asked.Model) // a hash does not fail
	for _, name := range slices.Sorted(keys(req.Header)) {
		if name != "X-Client-Request-Id" {
			_, _ = fmt.Fprintf(h, "%q %q\n", name, req.Header[name])
		}
	}
	key := string(h.Sum(nil))
	if g := c.groups[key]; g != nil {
		return g, nil
	}
	client, err := batch.New(provider, req, c.o.Transport(provider))
	if err != nil {
		return nil, err
	}
	g := &group{provider: provider, client: client, limit: client.Limits().Items}
	if n := c.o.MaxItems; n > 0 {
		g.limit = min(g.limit, n)
	}
	c.groups[key] = g
	return g, nil
}

func keys(h http.Header) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range h {
			if !yield(name) {
				return
			}
		}
	}
}

// enqueue adds a request to its group; the caller must have locked.
func (it *item) enqueue() {
	c, g := it.c, it.group
	it.batch = nil
	g.queue = append(g.queue, it)
	g.bytes += itemBytes(it)
	c.queued++
	if g.full() {
		c.submit(g)
	} else if g.expired == nil {
		g.expired = time.AfterFunc(c.o.MaxWait, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.submit(g)
		})
	}
	c.check()
}

func (g *group) full() bool {
	return len(g.queue) >= g.limit || g.bytes >= g.client.Limits().Bytes
}

// itemBytes is what an item takes in a batch.
func itemBytes(it *item) int { return len(it.body) + 200 }

// wait waits for what becomes of a request, or for the end of its context.
func (it *item) wait(ctx context.Context) (outcome, error) {
	c := it.c
	select {
	case o := <-it.done:
		return o, o.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if it.answered {
		o := <-it.done
		return o, o.err
	}
	c.unblock(it.episode)
	it.episode, it.gone = nil, true
	if it.batch != nil {
		return outcome{}, &WaitingError{it.group.provider, it.batch.name(), context.Cause(ctx)}
	}
	it.answered = true
	g := it.group
	if i := slices.Index(g.queue, it); i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
		g.bytes -= itemBytes(it)
		c.queued--
	}
	return outcome{}, ctx.Err()
}

// response is the reply of an item.
func (it *item) response(req *http.Request, o outcome) *http.Response {
	r := o.result
	header := r.Header.Clone()
	header.Set(Header, it.batch.name())
	return &http.Response{
		Status: fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status)), StatusCode: r.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: &replyBody{Reader: bytes.NewReader(r.Body), close: func() { it.kept(r.Status) }}, ContentLength: int64(len(r.Body)), Request: req,
	}
}

// replyBody is the body of a reply. The recorder has it on disk when it is closed.
type replyBody struct {
	*bytes.Reader
	close func()
}

// Close implements io.Closer.
func (b *replyBody) Close() error {
	if b.close != nil {
		b.close()
		b.close = nil
	}
	return nil
}
