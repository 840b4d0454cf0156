// Package batch speaks the batch APIs of providers: many requests are submitted together,
// answered within 24 hours, and cost about half. It knows OpenAI's Batch API (chat completions
// and Responses), Anthropic's Message Batches and the batches of the Gemini API.
//
// An item is the body of an ordinary request, and its result becomes the ordinary reply: status,
// headers and body. So nothing above this package has to know a batch API.
//
// Sources: OpenAI, "Batch API" (platform.openai.com/docs/guides/batch and the API reference,
// "Batch"); Anthropic, "Batch processing" and the API reference, "Message Batches"
// (platform.claude.com/docs/en/api/messages/batches); Google, "Batch API"
// (ai.google.dev/gemini-api/docs/batch-api and ai.google.dev/api/batch-api).
package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Tier is the service tier of batched requests in price tables.
const Tier = "batch"

// Item is one request of a batch.
type Item struct {
	// ID names the item within its batch: 1 to 64 letters, digits, _ and -.
	ID string
	// Body is the body of the ordinary request: JSON in one line.
	Body string
}

// Result is what became of an item: the ordinary reply.
type Result struct {
	ID     string
	Status int
	Header http.Header
	Body   []byte
}

// State is the state of a batch at its provider.
type State struct {
	// Ended reports that no item is going to get a further result.
	Ended bool
	// Cut says, of an ended batch, why items may be without a result: it expired or was
	// cancelled. Empty if neither.
	Cut string
	// Rejected says why the provider accepted none of the items after it had taken the batch;
	// empty if it did not. Lines has the reasons of single items by their index. Full reports
	// that more items are waiting already than the provider allows.
	Rejected string
	Lines    map[int]string
	Full     bool
	// files are OpenAI's files of results, and embedded are Gemini's results.
	files    []string
	embedded json.RawMessage
}

// Error is the failure of one request of a batch API.
type Error struct {
	// Op is what was to be done.
	Op string
	// Status, Header and Body are the provider's reply; Status is 0 if none came.
	Status int
	Header http.Header
	Body   []byte
	Err    error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("%s: status %d: %.300q", e.Op, e.Status, e.Body)
}

// Unwrap returns the failure of the transport.
func (e *Error) Unwrap() error { return e.Err }

// Refused reports whether the provider answered and refused for good: the same request is
// refused again. Created reports whether a batch may exist although its creation failed.
func (e *Error) Refused() bool {
	return e.Status >= 400 && e.Status < 500 && e.Status != http.StatusRequestTimeout && e.Status != http.StatusTooManyRequests && e.Status != http.StatusConflict
}

// Created reports whether the failed creation of a batch may have created one.
func (e *Error) Created() bool { return !e.Refused() && e.Status != http.StatusTooManyRequests }

// Unreadable reports whether a reply arrived that is not what the API documents. The same
// request may get the same reply again.
func (e *Error) Unreadable() bool { return errors.Is(e.Err, errUnreadable) }

// Limits are what one batch may have.
type Limits struct {
	Items, Bytes int
}

// api is one provider's.
type api interface {
	limits() Limits
	// suffix reports what of an ordinary request's path is not part of the base.
	suffix(path string) string
	submit(ctx context.Context, c *Client, key string, items []Item) (string, error)
	find(ctx context.Context, c *Client, lost Lost) (string, error)
	state(ctx context.Context, c *Client, id string) (State, error)
	results(ctx context.Context, c *Client, id string, s State, yield func(Result)) error
	// failure is the body of a reply that refuses an item, in the provider's form.
	failure(status int, kind, message string) []byte
}

var apis = map[string]api{
	"openai": openAI{}, "openai-responses": openAI{}, "anthropic": anthropic{}, "gemini": gemini{},
	"sim-openai": openAI{}, "sim-responses": openAI{}, "sim-anthropic": anthropic{}, "sim-gemini": gemini{},
}

// Providers returns the names of the providers with a batch API, sorted.
func Providers() []string { return slices.Sorted(maps.Keys(apis)) }

// Has reports whether a provider has a batch API.
func Has(provider string) bool { return apis[provider] != nil }

// Client submits batches to the place of one kind of requests: provider, address, model and
// headers. It is safe for concurrent use.
type Client struct {
	api    api
	http   *http.Client
	base   string // without a slash at its end
	path   string // of the ordinary request below the base
	query  string
	header http.Header
	host   string
}

// New makes a client for requests like an ordinary one, whose credential it uses. The error says
// that the provider has no batch API, or not for such requests.
func New(provider string, like *http.Request, t http.RoundTripper) (*Client, error) {
	a := apis[provider]
	if a == nil {
		return nil, fmt.Errorf("provider %s has no batch API; those that have: %s", provider, strings.Join(Providers(), ", "))
	}
	suffix := a.suffix(like.URL.Path)
	if suffix == "" {
		return nil, fmt.Errorf("provider %s has no batch API for %s", provider, like.URL.Path)
	}
	base := url.URL{Scheme: like.URL.Scheme, Host: like.URL.Host, Path: strings.TrimSuffix(like.URL.Path, suffix)}
	header := like.Header.Clone()
	for _, name := range []string{"X-Client-Request-Id", "Content-Length", "Content-Type", "Accept"} {
		header.Del(name)
	}
	return &Client{
		api: a, base: strings.TrimSuffix(base.String(), "/"), path: suffix, query: like.URL.RawQuery, header: header, host: like.Host,
		http: &http.Client{
			Transport:     t,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // it would carry the key elsewhere
		},
	}, nil
}

