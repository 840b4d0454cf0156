package proxy

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/providers/gateway"
)

// errEnded and errUnknown are why a request meets no session.
var (
	errEnded   = errors.New("the episode of this URL has ended")
	errUnknown = errors.New("no episode has this URL")
)

// serve answers a request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect || r.URL.Host != "" {
		s.refuseHost(w, r)
		return
	}
	if !s.knowsHost(r.Host) {
		fail(w, "", http.StatusForbidden, fmt.Sprintf("host %.80q is neither loopback nor the advertised one", r.Host))
		return
	}
	h, rest, err := s.find(r)
	if err == nil {
		err = h.begin()
	}
	if err != nil {
		status, known := map[error]int{errUnknown: http.StatusNotFound, errEnded: http.StatusGone}[err]
		if !known {
			status = http.StatusBadRequest
		}
		fail(w, "", status, err.Error())
		return
	}
	defer h.done()
	h.serve(w, r, rest)
}

// knowsHost keeps pages of other names, which a browser may be made to resolve to this
// machine, from the server.
func (s *Server) knowsHost(address string) bool {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		name = strings.Trim(address, "[]")
	}
	name = strings.ToLower(name)
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback() || s.host != "" && name == s.host
}

// find returns the session that a request means, and the rest of its path.
func (s *Server) find(r *http.Request) (*Handle, string, error) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	name, rest, _ := strings.Cut(rest, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	switch kind {
	case "e":
		h, err := s.byToken(name)
		return h, "/" + rest, err
	case "s":
		secret, err := url.PathUnescape(name)
		if err != nil {
			return nil, "", errUnknown
		}
		h, err := s.bySecret(secret, r)
		return h, "/" + rest, err
	}
	return nil, "", errUnknown
}

// byToken is the session of a token; the caller has locked.
func (s *Server) byToken(token string) (*Handle, error) {
	if late := s.ended[token]; late != nil {
		late.Add(1)
		return nil, errEnded
	}
	if h := s.open[token]; h != nil {
		return h, nil
	}
	return nil, errUnknown
}

// bySecret is the session that a request to a stable URL means; the caller has locked.
func (s *Server) bySecret(secret string, r *http.Request) (*Handle, error) {
	list, keys := s.stable[secret], credentials(r)
	trace := strings.Split(r.Header.Get("Traceparent"), "-")
	for _, h := range list {
		if slices.ContainsFunc(keys, func(c credential) bool { return c.key == h.session.Token }) ||
			len(trace) == 4 && h.session.TraceID != "" && trace[1] == h.session.TraceID {
			return h, nil
		}
	}
	for _, c := range keys {
		if s.ended[c.key] != nil {
			return s.byToken(c.key)
		}
	}
	if len(list) == 1 && list[0].session.Any {
		return list[0], nil
	}
	return nil, errUnknown
}

// credential is a key and the header that carries it.
type credential struct{ header, key string }

// credentials are the API keys of a request.
func credentials(r *http.Request) (list []credential) {
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"} {
		if value := r.Header.Get(name); value != "" {
			if scheme, key, ok := strings.Cut(value, " "); ok && name == "Authorization" && strings.EqualFold(scheme, "Bearer") {
				value = strings.TrimSpace(key)
			}
			list = append(list, credential{name, value})
		}
	}
	if key := r.URL.Query().Get("key"); key != "" {
		list = append(list, credential{"X-Goog-Api-Key", key})
	}
	return list
}

// keyName finds a credential in the context of Session.Model.
type keyName struct{}

// Key is the API key that a request of a program carried, and the header of it; empty if
// it carried none. It is the session's token unless the program has a key of its own.
func Key(ctx context.Context) (header, key string) {
	c, _ := ctx.Value(keyName{}).(credential)
	return c.header, c.key
}

// waiting finds the request of a program in the context of Session.Model.
type waiting struct{}

// Gone reports that the program no longer waits for the reply to a request.
func Gone(ctx context.Context) bool {
	request, ok := ctx.Value(waiting{}).(context.Context)
	return ok && request.Err() != nil
}

