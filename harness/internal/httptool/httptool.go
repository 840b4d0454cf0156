// Package httptool runs tools over HTTP: through an episode's recorder, and within bounds.
package httptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/recorder"
)

// maxRedirects bounds the redirects of one call on the same host.
const maxRedirects = 5

// Tool runs a tool over HTTP, through the episode's recorder.
type Tool struct {
	Spec    world.HTTPTool
	Headers http.Header // with credentials; nil in replay
	// Transport is the episode's recorder; nil if the episode has no cassette to replay, which
	// Missing then explains.
	Transport http.RoundTripper
	Missing   error
}

// Call implements episode.ToolFunc.
func (h Tool) Call(ctx context.Context, c tool.Call, info episode.CallInfo) (tool.Result, error) {
	address, err := h.Spec.Address(c.Args)
	if err != nil {
		return tool.Result{Outcome: tool.Rejected, Code: "E_ARGS", Message: err.Error()}, nil
	}
	if h.Transport == nil {
		return tool.Result{}, h.Missing
	}
	var took time.Duration
	ctx = recorder.Observe(ctx, func(x recorder.Exchange) { took += x.Duration })
	ctx = context.WithValue(ctx, limitsKey{}, limits{h.Spec.Timeout, h.Spec.MaxBytes})
	req, err := h.request(ctx, address, c, info)
	if err != nil {
		return tool.Result{}, err
	}
	client := http.Client{Transport: h.Transport, CheckRedirect: sameHost}
	resp, err := client.Do(req)
	if err != nil {
		return tool.Result{}, err
	}
	// The limit applies to a cassette, too.
	body, err := io.ReadAll(io.LimitReader(resp.Body, max(h.Spec.MaxBytes, maxNoAnswer)+1))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return tool.Result{}, fmt.Errorf("read the answer: %w", err)
	}
	res := h.result(resp, body)
	res.Duration = took
	return res, nil
}

func (h Tool) request(ctx context.Context, address string, c tool.Call, info episode.CallInfo) (*http.Request, error) {
	var body io.Reader
	if h.Spec.JSON {
		text, err := tool.Canonical(c.Args)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, h.Spec.Method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "cupel")
	if h.Spec.JSON {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, h.Headers)
	req.Header.Set("X-Run-Id", info.RunID)
	req.Header.Set("X-Step-Id", info.StepID)
	req.Header.Set("X-Parent-Step", info.ParentStep)
	req.Header.Set("X-Idempotency-Key", info.IdempotencyKey)
	return req, nil
}

// sameHost follows redirects only to the host that the credentials are for.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > maxRedirects || req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// result converts a response.
func (h Tool) result(resp *http.Response, body []byte) tool.Result {
	if resp.Header.Get("Content-Type") == noAnswerType {
		var n noAnswer
		if json.Unmarshal(body, &n) != nil || n.Outcome != tool.Timeout {
			n.Outcome = tool.Error
		}
		return tool.Result{Outcome: n.Outcome, Code: n.Code, Message: n.Message}
	}
	failed := func(code, message string) tool.Result {
		return tool.Result{Outcome: tool.Error, Code: code, Message: message}
	}
	status := fmt.Sprintf("E_HTTP_%d", resp.StatusCode)
	switch {
	case resp.StatusCode >= 400:
		return failed(status, strings.TrimSpace(fmt.Sprintf("HTTP %d %s", resp.StatusCode, clip.Bytes(string(bytes.ToValidUTF8(body, []byte("\uFFFD"))), 400))))
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return failed(status, "the tool redirects elsewhere, which is not followed")
	case int64(len(body)) > h.Spec.MaxBytes:
		return failed(codeTooLarge, tooLarge(h.Spec.MaxBytes))
	case len(bytes.TrimSpace(body)) == 0:
		return tool.Result{Outcome: tool.OK, Value: json.RawMessage("null")}
	}
	var value bytes.Buffer
	if err := json.Compact(&value, body); err != nil {
		return failed("E_NOT_JSON", "the tool's answer is not JSON")
	}
	return tool.Result{Outcome: tool.OK, Value: value.Bytes()}
}
