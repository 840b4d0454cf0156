// Package wire sends one JSON request to a provider and folds the response,
// whole or streamed, by a Decoder into a providers.Reply. It returns a *fault.Error
// that never shows the key. The wire folders define the meaning of the bytes.
package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/plainjson"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// defaultMaxBody bounds a reply's body in bytes unless Options.MaxBody does.
const defaultMaxBody = 8 << 20

// Dialect describes how one provider's HTTP differs from another's.
type Dialect struct {
	// Name is the provider's, unless Options.Provider is set.
	Name string
	// Base is the public address, up to and including the version segment. Empty
	// means that there is none: Options.BaseURL is then required.
	Base string
	// KeyName is the setting that a message about a missing key names; empty when
	// no key is needed.
	KeyName string
	// Authorize puts the key into its header. It is not called without a key.
	Authorize func(h http.Header, key string)
	// Sign, if there is one, signs a finished request; it runs last. Its failure is
	// of kind auth.
	Sign func(ctx context.Context, r *http.Request, body []byte) error
	// Header is sent with every request; nil sends nothing more.
	Header http.Header
	// RequestID names the headers that carry the provider's request id, besides
	// X-Request-Id and Request-Id.
	RequestID []string
	// Fault reads the body of a failed exchange; nil means ReadFault.
	Fault func(body []byte) Fault
	// Kind names the class of a fault; "" leaves it to the HTTP status.
	Kind func(Fault) fault.Kind
}

// Client posts to one provider. It is safe for concurrent use.
type Client struct {
	dialect  Dialect
	provider string
	base     string
	query    url.Values
	header   http.Header
	extra    json.RawMessage
	key      string
	maxBody  int64
	now      func() time.Time
	http     *http.Client
}

// Request is one request to make.
type Request struct {
	// Path is appended to the base, escaped, with a leading slash.
	Path string
	// Query is sent below that of the options.
	Query url.Values
	// Body is encoded as JSON: a struct, so that equal calls give equal bytes.
	Body any
	// Framing is how a stream is cut into frames, Events if it is the zero value.
	Framing Framing
}

// Exchange is how a call is carried out.
type Exchange struct {
	Request  Request
	Decoder  Decoder
	Warnings []string
	// Problem says why the call cannot be sent; empty if it can.
	Problem string
}

// NewModel makes a model, which implements providers.Formatter with modes. exchange is
// called concurrently. Errors are those of New.
func NewModel(d Dialect, o providers.Options, modes []providers.Mode, exchange func(providers.Call) Exchange) (providers.Model, error) {
	client, err := New(d, o)
	if err != nil {
		return nil, err
	}
	return &model{client, modes, exchange}, nil
}

type model struct {
	client   *Client
	modes    []providers.Mode
	exchange func(providers.Call) Exchange
}

// Modes implements providers.Formatter.
func (m *model) Modes() []providers.Mode { return slices.Clone(m.modes) }

// Call implements providers.Model.
func (m *model) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	if err := m.client.Check(call, m.modes); err != nil {
		return providers.Reply{}, err
	}
	x := m.exchange(call)
	if x.Problem != "" {
		return providers.Reply{}, m.client.Error(response{}, call.Model, fault.InvalidRequest, x.Problem, nil)
	}
	return m.client.Do(ctx, call, x.Request, x.Decoder, x.Warnings)
}