// serve answers a request of a session.
func (h *Handle) serve(w http.ResponseWriter, r *http.Request, path string) {
	defer context.AfterFunc(h.ctx, func() { // a program that stops reading or sending keeps no session open
		out, past := http.NewResponseController(w), time.Unix(1, 0)
		_, _ = out.SetReadDeadline(past), out.SetWriteDeadline(past)
	})()
	if upgrade := r.Header.Get("Upgrade"); upgrade != "" && !strings.EqualFold(upgrade, "h2c") { // Java offers h2c, and takes no answer for a no
		h.refuse(w, r, "", path, http.StatusBadRequest, fmt.Sprintf("an upgrade to %.40q is refused; send plain HTTP requests", upgrade))
		return
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return
	}
	var other http.Handler
	switch path {
	case "/mcp":
		other = h.session.MCP
	case "/v1/traces", "/v1/logs", "/v1/metrics":
		other = h.session.OTLP
	default:
		h.model(w, r, path)
		return
	}
	if other == nil {
		h.refuse(w, r, "", path, http.StatusNotFound, "nothing is served here")
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	r = r.WithContext(ctx)
	body := r.Body
	r.Body = http.MaxBytesReader(nil, body, MaxBody)
	other.ServeHTTP(w, r)
	_, _ = io.CopyN(io.Discard, body, MaxBody) // see read
}

// model forwards a request to Session.Model.
func (h *Handle) model(w http.ResponseWriter, r *http.Request, path string) {
	body, err := read(w, r)
	if err != nil {
		h.refuse(w, r, "", path, http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	request, err := gateway.Parse(r.Method, path, r.URL.RawQuery, r.Header, body)
	switch {
	case errors.Is(err, gateway.ErrEndpoint):
		h.refuse(w, r, request.Wire, path, http.StatusNotFound, err.Error())
		return
	case err != nil:
		h.refuse(w, r, request.Wire, path, http.StatusBadRequest, err.Error())
		return
	case h.session.Model == nil:
		h.refuse(w, r, request.Wire, path, http.StatusNotFound, "nothing is served here")
		return
	}
	ctx := context.WithValue(h.ctx, waiting{}, r.Context())
	if list := credentials(r); len(list) > 0 {
		ctx = context.WithValue(ctx, keyName{}, list[0])
	}
	resp, err := h.session.Model(ctx, request)
	if err != nil {
		status := http.StatusBadRequest
		if refusal, ok := errors.AsType[*Refusal](err); ok {
			status = refusal.Status
		}
		fail(w, request.Wire, status, err.Error())
		return
	}
	defer func() { _ = resp.Body.Close() }() // only read: nothing can be lost
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		fail(w, request.Wire, http.StatusBadRequest, fmt.Sprintf("the provider answered with a redirect (%d), which is not followed; set its address as the base URL", resp.StatusCode))
		return
	}
	h.reply(w, resp)
}

// read reads a body of at most MaxBody. What is beyond is read in part, so that a program
// which sends first and listens afterwards sees the answer.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var text bytes.Buffer
	if n := r.ContentLength; n > 0 && n <= MaxBody {
		text.Grow(int(n) + bytes.MinRead)
	}
	_, err := io.Copy(&text, io.LimitReader(r.Body, MaxBody+1))
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	if text.Len() > MaxBody {
		_, _ = io.CopyN(io.Discard, r.Body, MaxBody)
		w.Header().Set("Connection", "close")
		return nil, fmt.Errorf("the body has more than %d MiB", MaxBody>>20)
	}
	return text.Bytes(), nil
}

// buffers are for the pieces of replies.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// reply passes a reply on, each piece as it comes. If the program has gone, the rest is
// read nevertheless; if the provider's reply ends early, so does the program's.
func (h *Handle) reply(w http.ResponseWriter, resp *http.Response) {
	maps.Copy(w.Header(), gateway.ReplyHeaders(resp.Header))
	if resp.ContentLength >= 0 {
		w.Header().Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
	}
	w.WriteHeader(resp.StatusCode)
	out := http.NewResponseController(w)
	buffer, _ := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	gone := false
	for {
		n, err := resp.Body.Read(buffer[:])
		if n > 0 && !gone {
			_, failed := w.Write(buffer[:n])
			if failed == nil && resp.ContentLength < 0 {
				failed = out.Flush()
			}
			gone = failed != nil
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler) // so that the program sees that it was cut
		}
	}
}

// refuse answers a request that does not reach Session.Model, and notes it.
func (h *Handle) refuse(w http.ResponseWriter, r *http.Request, wire, path string, status int, why string) {
	h.note(fmt.Sprintf("%.16s %.200s: %s", r.Method, path, why))
	fail(w, wire, status, why)
}

// fail answers in the form of an API.
func fail(w http.ResponseWriter, wire string, status int, message string) {
	header, body := gateway.Failure(wire, status, "cupel: "+message)
	maps.Copy(w.Header(), header)
	w.WriteHeader(status)
	_, _ = w.Write(body) // the program may have gone
}

// refuseHost answers a request to a forward proxy: with a list of hosts for the session
// whose token is its password, and never with a connection.
func (s *Server) refuseHost(w http.ResponseWriter, r *http.Request) {
	_, plain, _ := strings.Cut(r.Header.Get("Proxy-Authorization"), " ")
	text, _ := base64.StdEncoding.DecodeString(plain) // broken text is not a token
	_, token, _ := strings.Cut(string(text), ":")
	s.mu.Lock()
	h := s.open[token]
	s.mu.Unlock()
	if h == nil {
		w.Header().Set("Proxy-Authenticate", `Basic realm="cupel"`)
		http.Error(w, "cupel: no connection to other hosts", http.StatusProxyAuthRequired)
		return
	}
	h.hosts.add(r.Host)
	http.Error(w, "cupel: no connection to other hosts: an agent under evaluation reaches its model and its tools only", http.StatusForbidden)
}
