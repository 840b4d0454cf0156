package tape

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/cupel-eval/cupel/harness/proxy"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// maxShown bounds the misses that are explained.
const maxShown = 5

// model answers a request of the command.
func (s *session) model(ctx context.Context, r gateway.Request) (*http.Response, error) {
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.to[r.Provider] == nil {
		return nil, fmt.Errorf("cupel tape does not support %s: it forwards the APIs of OpenAI, Anthropic, Google, Ollama and Cohere", r.Endpoint)
	}
	compared, err := r.Compared(s.rules)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.places++
	place := s.places
	s.mu.Unlock()
	ctx = recorder.Ordered(ctx, place)
	ctx = recorder.Observe(ctx, func(x recorder.Exchange) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, exchange{x, r.Kind, r.Model})
		if again(x.Status) {
			s.failed = append(s.failed, place)
		}
	})
	ctx = proxy.WithOriginal(ctx, func(ctx context.Context) (*http.Request, error) { return s.original(ctx, r) })
	resp, err := s.send(ctx, compared)
	var miss *recorder.MissError
	switch {
	case errors.As(err, &miss):
		s.missed(r, compared, miss)
	case err != nil: // no connection: SDKs repeat it as they would without cupel
		err = &proxy.Refusal{Status: http.StatusBadGateway, Message: err.Error()}
	}
	return resp, err
}

// original is the request that the provider gets, with the user's key in place of the
// token.
func (s *session) original(ctx context.Context, r gateway.Request) (*http.Request, error) {
	to := s.to[r.Provider]
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL(to.base), bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", to.Bases[0], err)
	}
	req.Header = r.Header.Clone()
	if name, sent := proxy.Key(ctx); name != "" {
		key := to.keyFor(name, sent, s.handle.Token())
		if name == "Authorization" && key != "" {
			key = "Bearer " + key
		}
		if key != "" {
			req.Header.Set(name, key)
		}
	}
	return req, nil
}

// send sends a request to the recorder. In a replay, attempts that failed are left out if
// the same request was answered later: the client repeated it.
func (s *session) send(ctx context.Context, r gateway.Request) (resp *http.Response, err error) {
	for first := true; ; first = false {
		req, failed := http.NewRequestWithContext(ctx, r.Method, r.RecordedURL(), bytes.NewReader(r.Body))
		if failed != nil {
			return nil, failed
		}
		req.Header = r.Header
		next, failed := s.recorder.RoundTrip(req)
		var miss *recorder.MissError
		if !first && errors.As(failed, &miss) {
			return resp, err
		}
		if resp != nil {
			_ = resp.Body.Close() // nothing of it is used
		}
		resp, err = next, failed
		if s.o.Mode == Record || errors.As(err, &miss) || resp != nil && !again(resp.StatusCode) {
			return resp, err
		}
	}
}

// again reports whether clients repeat a request that was answered with a status; 0 is none.
func again(status int) bool {
	switch status {
	case 0, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// propose returns the flags under which a request equals a recorded one, if they differ only in
// volatile texts.
func (s *session) propose(r gateway.Request, nearest int) string {
	dir, name := filepath.Split(s.o.File)
	data, err := cassette.Load(cassette.File{Dir: cmp.Or(dir, "."), Path: name})
	if err != nil || nearest < 0 || nearest >= len(data.Interactions) || data.Interactions[nearest].Request.URL != r.RecordedURL() {
		return ""
	}
	rules := gateway.Propose([]byte(data.Interactions[nearest].Request.Body), r.Body)
	var words []string
	for _, pointer := range rules.Ignore {
		words = append(words, "--ignore", pointer)
	}
	for _, pattern := range rules.Replace {
		words = append(words, "--replace", pattern)
	}
	return shell(words)
}

// missed explains a request without a recording.
func (s *session) missed(r, compared gateway.Request, miss *recorder.MissError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.misses++; s.misses > maxShown {
		return
	}
	why := miss.Error()
	if s.recorder.Header().Digests["rules"] != s.digests()["rules"] {
		why += "\nit was recorded with other --ignore and --replace rules"
	} else if flags := s.propose(compared, miss.Nearest); flags != "" {
		why += "\nonly volatile texts differ; if they do not matter, record again, and replay, with " + flags
	}
	s.say("%s %s asks %s:\n%s", r.Method, r.Endpoint, quoted(r.Model), why)
}
