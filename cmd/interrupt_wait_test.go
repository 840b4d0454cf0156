//go:build unix

package cmd

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// provider is a server with a model that calls a tool and answers, and with that tool. A test can
// replace its behaviour.
type provider struct {
	*httptest.Server
	stuck func(w http.ResponseWriter, r *http.Request)
	well  atomic.Bool
	asked atomic.Int32
}

func newProvider(t *testing.T, stuck http.HandlerFunc) *provider {
	p := &provider{stuck: stuck}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // fails if the client is gone
	p.asked.Add(1)
	if !p.well.Load() {
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		p.stuck(w, r)
		return
	}
	p.answer(w, r, string(body))
}

func (p *provider) answer(w http.ResponseWriter, r *http.Request, body string) {
	message := `{"content":"It is 42."}`
	switch {
	case strings.HasPrefix(r.URL.Path, "/tool"):
		_, _ = io.WriteString(w, `{"value":42}`)
		return
	case !strings.Contains(body, `"role":"tool"`):
		message = `{"content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"lookup","arguments":"{\"id\":\"a\"}"}}]}`
	}
	_, _ = fmt.Fprintf(w, `{"id":"x","model":"m","choices":[{"index":0,"finish_reason":"stop","message":%s}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`, message)
}

// configure writes the configuration of a run with the provider.
func (p *provider) configure(b *bench, candidate, limits string) {
	b.t.Helper()
	text := fmt.Sprintf("suite: suite\ncandidates:\n  - {name: local, provider: openai-compatible, model: m, agent: tools, base_url: %s/v1%s}\nlimits: {openai-compatible: {%s}}\n", p.URL, candidate, limits)
	require.NoError(b.t, os.WriteFile(filepath.Join(b.dir, "cupel.yaml"), []byte(text), 0o644))
}

// suite writes a suite with the provider's tool.
func (p *provider) suite(b *bench) {
	b.t.Helper()
	require.NoError(b.t, os.Mkdir(filepath.Join(b.dir, "suite"), 0o755))
	require.NoError(b.t, os.WriteFile(filepath.Join(b.dir, "suite", "suite.yaml"), []byte(
		`name: waits
worlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC}}
tools:
  - name: lookup
    description: Looks up a value.
    schema: {type: object, properties: {id: {type: string}}, required: [id]}
    http: {url: "`+p.URL+`/tool/{id}", timeout: 300s}
defaults: {world: w, tools: [lookup], budgets: {max_steps: 5, max_tool_calls: 5, max_seconds: 600}}
tasks:
  - {id: T1, request: "What is it?", expect: {status: answered, numbers: [42]}}
  - {id: T2, request: "What is that?", expect: {status: answered, numbers: [42]}}
  - {id: T3, request: "What is this?", expect: {status: answered, numbers: [42]}}
`), 0o644))
}

// refusing answers 429 with headers.
func refusing(header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

// silent does not answer, or only the requests of the other kind.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// dripping sends small pieces of a stream or document without an end.
func dripping(media, first, piece string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, first)
		for {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(30 * time.Millisecond):
			}
		}
	}
}

// promptly is the time within which a process must end after a signal: two seconds, one of them for
// requests in flight. In parallel with other tests or with the race detector, writing the report can
// take longer, so a sample has a bound that only a wait exceeds: every wait here takes at least a
// minute.
var promptly = time.Duration(testkit.Long(10, 2)) * time.Second

