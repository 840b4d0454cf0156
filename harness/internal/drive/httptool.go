package drive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/goldens/world/process"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/recorder"
)

// maxRedirects bounds the redirects of one call on the same host.
const maxRedirects = 5

// httpTool runs a tool over HTTP, through the episode's recorder.
type httpTool struct {
	spec    world.HTTPTool
	headers http.Header // with credentials; nil in replay
	// transport is the episode's recorder; nil if the episode has no cassette to replay, which
	// missing then explains.
	transport http.RoundTripper
	missing   error
}

// call implements ToolFunc.
func (h httpTool) call(ctx context.Context, c tool.Call, info episode.CallInfo) (tool.Result, error) {
	address, err := h.spec.Address(c.Args)
	if err != nil {
		return tool.Result{Outcome: tool.Rejected, Code: codeRefused, Message: err.Error()}, nil
	}
	if h.transport == nil {
		return tool.Result{}, h.missing
	}
	var took time.Duration
	ctx = recorder.Observe(ctx, func(x recorder.Exchange) { took += x.Duration })
	ctx = context.WithValue(ctx, toolLimitsKey{}, toolLimits{h.spec.Timeout, h.spec.MaxBytes})
	req, err := h.request(ctx, address, c, info)
	if err != nil {
		return tool.Result{}, err
	}
	client := http.Client{Transport: h.transport, CheckRedirect: sameHost}
	resp, err := client.Do(req)
	if err != nil {
		return tool.Result{}, err
	}
	// The limit applies to a cassette, too.
	body, err := io.ReadAll(io.LimitReader(resp.Body, max(h.spec.MaxBytes, maxNoAnswer)+1))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return tool.Result{}, fmt.Errorf("read the answer: %w", err)
	}
	res := h.result(resp, body)
	res.Duration = took
	return res, nil
}

func (h httpTool) request(ctx context.Context, address string, c tool.Call, info episode.CallInfo) (*http.Request, error) {
	var body io.Reader
	if h.spec.JSON {
		text, err := tool.Canonical(c.Args)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, h.spec.Method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "cupel")
	if h.spec.JSON {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range h.headers {
		req.Header[name] = values
	}
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
func (h httpTool) result(resp *http.Response, body []byte) tool.Result {
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
	case int64(len(body)) > h.spec.MaxBytes:
		return failed(codeTooLarge, tooLarge(h.spec.MaxBytes))
	case len(bytes.TrimSpace(body)) == 0:
		return tool.Result{Outcome: tool.OK, Value: json.RawMessage("null")}
	}
	var value bytes.Buffer
	if err := json.Compact(&value, body); err != nil {
		return failed("E_NOT_JSON", "the tool's answer is not JSON")
	}
	return tool.Result{Outcome: tool.OK, Value: value.Bytes()}
}

// Outside reports whether a task's world is a process or one of its tools uses HTTP. Their
// answers are on the episode's cassette.
func Outside(s *goldens.Suite, t goldens.Task, replaced map[string]episode.ToolFunc) bool {
	_, ok := t.World.Maker.(process.Kind)
	return ok || slices.ContainsFunc(t.Tools, func(name string) bool {
		_, ok := s.HTTP[name]
		return ok && replaced[name] == nil
	})
}

// ToolHeaders returns the headers of a task's HTTP tools, by tool, and the credentials in
// them and in the environment of its process world. Its error joins every missing variable.
func ToolHeaders(s *goldens.Suite, t goldens.Task, replaced map[string]episode.ToolFunc, lookupEnv func(string) (string, bool)) (map[string]http.Header, []string, error) {
	headers := map[string]http.Header{}
	var secrets []string
	var errs []error
	lookup := variables(t, lookupEnv)
	if k, ok := t.World.Maker.(process.Kind); ok {
		for _, name := range k.Env {
			secret, ok := lookup(name)
			if !ok {
				errs = append(errs, fmt.Errorf("%s needs the environment variable %s; set it, or take it out of process.env", k, name))
			}
			secrets = append(secrets, secret)
		}
	}
	for _, name := range t.Tools {
		h, ok := s.HTTP[name]
		if !ok || replaced[name] != nil {
			continue
		}
		headers[name] = http.Header{}
		for _, line := range h.Headers {
			value := line.Value
			if line.Env != "" {
				secret, ok := lookup(line.Env)
				if !ok {
					errs = append(errs, fmt.Errorf("tool %s needs a value for its header %s: set %s", name, line.Name, line.Env))
					continue
				}
				if i := strings.IndexFunc(secret, func(r rune) bool { return r < ' ' || r >= 0x7f }); i >= 0 {
					errs = append(errs, fmt.Errorf("tool %s: %s has a line break or non-ASCII character at position %d", name, line.Env, i+1))
					continue
				}
				value, secrets = line.Prefix+secret, append(secrets, secret)
			}
			headers[name].Set(line.Name, value)
		}
	}
	return headers, secrets, errors.Join(errs...)
}
