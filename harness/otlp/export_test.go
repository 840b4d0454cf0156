package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collectorwire "google.golang.org/protobuf/encoding/protowire"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// exported is a run with one episode of two turns that overlap and three calls, one of them not
// executed.
func exported() (manifest.Manifest, ledger.EpisodeRows) {
	m := manifest.Manifest{RunID: "01R", Suite: "s", CodeVersion: "v1", Tasks: []manifest.Task{{ID: "G01", Request: "How many?"}}}
	k := ledger.Key{EpisodeID: "01E", TaskID: "G01", Candidate: "strong", Agent: "tools", Provider: "openai", Model: "m", Trial: 3}
	usage := func(n int64) ledger.Tokens {
		return ledger.Tokens{In: new(n), Out: new(n + 1), CacheRead: new(n + 2), CacheWrite: new(int64(0)), Reasoning: new(n + 3)}
	}
	const t0 = 1_700_000_000_000_000
	return m, ledger.EpisodeRows{
		Episode: ledger.Episode{Key: k, Status: "answered", Solved: true, Answer: "Seven.", Steps: 2, ToolCalls: 3, Tokens: usage(30), TsStart: t0, ElapsedUs: new(int64(90)), CostNanoUSD: new(int64(77)),
			Checks: []ledger.Check{{Name: "status", Passed: true}, {Name: "numbers", Detail: "no 7"}}, Harm: new(false)},
		Turns: []ledger.Turn{
			{Key: k, Turn: 1, Role: "planner", TsStart: t0, DurationUs: new(int64(10)), Tokens: usage(10), CostNanoUSD: new(int64(70)), FinishReason: "tool_calls", ModelServed: "m-1", TTFTUs: new(int64(4))},
			{Key: k, Turn: 2, Role: "step", TsStart: t0, DurationUs: new(int64(20)), Tokens: ledger.Tokens{In: new(int64(5))}, ErrorKind: "timeout", Reason: "slow"},
		},
		ToolCalls: []ledger.ToolCall{
			{Key: k, Seq: 1, Turn: 1, ActionID: "A1", ToolName: "count", TsStart: t0 + 10, DurationUs: 5, Outcome: "ok", Proposed: true, Executed: true},
			{Key: k, Seq: 2, Turn: 1, ActionID: "A2", ToolName: "count", TsStart: t0 + 10, DurationUs: 5, Outcome: "error", ErrorCode: "E_UPSTREAM", Executed: true},
			{Key: k, Seq: 3, Turn: 2, ActionID: "A3", ToolName: "close", TsStart: t0 + 20, Outcome: "rejected", Proposed: true},
		},
	}
}

func lines(t *testing.T) string {
	m, rows := exported()
	var b bytes.Buffer
	e := NewExporter(m, Lines{&b})
	require.NoError(t, e.Add(context.Background(), rows))
	e.Verdict("strong", "pass", "meets all")
	require.NoError(t, e.Close(context.Background()))
	require.Equal(t, []int{5, 5}, []int{e.Spans, e.Records})
	return b.String()
}

// What is exported is imported with the same tokens, calls, times and answer.
func TestRoundTrip(t *testing.T) {
	text := lines(t)
	require.Equal(t, text, lines(t), "the same run is the same bytes")
	r, err := read(t, false, text)
	require.NoError(t, err)
	require.Len(t, r.Episodes, 1)
	e := r.Episodes[0]
	_, rows := exported()
	require.Equal(t, []any{"G01", "strong", 3, "tools", "openai", "m", "How many?", "Seven."}, []any{e.Task, e.Candidate, e.Trial, e.Agent, e.Provider, e.Model, *e.Request, *e.Answer})
	require.Equal(t, []int64{rows.Episode.TsStart, rows.Episode.TsStart + 90}, []int64{e.Start, e.End})
	require.Len(t, e.Turns, 2)
	for i, want := range rows.Turns {
		got := e.Turns[i]
		require.Equal(t, want.Tokens, got.Tokens)
		require.Equal(t, []any{want.TsStart, want.TsStart + *want.DurationUs, want.Role, want.CostNanoUSD, want.FinishReason, want.ModelServed, want.TTFTUs, want.Reason},
			[]any{got.Start, got.End, got.Role, got.CostNanoUSD, got.Finish, got.Served, got.TTFTUs, got.Failed})
	}
	require.Len(t, e.Calls, 2, "a call that was refused was not executed")
	for i, c := range e.Calls {
		require.Equal(t, []any{"count", 1, i == 0}, []any{c.Name, c.Turn, c.Proposed})
		require.Equal(t, i == 1, c.Failed != "")
	}
}

