package httptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// noAnswerType marks a response that toolTransport made because the tool did not answer. It
// is recorded like any other, so that a replay repeats a timeout, too.
const noAnswerType = "application/vnd.cupel.no-answer+json"

// maxNoAnswer bounds such a response, in bytes, independently of the tool's own bound.
const maxNoAnswer = 4 << 10

// statusNoAnswer is not an HTTP status code.
const statusNoAnswer = 599

const codeTooLarge = "E_TOO_LARGE"

// noAnswer is the body of such a response.
type noAnswer struct {
	Outcome tool.Outcome `json:"outcome"`
	Code    string       `json:"code"`
	Message string       `json:"message"`
}

// limits bound one request of a tool, and mark it as one.
type limits struct {
	timeout  time.Duration
	maxBytes int64
}

type limitsKey struct{}

// Transport answers requests of tools below the recorder: with a complete answer within the
// limits of the tool, or a response that explains why there is none. Answers with credentials
// never reach the recorder.
type Transport struct {
	Base    http.RoundTripper
	Secrets *secrets.Finder
}

// Handles reports whether a request is one of a tool.
func (Transport) Handles(req *http.Request) bool {
	_, ok := req.Context().Value(limitsKey{}).(limits)
	return ok
}

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	limits, _ := req.Context().Value(limitsKey{}).(limits)
	ctx, cancel := context.WithTimeout(req.Context(), limits.timeout)
	defer cancel()
	resp, body, err := t.answer(req.WithContext(ctx), limits.maxBytes)
	var none noAnswer
	switch {
	case err != nil && req.Context().Err() != nil:
		return nil, req.Context().Err() // the run is being stopped
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		none = noAnswer{tool.Timeout, "E_TIMEOUT", fmt.Sprintf("no answer within %v", limits.timeout)}
	case err != nil && t.Secrets.Find(err.Error()) != "":
		none = noAnswer{tool.Error, "E_UNREACHABLE", "the tool cannot be reached"}
	case err != nil:
		none = noAnswer{tool.Error, "E_UNREACHABLE", clip.Bytes(err.Error(), 300)}
	case int64(len(body)) > limits.maxBytes:
		none = noAnswer{tool.Error, codeTooLarge, tooLarge(limits.maxBytes)}
	case t.Secrets.Find(string(body)) != "":
		none = noAnswer{tool.Error, "E_SECRET", "the tool's answer holds a credential and is withheld"}
	default:
		if resp.Header.Get("Content-Type") == noAnswerType {
			resp.Header.Del("Content-Type")
		}
		return respond(resp, req, body), nil
	}
	text, err := json.Marshal(none)
	if err != nil {
		return nil, err
	}
	resp = &http.Response{
		Status: "599 No Answer", StatusCode: statusNoAnswer, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {noAnswerType}},
	}
	return respond(resp, req, text), nil
}

// answer reads a complete answer, up to slightly more than most bytes.
func (t Transport) answer(req *http.Request, most int64) (*http.Response, []byte, error) {
	resp, err := t.Base.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	return resp, body, errors.Join(err, resp.Body.Close())
}

func respond(resp *http.Response, req *http.Request, body []byte) *http.Response {
	resp.Body, resp.ContentLength, resp.Request = io.NopCloser(bytes.NewReader(body)), int64(len(body)), req
	return resp
}

func tooLarge(most int64) string {
	return fmt.Sprintf("the tool's answer is longer than %d bytes", most)
}
