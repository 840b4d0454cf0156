package launch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/internal/clip"
)

// maxReply bounds the body of one reply of a service.
const maxReply = 16 << 20

// service is an agent that is a running service.
type service struct {
	external.HTTP
	n8n     bool
	headers map[string]string // with the values of {{env.NAME}}
	client  *http.Client
}

func newService(s external.Settings, o Options) (*service, error) {
	h, n8n := s.Service()
	a := &service{HTTP: h, n8n: n8n, headers: map[string]string{}}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(h.Headers)) {
		a.headers[name] = external.Template.ReplaceAllStringFunc(h.Headers[name], func(m string) string {
			variable, ok := strings.CutPrefix(external.Template.FindStringSubmatch(m)[1], "env.")
			if !ok {
				return m
			}
			value, err := o.variable(variable, "header "+name)
			errs = append(errs, err)
			return value
		})
	}
	a.client = &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, MaxResponseHeaderBytes: 1 << 20},
		// A redirect would take the token to another address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return a, errors.Join(errs...)
}

// Ready implements Agent: the service answers as ready says, or, without it, something listens
// at its address.
func (a *service) Ready(ctx context.Context) error {
	if a.HTTP.Ready.URL == "" {
		return a.listens(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, a.HTTP.Ready.Within)
	defer cancel()
	last := "no answer"
	for {
		if ready, state := a.probe(ctx); ready {
			return nil
		} else if ctx.Err() == nil {
			last = state
		}
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
				return cause
			}
			return fmt.Errorf("the service at %s was not ready within %v: %s; start it, or correct ready", plain(a.HTTP.Ready.URL), a.HTTP.Ready.Within, last)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (a *service) listens(ctx context.Context) error {
	u, err := url.Parse(external.Template.ReplaceAllString(a.URL, "x"))
	if err != nil {
		return fmt.Errorf("the service's url: %w", err)
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return fmt.Errorf("the service at %s cannot be reached: %w; start it, or correct its url", plain(a.URL), err)
	}
	return conn.Close()
}

// probe asks once whether the service is ready, and says what it answered. A webhook of n8n
// that exists says to a GET that another method is expected. Until n8n knows its webhooks, it
// answers any request with 200 and a text.
func (a *service) probe(ctx context.Context) (ready bool, state string) {
	method := cmp.Or(a.HTTP.Ready.Method, http.MethodGet)
	req, err := http.NewRequestWithContext(ctx, method, a.HTTP.Ready.URL, nil)
	if err != nil {
		return false, err.Error()
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return false, cause(err).Error()
	}
	defer func() { _ = resp.Body.Close() }() // it was read as far as it matters
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	state = "it answered " + resp.Status
	switch want := a.HTTP.Ready.Status; {
	case want != 0:
		return resp.StatusCode == want, state
	case a.n8n && strings.HasPrefix(string(text), "n8n is starting up"):
		return false, "it is starting up"
	case a.n8n && resp.StatusCode == http.StatusNotFound:
		return strings.Contains(string(text), "Did you mean to make a"), state
	default:
		return resp.StatusCode < 500 && resp.StatusCode != http.StatusNotFound, state
	}
}

// Run implements Agent.
func (a *service) Run(ctx context.Context, s Start) (end End, err error) {
	values := s.values()
	body := bytes.NewReader(nil)
	if a.Body != nil {
		text, err := json.Marshal(filled(a.Body, values))
		if err != nil {
			return End{}, fmt.Errorf("write the body for the service: %w", err)
		}
		body = bytes.NewReader(text)
	}
	req, err := a.request(ctx, a.Method, expand(a.URL, values, url.PathEscape), body, s)
	if err != nil {
		return End{}, err
	}
	reply, err := a.send(req, &end)
	if err == nil && end.Failure == "" && a.Poll.URL != "" {
		reply, err = a.poll(ctx, s, reply, &end)
	}
	marks := strings.NewReplacer(Marks(s)...)
	reply = marks.Replace(reply)
	switch {
	case ctx.Err() != nil && (err != nil || end.Failure != ""):
		return End{}, context.Cause(ctx)
	case err != nil || end.Failure != "":
	case a.Stream.Delta != "":
		end.say("the service", strings.ToValidUTF8(reply, "\uFFFD"))
	default:
		a.answered(reply, &end)
	}
	end.Failure = marks.Replace(end.Failure)
	return end, err
}

// request makes a request to the service with its headers.
func (a *service) request(ctx context.Context, method, address string, body io.Reader, s Start) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, fmt.Errorf("ask the service: %w", err)
	}
	req.Header.Set("Accept", "application/json, text/event-stream, */*")
	req.Header.Set("User-Agent", "cupel")
	req.Header.Set("Traceparent", s.TraceParent)
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	values := s.values()
	for name, value := range a.headers {
		req.Header.Set(name, expand(value, values, func(text string) string { return text }))
	}
	return req, nil
}

// setup are the statuses of a service with a wrong address or credential. The agent is not at
// fault.
var setup = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusProxyAuthRequired}