// New checks the options. It demands a key for the public address, unless
// Options.HTTP brings its own transport: that may replay, or sign.
func New(d Dialect, o providers.Options) (*Client, error) {
	o.Provider = cmp.Or(o.Provider, d.Name)
	c := &Client{
		dialect: d, provider: o.Provider, key: o.Key, maxBody: cmp.Or(o.MaxBody, defaultMaxBody), now: o.Now,
		query: url.Values{}, header: http.Header{}, extra: o.Extra,
	}
	if c.dialect.Fault == nil {
		c.dialect.Fault = ReadFault
	}
	if c.now == nil {
		c.now = time.Now //nolint:forbidigo // the seam: a transport without its own clock is live
	}
	base := o.BaseURL
	if base == "" {
		base = d.Base
		if o.Key == "" && d.KeyName != "" && (o.HTTP == nil || o.HTTP.Transport == nil) {
			return nil, &fault.Error{Kind: fault.Auth, Provider: o.Provider, Message: fmt.Sprintf("no key for %s: set %s", cmp.Or(d.Base, o.Provider), d.KeyName)}
		}
	}
	refuse := func(message string) (*Client, error) {
		return nil, &fault.Error{Kind: fault.InvalidRequest, Provider: o.Provider, Message: message}
	}
	if base == "" {
		return refuse("no address: set base_url, such as http://127.0.0.1:8080/v1")
	}
	if err := checkBase(base); err != nil {
		return refuse(err.Error())
	}
	c.base = strings.TrimRight(base, "/")
	if i := strings.IndexFunc(o.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }); i >= 0 {
		return nil, &fault.Error{Kind: fault.Auth, Provider: o.Provider, Message: fmt.Sprintf("the key has a space, line break or non-ASCII character at position %d: check %s", i+1, cmp.Or(d.KeyName, "it"))}
	}
	if len(o.Extra) > 0 {
		var object map[string]json.RawMessage
		if json.Unmarshal(o.Extra, &object) != nil || object == nil {
			return refuse("the extra body fields are not a JSON object")
		}
	}
	for name, value := range o.Header {
		if strings.ContainsFunc(name+value, func(r rune) bool { return r < ' ' || r == 0x7f }) || name == "" {
			return refuse(fmt.Sprintf("extra header %.80q cannot be sent", name))
		}
		c.header.Set(name, value)
	}
	for name, value := range o.Query {
		c.query.Set(name, value)
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

// checkBase says what keeps a text from being an address to append a path to.
func checkBase(base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return errors.New("base URL cannot be parsed; use a form such as http://127.0.0.1:8080/v1") // the text may hold a password
	}
	switch {
	case u.User != nil:
		return fmt.Errorf("base URL of host %s contains a user or password; pass the credential as the key", u.Host)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("base URL is not an http or https address; use a form such as http://127.0.0.1:8080/v1")
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("base URL of host %s has a query or fragment: leave it out", u.Host)
	}
	return nil
}

// address joins base and path. A base that already ends in path is taken as it is.
func (c *Client) address(r Request) string {
	address := strings.TrimSuffix(c.base, r.Path) + r.Path
	query := url.Values{}
	maps.Copy(query, r.Query)
	maps.Copy(query, c.query) // the options' go over the wire's own
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}

// request makes the HTTP request. Equal calls give equal bytes.
func (c *Client) request(ctx context.Context, call providers.Call, r Request) (*http.Request, error) {
	body, err := encodeBody(call, r.Body)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	if len(c.extra) > 0 {
		if body, err = mergePatch(body, c.extra); err != nil {
			return nil, fmt.Errorf("lay the extra fields over the request: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address(r), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if call.Stream {
		req.Header.Set("Accept", cmp.Or(r.Framing.Media, Events.Media))
	}
	req.Header.Set("User-Agent", "cupel")
	for _, more := range []http.Header{c.dialect.Header, c.header} {
		for name, values := range more {
			req.Header[name] = slices.Clone(values)
		}
	}
	if call.RequestID != "" {
		req.Header.Set("X-Client-Request-Id", call.RequestID)
	}
	if c.key != "" && c.dialect.Authorize != nil {
		c.dialect.Authorize(req.Header, c.key)
	}
	if c.dialect.Sign != nil {
		if err := c.dialect.Sign(ctx, req, body); err != nil {
			return nil, fmt.Errorf("%w: %w", errUnsigned, err)
		}
	}
	return req, nil
}

// errUnsigned is a failure to sign: of kind auth.
var errUnsigned = errors.New("sign request")

// encodeBody writes a body by itself if it can, into what most of them fill.
func encodeBody(call providers.Call, body any) ([]byte, error) {
	if a, ok := body.(Appender); ok {
		size := len(call.System)
		for _, m := range call.Messages {
			size += len(m.Text)
		}
		if text, ok := a.AppendJSON(make([]byte, 0, size+size/8+256)); ok {
			return text, nil
		}
	}
	return plainjson.Marshal(body)
}

// mergePatch lays patch over a JSON object by RFC 7396. Keys come out sorted.
func mergePatch(target, patch []byte) ([]byte, error) {
	values := [2]any{}
	for i, text := range [][]byte{target, patch} {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber() // a number keeps its digits
		if err := dec.Decode(&values[i]); err != nil {
			return nil, err
		}
	}
	return plainjson.Marshal(plainjson.Merge(values[0], values[1]))
}

// transportKind distinguishes a deadline from other failures to get a reply.
func transportKind(ctx context.Context, err error) fault.Kind {
	var timeout net.Error
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return fault.TimedOut
	}
	return fault.Transport
}