// One signal ends every wait promptly, and leaves a partial run that can be read and resumed.
func TestSignalEndsEveryWait(t *testing.T) {
	t.Parallel()
	stuckTool := newProvider(t, nil)
	stuckTool.stuck = func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/tool") {
			<-r.Context().Done()
			return
		}
		stuckTool.answer(w, r, "")
	}
	// The waits for other headers, and for answers without an end, are samples of these.
	slow := map[string]bool{"asked to come back in 100 seconds": true, "nothing left of a window": true, "a body without end": true}
	for name, test := range map[string]struct {
		p         *provider
		limits    string
		candidate string
	}{
		"asked to come back in six minutes":    {p: newProvider(t, refusing("Retry-After", "360")), limits: "concurrency: 1"},
		"asked to come back in 100 seconds":    {p: newProvider(t, refusing("Retry-After", "100"))},
		"nothing left for six minutes":         {p: newProvider(t, refusing("X-Ratelimit-Limit-Requests", "1", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "6m0s"))},
		"nothing left of a window":             {p: newProvider(t, refusing("X-Ratelimit-Remaining", "0", "X-Ratelimit-Reset", "360"))},
		"backing off":                          {p: newProvider(t, refusing())},
		"at its rate":                          {p: newProvider(t, refusing()), limits: "requests_per_minute: 1"},
		"one at a time, and that one is stuck": {p: newProvider(t, silent), limits: "concurrency: 1"},
		"no answer":                            {p: newProvider(t, silent)},
		"a stream without end":                 {p: newProvider(t, dripping("text/event-stream", "", `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}`+"\n\n")), candidate: ", stream: true"},
		"a body without end":                   {p: newProvider(t, dripping("application/json", `{"choices":[`, " "))},
		"a tool without answer":                {p: stuckTool},
	} {
		t.Run(name, func(t *testing.T) {
			if slow[name] {
				testkit.Slow(t)
			}
			t.Parallel()
			for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[:testkit.Long(1, 2)] {
				t.Run(sig.String(), func(t *testing.T) {
					b := newBench(t)
					test.p.suite(b)
					test.p.configure(b, test.candidate, test.limits)
					test.p.well.Store(false)
					end := b.signalled(test.p, sig, "run", "--mode", "live")
					require.Equal(t, exit.Interrupted, end.code, end.text)
					require.Less(t, end.took, promptly, end.text)
					require.Regexp(t, goOn, end.text)
					text, err := os.ReadFile(filepath.Join(b.folder(), "run.json"))
					require.NoError(t, err)
					require.Contains(t, string(text), `"status": "partial"`)
					require.Contains(t, string(text), `"stopped": "interrupted"`)
					read := b.run(0, "report", "latest")
					require.Zero(t, read.code, read.text)

					test.p.well.Store(true)
					test.p.configure(b, test.candidate, "")
					again := b.run(30*time.Second, strings.Fields(goOn.FindStringSubmatch(end.text)[1])...)
					require.Zero(t, again.code, again.text)
				})
			}
		})
	}
}

// The exchanges of a recording before the signal stay in the journals of its cassettes.
func TestSignalKeepsExchanges(t *testing.T) {
	t.Parallel()
	p := newProvider(t, nil)
	p.stuck = func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/tool") {
			<-r.Context().Done()
			return
		}
		p.answer(w, r, "")
	}
	b := newBench(t)
	p.suite(b)
	p.configure(b, "", "")
	end := b.signalled(p, syscall.SIGTERM, "run", "--mode", "record")
	require.Equal(t, exit.Interrupted, end.code, end.text)
	require.Less(t, end.took, promptly)
	listed := b.run(0, "cassette", "recover", "suite")
	require.Zero(t, listed.code, listed.text)
	require.Equal(t, 3, strings.Count(listed.text, ".yaml.journal"), listed.text)
	p.well.Store(true)
	again := b.run(30*time.Second, strings.Fields(goOn.FindStringSubmatch(end.text)[1])...)
	require.Zero(t, again.code, again.text)
}

// signalled runs cupel, sends one signal some time after its first request, and measures the time
// until it ends.
func (b *bench) signalled(p *provider, sig syscall.Signal, args ...string) ended {
	b.t.Helper()
	before := p.asked.Load()
	cmd := b.command(args...)
	out := &heard{}
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(b.t, cmd.Start())
	require.Eventually(b.t, func() bool { return p.asked.Load() > before && b.folder() != "" }, 20*time.Second, 5*time.Millisecond)
	time.Sleep(300 * time.Millisecond)
	begun := time.Now()
	_ = cmd.Process.Signal(sig) // the process may have ended
	_ = cmd.Wait()              // the exit code has the result
	return ended{cmd.ProcessState.ExitCode(), out.text.String(), time.Since(begun)}
}
