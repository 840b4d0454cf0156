package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/sim"
	"github.com/cupel-eval/cupel/recorder"
)

// meteredSim serves the simulated models with faults. It counts what a provider bills: every
// reply of the model, even if the client received only a part.
type meteredSim struct {
	clean, faulty http.Handler

	mu              sync.Mutex
	tokens, nanoUSD int64
	requests        int64
}

func (m *meteredSim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var request map[string]json.RawMessage
	_ = json.Unmarshal(body, &request)
	delete(request, "stream")
	delete(request, "stream_options")
	text, _ := json.Marshal(request)
	whole := r.Clone(r.Context())
	whole.Body, whole.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	paid := httptest.NewRecorder()
	m.clean.ServeHTTP(paid, whole)
	var reply struct {
		Usage map[string]json.RawMessage
	}
	_ = json.Unmarshal(paid.Body.Bytes(), &reply) // a refusal has no usage
	seen := &statusWriter{ResponseWriter: w}
	defer func() {
		if seen.status >= 400 {
			return
		}
		count := func(name string) (n int64) {
			_ = json.Unmarshal(reply.Usage[name], &n) // 0 if the wire has another name
			return n
		}
		in := count("prompt_tokens") + count("input_tokens") + count("cache_read_input_tokens") + count("cache_creation_input_tokens")
		out := count("completion_tokens") + count("output_tokens")
		m.mu.Lock()
		defer m.mu.Unlock()
		m.requests++
		m.tokens += in + out
		m.nanoUSD += in*2500 + out*10000
	}()
	r.Body = io.NopCloser(bytes.NewReader(body))
	m.faulty.ServeHTTP(seen, r)
}

// statusWriter stores the status of a reply.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// chaosFaults are the faults of the simulator that end within a second.
var chaosFaults = []string{
	"bad-frame", "bad-gateway", "cut-body", "cut-frame", "disconnect", "empty", "end-early", "error-in-200", "error-midstream", "gateway-timeout",
	"gzip", "half-arguments", "no-choices", "no-finish", "oversized", "overloaded", "rate-limit-empty", "rechunk", "request-timeout", "web-page",
}

// TestChaoticRunUsesHalfItsCap checks that a run with mostly broken replies is billed between half
// of its cap and all of it.
func TestChaoticRunUsesHalfItsCap(t *testing.T) {
	measures := []string{"tokens", "cost"}
	for i, rate := range []float64{0, 0.2, 0.5, 0.9} {
		for j := range testkit.Long(1, len(measures)) { // a sample alternates between them
			measure := measures[(i+j)%len(measures)]
			caps := map[string]admission.Caps{"tokens": {Tokens: 300_000}, "cost": {CostNanoUSD: 1_000_000_000}}[measure]
			t.Run(fmt.Sprintf("%s with faults in %g of the replies", measure, rate), func(t *testing.T) {
				if rate != 0.5 {
					testkit.Slow(t)
				}
				var chaos []string
				for _, name := range chaosFaults {
					chaos = append(chaos, fmt.Sprintf("%s=%g", name, rate/float64(len(chaosFaults))))
				}
				faulty := followers(3)
				faulty.Chaos = strings.Join(chaos, ",")
				m := &meteredSim{clean: sim.Handler(followers(3)), faulty: sim.Handler(faulty)}
				server := httptest.NewServer(m)
				t.Cleanup(server.Close)
				o := recordOptions(t)
				o.Transport = through(t, server.URL)
				o.Mode, o.Runs, o.CassetteDir = recorder.Live, "", ""
				o.Candidates = []goldens.Candidate{
					{Name: "a", Provider: "sim-anthropic", Model: "sim-strong"},
					{Name: "b", Provider: "sim-anthropic", Model: "sim-strong", Stream: true},
					{Name: "c", Provider: "sim-openai", Model: "sim-strong", Agent: "tools"},
					{Name: "d", Provider: "sim-openai", Model: "sim-strong", Stream: true},
				}
				o.Trials, o.Concurrency, o.Retry.Sleep, o.Caps = 5, 8, noSleep, caps
				res, err := harness.Run(context.Background(), o)
				require.NoError(t, err)
				require.Contains(t, res.Manifest.Stopped, "the cap on spending is reached")
				server.Close() // waits for replies whose client has gone: they are billed, too
				billed, limit := m.tokens, caps.Tokens
				if measure == "cost" {
					billed, limit = m.nanoUSD, caps.CostNanoUSD
				}
				t.Logf("billed %d of %d for %d requests", billed, limit, m.requests)
				require.LessOrEqual(t, billed, limit)
				require.GreaterOrEqual(t, billed, limit/2)
			})
		}
	}
}