// Limits returns what one batch may have.
func (c *Client) Limits() Limits { return c.api.limits() }

// Submit submits items as a batch that Find can find by its key: 1 to 32 letters and digits. An
// *Error says whether the batch may exist nevertheless.
func (c *Client) Submit(ctx context.Context, key string, items []Item) (id string, err error) {
	id, err = c.api.submit(ctx, c, key, items)
	if err == nil && !validID(id) {
		err = &Error{Op: "submit a batch", Err: fmt.Errorf("the id of the batch is %.80q", id)}
	}
	return id, err
}

// Lost is a batch that may have been submitted: its key, how many items it has, and a time
// shortly before its submission. Known reports which batches are others.
type Lost struct {
	Key   string
	Items int
	Since time.Time
	Known func(id string) bool
}

// Find returns the id of a lost batch; empty if it was not submitted. It may take until other
// batches have ended: Anthropic names a batch's items only then.
func (c *Client) Find(ctx context.Context, lost Lost) (id string, err error) {
	id, err = c.api.find(ctx, c, lost)
	if id != "" && !validID(id) {
		return "", &Error{Op: "find a batch", Err: fmt.Errorf("the id of the batch is %.80q", id)}
	}
	return id, err
}

// State returns the state of a batch.
func (c *Client) State(ctx context.Context, id string) (State, error) {
	return c.api.state(ctx, c, id)
}

// Results calls yield with the results of an ended batch, in any order. A failure may come after
// some of them.
func (c *Client) Results(ctx context.Context, id string, s State, yield func(Result)) error {
	return c.api.results(ctx, c, id, s, yield)
}

// Failure is the reply to an item that the provider gave no result: a status, a word for what
// happened, and a message for people.
func (c *Client) Failure(id string, status int, kind, message string) Result {
	return Result{ID: id, Status: status, Header: jsonHeader(), Body: c.api.failure(status, kind, message)}
}

// NotRun is the status of an item that the provider did not run and does not bill. One that
// expired is asked again. One that somebody cancelled is not.
func NotRun(why string) int {
	if strings.Contains(why, "cancel") {
		return 499 // the client closed the request
	}
	return http.StatusServiceUnavailable
}

// ids are names as providers give them; they become parts of addresses.
var ids = regexp.MustCompile(`^[A-Za-z0-9_\-.]+(/[A-Za-z0-9_\-]+)?$`)

func validID(id string) bool {
	return len(id) <= 200 && !strings.Contains(id, "..") && ids.MatchString(id)
}

func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }

// maxReply bounds replies about batches, maxLine one result.
const (
	maxReply = 8 << 20
	maxLine  = 32 << 20
)

// open sends one request. The caller must close the body.
func (c *Client) open(ctx context.Context, op, method, path string, query url.Values, body io.Reader, length int64, kind string) (*http.Response, error) {
	address := c.base + path
	if q := join(c.query, query.Encode()); q != "" {
		address += "?" + q
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, &Error{Op: op, Err: err}
	}
	req.Header, req.Host = c.header.Clone(), c.host
	if body != nil {
		req.ContentLength = length
		req.Header.Set("Content-Type", kind)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, &Error{Op: op, Err: err}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // the status says enough
		_ = resp.Body.Close()
		return nil, &Error{Op: op, Status: resp.StatusCode, Header: resp.Header, Body: text}
	}
	return resp, nil
}

func join(a, b string) string { return strings.Trim(a+"&"+b, "&") }

// ask sends a request and reads its JSON reply.
func (c *Client) ask(ctx context.Context, op, method, path string, query url.Values, body any, reply any) error {
	var from io.Reader
	length := int64(0)
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return &Error{Op: op, Err: err}
		}
		from, length = strings.NewReader(string(text)), int64(len(text))
	}
	resp, err := c.open(ctx, op, method, path, query, from, length, "application/json")
	if err != nil {
		return err
	}
	return decode(op, resp, maxReply, reply)
}

// decode reads the JSON reply of a successful request, of at most a number of bytes.
func decode(op string, resp *http.Response, most int64, reply any) error {
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return &Error{Op: op, Err: err}
	case int64(len(text)) > most:
		return &Error{Op: op, Err: fmt.Errorf("%w: it is longer than %d bytes", errUnreadable, most)}
	}
	if err := json.Unmarshal(text, reply); err != nil {
		return &Error{Op: op, Err: fmt.Errorf("%w: %w", errUnreadable, err)}
	}
	return nil
}

// errEarly reports that a stream of results ended before its end, errUnreadable that a reply
// arrived but is not what the API documents.
var (
	errEarly      = errors.New("the results broke off")
	errUnreadable = errors.New("the reply is not the expected JSON")
)
