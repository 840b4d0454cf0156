// Package providertest tests the contract of every providers.Model on a subject.
// Cases that a provider cannot pass are skipped by name and reason. It is for tests.
package providertest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// Answer is what the provider is made to say.
type Answer struct {
	Text string
	// Args are the arguments of calls of Tool, one each. A provider without tool
	// calls says the first as its text.
	Tool string
	Args []string
	// Usage with Reported false makes the provider report none.
	Usage  providers.Usage
	Finish providers.Finish
}

// Subject is a provider under test. Either New and Encode are set, for a wire, or Model.
type Subject struct {
	// New makes the wire; the suite serves it over HTTP.
	New providers.Factory
	// Encode writes the body of a 200 that says a.
	Encode func(a Answer) string
	// Fault writes the body of an error with a message.
	Fault func(message string) string
	// Model makes a provider without HTTP that gives one answer per call.
	Model func(a Answer) providers.Model
	// Skip names cases the provider lacks, with the reason.
	Skip map[string]string
}

// canary represents the credential: it must not appear in any output.
const canary = "sk-canary-0123456789abcdef"

// Run checks the subject against the contract.
func Run(t *testing.T, s Subject) {
	for _, c := range []struct {
		name string
		http bool
		run  func(*testing.T, Subject)
	}{
		{"text", false, testText},
		{"usage", false, testUsage},
		{"usage not reported", false, testUsageNotReported},
		{"finish reasons", false, testFinish},
		{"cancelled context", false, testCancelled},
		{"concurrent calls", false, testConcurrent},
		{"output modes", false, testModes},
		{string(providers.JSONObject), false, testJSONText(providers.JSONObject)},
		{string(providers.JSONSchema), false, testJSONText(providers.JSONSchema)},
		{string(providers.ForcedTool), false, testForcedTool},
		{"forced tool, cut", false, testForcedToolCut},
		{"forced tool, odd replies", true, testForcedToolOdd},
		{"formats that cannot be sent", true, testRefusedUnsent},
		{"formats and request bytes", true, testFormatBytes},
		{"equal calls send equal bytes", true, testDeterministic},
		{"client request id is sent", true, testClientRequestID},
		{"error kinds by status", true, testStatuses},
		{"malformed bodies", true, testMalformed},
		{"deadline", true, testDeadline},
		{"no connection", true, testNoConnection},
		{"redirects are not followed", true, testRedirect},
		{"key never in an error", true, testKey},
		{"missing key", true, testMissingKey},
	} {
		t.Run(c.name, func(t *testing.T) {
			if reason, ok := s.Skip[c.name]; ok {
				t.Skip(reason)
			}
			if c.http && s.New == nil {
				t.Skip("the provider does not speak HTTP")
			}
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			c.run(t, s)
		})
	}
}

var (
	call  = providers.Call{Model: "some-model", System: "Be brief.", Messages: []providers.Message{{Role: "user", Text: "Say <hi> & \"bye\"."}}, MaxTokens: 64}
	whole = Answer{Text: "line 1\nline 2 – é 日本 🙂", Finish: providers.FinishStop, Usage: providers.Usage{Reported: true, Input: 11, Output: 7}}
)

// answering makes a model that gives a to every call.
func (s Subject) answering(t *testing.T, a Answer) providers.Model {
	if s.Model != nil {
		return s.Model(a)
	}
	return s.serving(t, http.StatusOK, "application/json", s.Encode(a))
}

// serving makes a model whose server sends the same reply to every call.
func (s Subject) serving(t *testing.T, status int, contentType, body string) providers.Model {
	return s.handling(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("X-Request-Id", "req-1")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

func (s Subject) handling(t *testing.T, h http.HandlerFunc) providers.Model {
	server := httptest.NewServer(h)
	client := server.Client()
	t.Cleanup(server.Close)
	t.Cleanup(client.CloseIdleConnections)
	m, err := s.New(providers.Options{Provider: "under-test", BaseURL: server.URL + "/v1", Key: canary, HTTP: client})
	require.NoError(t, err)
	// VerifyNone runs before Cleanup, so the server must be gone by then.
	return &closing{Model: m, server: server, client: client}
}

// closing shuts the server when asked; see done.
type closing struct {
	providers.Model
	server *httptest.Server
	client *http.Client
}

// done ends the server behind a model, so that leaks show.
func done(m providers.Model) {
	if c, ok := m.(*closing); ok {
		c.client.CloseIdleConnections()
		c.server.Close()
	}
}

func testText(t *testing.T, s Subject) {
	m := s.answering(t, whole)
	defer done(m)
	got, err := m.Call(context.Background(), call)
	require.NoError(t, err)
	require.Equal(t, whole.Text, got.Text)
	require.Empty(t, got.Reasoning)
	require.Empty(t, got.Refusal)
	require.NotEmpty(t, got.Model)
	require.NotEmpty(t, got.FinishRaw)
	if s.New != nil {
		require.Equal(t, http.StatusOK, got.Status)
		require.Equal(t, "req-1", got.RequestID)
	}
}

func testUsage(t *testing.T, s Subject) {
	want := providers.Usage{Reported: true, Input: 100, Output: 40, CacheRead: 900, CacheWrite: 30, Reasoning: 60}
	m := s.answering(t, Answer{Text: "ok", Usage: want, Finish: providers.FinishStop})
	defer done(m)
	got, err := m.Call(context.Background(), call)
	require.NoError(t, err)
	require.Equal(t, want, got.Usage)
	require.EqualValues(t, 1130, got.Usage.Total())
	if s.New != nil {
		require.Contains(t, s.Encode(Answer{Text: "ok", Usage: want, Finish: providers.FinishStop}), string(got.RawUsage), "raw usage must be kept byte for byte")
		require.NotEmpty(t, got.RawUsage)
	}
}

func testUsageNotReported(t *testing.T, s Subject) {
	m := s.answering(t, Answer{Text: "ok", Finish: providers.FinishStop})
	defer done(m)
	got, err := m.Call(context.Background(), call)
	require.NoError(t, err)
	require.Equal(t, providers.Usage{}, got.Usage)
	require.Nil(t, got.RawUsage)
}

func testFinish(t *testing.T, s Subject) {
	for _, want := range []providers.Finish{providers.FinishStop, providers.FinishLength, providers.FinishTools, providers.FinishRefusal, providers.FinishOther} {
		m := s.answering(t, Answer{Text: "ok", Finish: want})
		got, err := m.Call(context.Background(), call)
		done(m)
		require.NoError(t, err)
		require.Equal(t, want, got.Finish)
	}
}

func testCancelled(t *testing.T, s Subject) {
	m := s.answering(t, whole)
	defer done(m)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := m.Call(ctx, call)
	e := asError(t, err, fault.Transport)
	require.ErrorIs(t, e, context.Canceled)
}

func testConcurrent(t *testing.T, s Subject) {
	const calls = 16
	m := s.answering(t, whole)
	defer done(m)
	var wg sync.WaitGroup
	errs := make([]error, calls)
	for i := range calls {
		wg.Go(func() { _, errs[i] = m.Call(context.Background(), call) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

// asError demands a *fault.Error of a kind, without the key in it.
func asError(t *testing.T, err error, kind fault.Kind) *fault.Error {
	t.Helper()
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, "%v", err)
	require.NotContains(t, strings.ToLower(err.Error()), strings.ToLower(canary))
	require.NotEmpty(t, e.Provider)
	return e
}

// requireKind is asError for when the kind is all that counts.
func requireKind(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	_ = asError(t, err, kind)
}
