// Package wire carries one JSON request to a provider: a request struct goes
// in, the status, headers and bounded body of the reply come out, or a
// *providers.Error that never shows the key. What the bytes mean is the
// business of the wire folders.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/cupel-eval/cupel/providers"
)

// MaxBody bounds a reply's body in bytes; a longer one is malformed.
const MaxBody = 8 << 20

// Dialect is what tells one provider's HTTP from another's.
type Dialect struct {
	// Base is the public address, up to and including the version segment.
	Base string
	// Path is appended to the address.
	Path string
	// KeyName is the setting that a message about a missing key names.
	KeyName string
	// Authorize puts the key into its header. It is not called without a key.
	Authorize func(h http.Header, key string)
	// Header is sent with every request; nil sends nothing more.
	Header http.Header
	// Kind names the class of a fault; "" leaves it to the HTTP status.
	Kind func(Fault) providers.Kind
}

// Client posts to one endpoint. It is safe for concurrent use.
type Client struct {
	dialect  Dialect
	provider string
	url      string
	key      string
	http     *http.Client
}

// Answer is what came back, as far as it came. Body is nil when none was read.
type Answer struct {
	Status    int
	Header    http.Header
	Body      []byte
	RequestID string
}

// New checks the options. It demands a key for the public address, unless
// Options.HTTP brings a transport of its own: that may replay, or sign.
func New(d Dialect, o providers.Options) (*Client, error) {
	c := &Client{dialect: d, provider: o.Provider, key: o.Key}
	base := o.BaseURL
	if base == "" {
		base = d.Base
		if o.Key == "" && (o.HTTP == nil || o.HTTP.Transport == nil) {
			return nil, &providers.Error{Kind: providers.Auth, Provider: o.Provider, Message: fmt.Sprintf("no key for %s: set %s", d.Base, d.KeyName)}
		}
	}
	address, err := endpoint(base, d.Path)
	if err != nil {
		return nil, &providers.Error{Kind: providers.InvalidRequest, Provider: o.Provider, Message: err.Error()}
	}
	c.url = address
	if i := strings.IndexFunc(o.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }); i >= 0 {
		return nil, &providers.Error{Kind: providers.Auth, Provider: o.Provider, Message: fmt.Sprintf("the key has a space, line break or non-ASCII character at position %d: check %s", i+1, d.KeyName)}
	}
	client := http.Client{}
	if o.HTTP != nil {
		client = *o.HTTP
	}
	// A redirect would carry the prompt, and some key headers, to another host.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &client
	return c, nil
}

// endpoint joins base and path. A base that already ends in path is taken as it is.
func endpoint(base, path string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", errors.New("base URL cannot be read: want something like http://127.0.0.1:8080/v1") // the text may hold a password
	}
	switch {
	case u.User != nil:
		return "", fmt.Errorf("base URL of host %s holds a user or password: pass the credential as the key", u.Host)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", errors.New("base URL is not an http or https address: want something like http://127.0.0.1:8080/v1")
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("base URL of host %s has a query or fragment: leave it out", u.Host)
	}
	return strings.TrimSuffix(strings.TrimRight(base, "/"), path) + path, nil
}

// Post sends body and reads the whole reply. The error is nil exactly when a
// complete 2xx reply came; otherwise it is a *providers.Error, and the Answer
// holds what is known.
func (c *Client) Post(ctx context.Context, call providers.Call, body any) (Answer, error) {
	req, err := c.request(ctx, call, body)
	if err != nil {
		return Answer{}, c.Error(Answer{}, call.Model, providers.InvalidRequest, "", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, c.Error(Answer{}, call.Model, transportKind(ctx, err), "", err)
	}
	defer func() { _ = resp.Body.Close() }()
	a := Answer{Status: resp.StatusCode, Header: resp.Header}
	a.RequestID = c.bounded(firstHeader(resp.Header, "X-Request-Id", "Request-Id"), maxID)
	a.Body, err = io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if err != nil {
		return a, c.Error(a, call.Model, transportKind(ctx, err), "the reply broke off", err)
	}
	if len(a.Body) > MaxBody {
		a.Body = nil
		return a, c.Error(a, call.Model, providers.Malformed, fmt.Sprintf("the reply is longer than %d bytes", MaxBody), nil)
	}
	if a.Status < 200 || a.Status > 299 {
		return a, c.Fault(a, call.Model, ReadFault(a.Body))
	}
	return a, nil
}

func (c *Client) request(ctx context.Context, call providers.Call, body any) (*http.Request, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(bytes.TrimRight(text.Bytes(), "\n")))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "cupel")
	for name, values := range c.dialect.Header {
		req.Header[name] = values
	}
	if call.RequestID != "" {
		req.Header.Set("X-Client-Request-Id", call.RequestID)
	}
	if c.key != "" {
		c.dialect.Authorize(req.Header, c.key)
	}
	return req, nil
}

// transportKind tells a deadline from other failures to get a reply.
func transportKind(ctx context.Context, err error) providers.Kind {
	var timeout net.Error
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return providers.TimedOut
	}
	return providers.Transport
}

func firstHeader(h http.Header, names ...string) string {
	for _, name := range names {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}