// The lines are OTLP's JSON: ids in hex, enums as numbers, evaluations as log records.
func TestLines(t *testing.T) {
	traces, logs, ok := strings.Cut(lines(t), "\n")
	require.True(t, ok)
	var doc struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID      string `json:"traceId"`
					ParentSpanID string `json:"parentSpanId"`
					Kind         any    `json:"kind"`
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(traces), &doc))
	spans := doc.ResourceSpans[0].ScopeSpans[0].Spans
	require.Len(t, spans, 5)
	require.Regexp(t, "^[0-9a-f]{32}$", spans[0].TraceID)
	require.Empty(t, spans[0].ParentSpanID)
	require.Regexp(t, "^[0-9a-f]{16}$", spans[1].ParentSpanID)
	require.EqualValues(t, 3, spans[1].Kind)
	require.Equal(t, 5, strings.Count(logs, `"eventName":"gen_ai.evaluation.result"`))
	require.Contains(t, logs, `"no 7"`)
}

// collector answers with these statuses and bodies, one after another.
func serve(t *testing.T, answers ...func(http.ResponseWriter)) (url string, seen *[]*http.Request) {
	seen = new([]*http.Request)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		*seen = append(*seen, r)
		answers[min(len(*seen), len(answers))-1](w)
	}))
	t.Cleanup(s.Close)
	return s.URL, seen
}

func TestCollector(t *testing.T) {
	status := func(code int, header ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
		}
	}
	refusal := collectorwire.AppendTag(nil, 1, collectorwire.BytesType)
	inner := collectorwire.AppendVarint(collectorwire.AppendTag(nil, 1, collectorwire.VarintType), 7)
	inner = collectorwire.AppendString(collectorwire.AppendTag(inner, 2, collectorwire.BytesType), "too old")
	refusal = collectorwire.AppendBytes(refusal, inner)
	for name, c := range map[string]struct {
		answers []func(http.ResponseWriter)
		want    string
		asked   int
		waits   []time.Duration
	}{
		"accepted":       {[]func(http.ResponseWriter){status(200)}, "", 2, nil},
		"busy once":      {[]func(http.ResponseWriter){status(503), status(200)}, "", 3, []time.Duration{time.Second}},
		"says when":      {[]func(http.ResponseWriter){status(429, "Retry-After", "3"), status(200)}, "", 3, []time.Duration{3 * time.Second}},
		"says too late":  {[]func(http.ResponseWriter){status(429, "Retry-After", "99999999"), status(200)}, "", 3, []time.Duration{maxPause}},
		"always busy":    {[]func(http.ResponseWriter){status(503)}, "answered 503 Service Unavailable 4 times; the run is complete, export it again", 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
		"refused":        {[]func(http.ResponseWriter){status(400)}, "answered 400", 1, nil},
		"redirected":     {[]func(http.ResponseWriter){status(302, "Location", "http://127.0.0.1:1/")}, "answered 302", 1, nil},
		"partly refused": {[]func(http.ResponseWriter){func(w http.ResponseWriter) { _, _ = w.Write(refusal) }}, "refused 7 of a batch: too old", 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			url, seen := serve(t, c.answers...)
			var waits []time.Duration
			to, err := NewCollector(url, "api-key=s%20ecret,x=1", http.DefaultClient, func(_ context.Context, d time.Duration) error {
				waits = append(waits, d)
				return nil
			})
			require.NoError(t, err)
			m, rows := exported()
			e := NewExporter(m, to)
			err = errors.Join(e.Add(context.Background(), rows), e.Close(context.Background()))
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
				require.NotContains(t, err.Error(), "ecret")
			}
			require.Len(t, *seen, c.asked)
			require.Equal(t, c.waits, waits)
			require.Equal(t, "/v1/traces", (*seen)[0].URL.Path)
			require.Equal(t, "s ecret", (*seen)[0].Header.Get("api-key"))
		})
	}
	for _, bad := range []string{"ftp://x", "http://", "http://user:pass@x"} {
		_, err := NewCollector(bad, "", http.DefaultClient, nil)
		require.Error(t, err)
		require.NotContains(t, err.Error(), ":pass")
	}
	_, err := NewCollector("http://x", "a", http.DefaultClient, nil)
	require.EqualError(t, err, "OTEL_EXPORTER_OTLP_HEADERS: item 1 is not NAME=VALUE")
}

var _ imports.Format = Format{}

// The unmarshalers of the OpenTelemetry Collector read what is exported. They are a module of
// their own, which is built on demand: CUPEL_PDATA=1 go test ./harness/otlp
func TestReadByTheCollectorsCode(t *testing.T) {
	if os.Getenv("CUPEL_PDATA") == "" {
		t.Skip("builds another module; set CUPEL_PDATA=1")
	}
	c := exec.Command("go", "run", ".")
	c.Dir = filepath.Join("testdata", "pdata")
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	c.Stdin = strings.NewReader(lines(t))
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, got, 10)
	require.Regexp(t, `^span [0-9a-f]{32} [0-9a-f]{16}  Internal invoke_agent strong 62$`, got[0])
	require.Regexp(t, `^span [0-9a-f]{32} [0-9a-f]{16} [0-9a-f]{16} Client chat m 22$`, got[1])
	require.Regexp(t, `^log gen_ai.evaluation.result [0-9a-f]{32} [0-9a-f]{16} solved$`, got[5])
	require.Equal(t, "log gen_ai.evaluation.result   cupel.verdict", got[9])
}
