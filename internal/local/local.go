// Package local answers HTTP requests in this process. In this way, what programs of a suite
// answer passes through a recorder, and a replay starts no program.
package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Answer is how a request is answered.
type Answer struct {
	// From is what is asked, such as "world", for the list of what was redacted.
	From string
	// Make makes the answer, which is JSON.
	Make func(ctx context.Context) ([]byte, error)
	// Instead returns what takes the place of an answer with a credential.
	Instead func() ([]byte, error)
}

type answerKey struct{}

// Post sends JSON to an address, which no name server should know, and returns at most so many
// bytes of the answer. The transport ends in a Transport, or in a recording of its answers. An
// error of the transport is returned as it is.
func Post(ctx context.Context, transport http.RoundTripper, address string, body []byte, most int64, a Answer) ([]byte, error) {
	req, err := http.NewRequestWithContext(context.WithValue(ctx, answerKey{}, a), http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", address, err)
	}
	return text, nil
}

// Transport answers requests of Post. It sits beneath a recorder. The zero value looks for no
// credentials. It is safe for concurrent use.
type Transport struct {
	// Secrets finds credentials, which neither answers nor errors may hold.
	Secrets interface {
		Find(text string) (kind string)
		Redact(from, text string) string
	}
}

// Handles reports whether a request is one of Post.
func (Transport) Handles(req *http.Request) bool {
	_, ok := req.Context().Value(answerKey{}).(Answer)
	return ok
}

// RoundTrip implements http.RoundTripper. The error is that of Make or Instead.
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close() // what is asked is in the context
	}
	a, ok := req.Context().Value(answerKey{}).(Answer)
	if !ok {
		return nil, fmt.Errorf("send a request to %s: nothing here answers it; a run makes such requests", req.URL.Host)
	}
	text, err := a.Make(req.Context())
	switch {
	case t.Secrets == nil:
	case err != nil && t.Secrets.Find(err.Error()) != "":
		err = errors.New(t.Secrets.Redact(a.From, err.Error()))
	case err == nil && t.Secrets.Find(string(text)) != "":
		text, err = a.Instead()
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(text)),
		Body: io.NopCloser(bytes.NewReader(text)), Request: req,
	}, nil
}