// send sends a request and returns the body of the reply, or of a stream the texts of its
// events. What the agent did wrong is in end.
func (a *service) send(req *http.Request, end *End) (reply string, err error) {
	resp, err := a.client.Do(req)
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return "", fmt.Errorf("the service at %s cannot be reached: %w; start it, or correct its url", plain(req.URL.String()), cause(err))
		}
		end.Failure = fmt.Sprintf("the service broke off before it answered: %v", brokenOff(err))
		return "", nil
	}
	defer func() { _ = resp.Body.Close() }() // it was read as far as it matters
	switch code := resp.StatusCode; {
	case code >= 300 && code < 400:
		return "", fmt.Errorf("the service at %s answered %s; redirects are not followed: set url to the address that it leads to", plain(req.URL.String()), resp.Status)
	case slices.Contains(setup, code):
		return "", fmt.Errorf("the service at %s answered %s; correct its url, method or headers", plain(req.URL.String()), resp.Status)
	case code < 200 || code > 299:
		end.Failure = "the service answered " + resp.Status
		return "", nil
	}
	body := &bounded{r: resp.Body, left: maxReply}
	if a.Stream.Delta != "" {
		reply, err = a.deltas(resp.Header.Get("Content-Type"), body)
	} else {
		var text []byte
		text, err = io.ReadAll(body)
		reply = string(text)
	}
	switch {
	case errors.Is(err, errReply):
		end.Failure = fmt.Sprintf("the service answered more than %d MiB", maxReply>>20)
	case errors.Is(err, errEvent):
		end.Failure = "the service " + err.Error()
	case err != nil:
		end.Failure = fmt.Sprintf("the service broke off within its answer: %v", brokenOff(err))
	}
	return reply, nil
}

var (
	errReply = errors.New("the reply is too long")
	errEvent = errors.New("streamed an event that is not JSON")
)

// bounded is a reader that fails after so many bytes.
type bounded struct {
	r    io.Reader
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errReply
	}
	return n, err
}

// deltas joins the texts of a stream: of server-sent events, or of lines of JSON.
func (a *service) deltas(contentType string, body io.Reader) (string, error) {
	var all strings.Builder
	take := func(event string) error {
		if event = strings.TrimSpace(event); event == "" || event == "[DONE]" {
			return nil
		}
		v, err := decoded(event)
		if err != nil {
			return fmt.Errorf("%w: %s", errEvent, quote(event))
		}
		if text, ok := at(v, a.Stream.Delta); ok {
			text, _ := text.(string)
			all.WriteString(text)
		}
		return nil
	}
	if media, _, _ := mime.ParseMediaType(contentType); media != "text/event-stream" {
		text, err := io.ReadAll(body)
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(text)) {
			if err := take(line); err != nil {
				return "", err
			}
		}
		return all.String(), nil
	}
	for event, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: maxReply}) {
		if err == nil {
			err = take(event.Data)
		}
		if err != nil {
			return "", err
		}
	}
	return all.String(), nil
}

// poll asks until the reply is complete.
func (a *service) poll(ctx context.Context, s Start, first string, end *End) (string, error) {
	start, err := decoded(first)
	if err != nil {
		end.Failure = "the service answered with something else than JSON, so poll.url has no values: " + quote(first)
		return "", nil
	}
	missing := ""
	address := external.Template.ReplaceAllStringFunc(a.Poll.URL, func(m string) string {
		name := external.Template.FindStringSubmatch(m)[1]
		if name == "session_id" {
			return url.PathEscape(s.SessionID)
		}
		v, ok := at(start, name)
		if !ok {
			missing = name
		}
		return url.PathEscape(fmt.Sprint(v))
	})
	if missing != "" {
		end.Failure = fmt.Sprintf("the service answered without %s, which poll.url needs", missing)
		return "", nil
	}
	every, timeout := cmp.Or(a.Poll.Every, time.Second), a.Poll.Timeout
	limited := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	pointer, value, given := strings.Cut(a.Poll.Until, "=")
	for {
		req, err := a.request(limited, http.MethodGet, address, nil, s)
		if err != nil {
			return "", err
		}
		reply, err := a.send(req, end)
		if limited.Err() == nil && (err != nil || end.Failure != "") {
			return "", err
		}
		if doc, err := decoded(reply); err == nil && complete(doc, pointer, value, given) {
			return reply, nil
		}
		select {
		case <-limited.Done():
			end.Failure = fmt.Sprintf("the service was not complete (%s) within %v", a.Poll.Until, timeout)
			return "", ctx.Err()
		case <-time.After(every):
		}
	}
}

// complete says whether a polled reply has what was waited for.
func complete(doc any, pointer, value string, given bool) bool {
	v, ok := at(doc, pointer)
	if given {
		return ok && fmt.Sprint(v) == value
	}
	return ok && v != nil && v != false && v != ""
}

// plain is an address without its query, which may hold a credential.
func plain(address string) string {
	before, _, _ := strings.Cut(address, "?")
	return clip.Bytes(before, 200)
}

// cause is an error of a request without its address.
func cause(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err
	}
	return err
}

// brokenOff says how a connection ended, without the ports of this machine.
func brokenOff(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err.Error()
	}
	return cause(err).Error()
}
