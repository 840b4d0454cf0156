package ollama_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/ollama"
	"github.com/cupel-eval/cupel/providers/providertest"
)

func TestContract(t *testing.T) {
	providertest.Run(t, providertest.Subject{
		New:    ollama.New,
		Encode: encode,
		Fault:  func(message string) string { return fmt.Sprintf(`{"error": %s}`, testkit.Quote(message)) },
		Skip: map[string]string{
			"usage":                    "there is no usage object, no cache and no count of thinking",
			"finish reasons":           "the API knows no refusal",
			"forced_tool":              "the API has no tool choice",
			"forced tool, cut":         "the API has no tool choice",
			"forced tool, odd replies": "the API has no tool choice",
			"missing key":              "no key is needed",
		},
	})
}

func encode(a providertest.Answer) string {
	reason := map[providers.Finish]string{providers.FinishStop: "stop", providers.FinishLength: "length"}[a.Finish]
	return fmt.Sprintf(`{"model": "some-model:8b", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": %s}, "done": true, "done_reason": %q}`, testkit.Quote(a.Text), reason)
}

func TestNoKeyIsNeeded(t *testing.T) {
	_, err := ollama.New(providers.Options{})
	require.NoError(t, err)
	for _, bad := range []string{"127.0.0.1:11434", "ftp://host", "http://host?key=x"} {
		_, err = ollama.New(providers.Options{BaseURL: bad})
		var e *fault.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, fault.InvalidRequest, e.Kind)
		require.Equal(t, "ollama", e.Provider)
	}
}

func TestAddressAndKey(t *testing.T) {
	for _, c := range []struct{ suffix, key, path, authorization string }{
		{"", "", "/api/chat", ""},
		{"/", "k-1", "/api/chat", "Bearer k-1"},
		{"/api", "", "/api/chat", ""},
		{"/behind/proxy/api/", "", "/behind/proxy/api/chat", ""},
	} {
		t.Run(c.suffix, func(t *testing.T) {
			got := make(chan *http.Request, 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got <- r
				_, _ = io.WriteString(w, encode(providertest.Answer{Text: "a"}))
			}))
			defer server.Close()
			m, err := ollama.New(providers.Options{BaseURL: server.URL + c.suffix, Key: c.key})
			require.NoError(t, err)
			_, err = m.Call(context.Background(), providers.Call{Model: "m"})
			require.NoError(t, err)
			r := <-got
			require.Equal(t, c.path, r.URL.Path)
			require.Equal(t, c.authorization, r.Header.Get("Authorization"))
			require.Equal(t, "application/json", r.Header.Get("Accept"))
		})
	}
}

func TestStreamOverHTTP(t *testing.T) {
	lines := []string{
		`{"model":"m:1","message":{"role":"assistant","content":"","thinking":"hm"},"done":false}`,
		`{"model":"m:1","message":{"role":"assistant","content":"Hi"},"done":false}`,
		`{"model":"m:1","message":{"role":"assistant","content":" there"},"done":false}`,
		`{"model":"m:1","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != "application/x-ndjson" {
			w.WriteHeader(http.StatusNotAcceptable)
		}
		for _, line := range lines {
			_, _ = io.WriteString(w, line+"\n")
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	}))
	defer server.Close()
	m, err := ollama.New(providers.Options{BaseURL: server.URL})
	require.NoError(t, err)
	var deltas []providers.Delta
	got, err := m.Call(context.Background(), providers.Call{Model: "m", Stream: true, OnDelta: func(d providers.Delta) { deltas = append(deltas, d) }})
	require.NoError(t, err)
	require.Equal(t, "Hi there", got.Text)
	require.Equal(t, "hm", got.Reasoning)
	require.Equal(t, providers.Usage{Reported: true, Input: 3, Output: 4}, got.Usage)
	require.Equal(t, []providers.Delta{{Kind: "reasoning", Text: "hm"}, {Kind: "text", Text: "Hi"}, {Kind: "text", Text: " there"}}, deltas)
	require.Len(t, got.Frames, 3)
	require.Positive(t, got.FirstToken)
}

func TestErrors(t *testing.T) {
	const cut = "{\"model\":\"m\",\"message\":{\"content\":\"a\"},\"done\":false}\n"
	for _, c := range []struct {
		name    string
		status  int
		stream  bool
		body    string
		kind    fault.Kind
		message string
		partial bool
	}{
		{"no such model", 404, false, `{"error":"model 'x' not found"}`, fault.NotFound, "model 'x' not found", false},
		{"no tools", 400, false, `{"error":"m does not support tools"}`, fault.InvalidRequest, "m does not support tools", false},
		{"cloud without a key", 401, false, `{"error":"unauthorized"}`, fault.Auth, "unauthorized", false},
		{"busy", 503, false, `{"error":"server busy, please try again. maximum pending requests exceeded"}`, fault.Overloaded, "server busy, please try again. maximum pending requests exceeded", false},
		{"too long", 400, false, `{"error":"the input length exceeds the context length"}`, fault.ContextLength, "the input length exceeds the context length", false},
		{"hour used up", 429, false, `{"error":"you have reached your hourly usage limit"}`, fault.RateLimit, "you have reached your hourly usage limit", false},
		{"week used up", 429, false, `{"error":"you have reached your weekly usage limit"}`, fault.Quota, "you have reached your weekly usage limit", false},
		{"runner died", 500, false, `{"error":"llama runner process has terminated"}`, fault.Overloaded, "llama runner process has terminated", false},
		{"in a 200", 200, false, `{"error":"model 'x' not found"}`, fault.NotFound, "model 'x' not found", false},
		{"in a stream", 200, true, cut + `{"error":"an error was encountered while running the model: CUDA error"}`, fault.Overloaded, "an error was encountered while running the model: CUDA error", true},
		{"unauthorized in a stream", 200, true, `{"error":"unauthorized"}`, fault.Auth, "unauthorized", false},
		{"unsupported in a stream", 200, true, `{"error":"m does not support thinking"}`, fault.InvalidRequest, "m does not support thinking", false},
		{"timeout in a stream", 200, true, cut + `{"error":"timed out waiting for the runner"}`, fault.TimedOut, "timed out waiting for the runner", true},
		{"stream cut off", 200, true, cut, fault.Transport, "the stream ended before its last event", true},
		{"stream cut in a line", 200, true, cut + `{"model":"m","mess`, fault.Transport, "the stream ended in the middle of an event", true},
		{"half a stream for a document", 200, false, cut, fault.Transport, "the reply says that it is not finished", false},
		{"not JSON", 200, true, "upstream is resting\n", fault.Malformed, "the body is not the expected JSON: upstream is resting", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			m, err := ollama.New(providers.Options{BaseURL: server.URL})
			require.NoError(t, err)
			_, err = m.Call(context.Background(), providers.Call{Model: "m", Stream: c.stream})
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.kind, e.Kind)
			require.Equal(t, c.message, e.Message)
			require.Equal(t, c.partial, e.Partial)
		})
	}
}
