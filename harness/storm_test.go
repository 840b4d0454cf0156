package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// storm is a strategy with many commands in flight. At every event it issues a random number of
// model calls, tool calls and pauses, with few different prompts, so that equal ones run in
// parallel. The random numbers depend on all earlier results in their order, so that another
// order gives another episode. Half of the episodes end with commands in flight.
type storm struct {
	agent.Tally
	heard   []byte
	left    int // commands to be issued
	parent  int
	patient bool // waits for all before it ends
}

func newStorm(p agent.Params) (agent.Machine, error) {
	return &storm{Tally: agent.Tally{Budgets: p.Budgets}, heard: []byte(p.Request), left: 24, patient: len(p.Request)%2 == 0}, nil
}

// Step implements agent.Machine.
func (m *storm) Step(ev agent.Event) (r agent.Ready) {
	m.Take(ev)
	defer func() { r.Used = m.Used() }()
	switch ev := ev.(type) {
	case agent.ModelReplied:
		m.hear(ev.ID, ev.Reply.Text)
		r.Judgement = &agent.Judgement{ValidJSON: true, Actionable: true, ContractValid: true}
	case agent.ModelFailed:
		if !ev.Answered {
			r.Commands = append(r.Commands, m.Finish(agent.Finish{Status: agent.Failed, Err: ev.Err}))
			return r
		}
		m.hear(ev.ID, "failed")
	case agent.ToolReturned:
		m.hear(ev.ID, string(ev.Result.Outcome)+string(ev.Result.Value))
	case agent.Waited:
		m.hear(ev.ID, ev.At.String())
	case agent.Deadline:
		r.Commands = append(r.Commands, m.Finish(agent.Finish{Status: agent.Stopped, StopReason: agent.MaxSeconds}))
		return r
	case agent.Cancelled:
		return r // the driver ends it
	}
	return m.draw(r)
}

// hear adds an outcome to the seed.
func (m *storm) hear(id int, text string) {
	m.heard = fmt.Appendf(m.heard, "%d:%s\n", id, text)
	m.parent = id
}

// draw issues random commands, and ends the episode when its budget is used up.
func (m *storm) draw(r agent.Ready) agent.Ready {
	h := fnv.New64a()
	_, _ = h.Write(m.heard)
	rng := rand.New(rand.NewPCG(h.Sum64(), 7))
	for n := 1 + rng.IntN(4); n > 0 && m.left > 0; n-- {
		m.left--
		r.Commands = append(r.Commands, m.command(rng))
	}
	if m.left == 0 && (m.Open() == 0 || !m.patient) {
		r.Updates = append(r.Updates, agent.Update{Phase: "storm", Status: "success"})
		r.Commands = append(r.Commands, m.Finish(agent.Finish{Status: agent.Answered, Answer: fmt.Sprintf("%x", h.Sum64())}))
	}
	return r
}

func (m *storm) command(rng *rand.Rand) agent.Command {
	switch rng.IntN(6) {
	case 0:
		return m.Wait(agent.Wait{Parent: m.parent, For: time.Duration(rng.IntN(3000)) * time.Microsecond})
	case 1, 2:
		name := []string{"get_job_status", "lookup"}[rng.IntN(2)]
		return m.Tool(agent.CallTool{Parent: m.parent, Call: tool.Call{Name: name, Args: json.RawMessage(fmt.Sprintf(`{"id":"%d"}`, rng.IntN(3)))}, Key: name})
	}
	return m.Model(agent.CallModel{
		Parent: m.parent, Role: turn.RoleStep, Kind: turn.KindAct, Step: fmt.Sprintf("s[%d]", rng.IntN(3)),
		Call: providers.Call{System: "storm", Messages: []providers.Message{{Role: providers.RoleUser, Text: fmt.Sprint("prompt ", rng.IntN(3))}}, MaxTokens: 10},
	})
}

// randomFaults is a provider with random delays and failures that never repeats a reply.
type randomFaults struct {
	mu    sync.Mutex
	rng   *rand.Rand
	said  int
	most  atomic.Int32 // requests at once
	now   atomic.Int32
	slow  time.Duration // at least; up to 4 ms otherwise
	fast  bool          // no time at all
	fails bool
	// says returns the message of a reply as JSON; nil means a number.
	says func(request []byte) string
}

func newRandomFaults(seed uint64) *randomFaults {
	return &randomFaults{rng: rand.New(rand.NewPCG(seed, 3)), fails: true}
}

// RoundTrip implements http.RoundTripper.
func (w *randomFaults) RoundTrip(r *http.Request) (*http.Response, error) {
	n := w.now.Add(1)
	for most := w.most.Load(); n > most && !w.most.CompareAndSwap(most, n); most = w.most.Load() {
	}
	defer w.now.Add(-1)
	asked, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.said++
	said, fail, wait := w.said, w.fails && w.rng.IntN(6) == 0, time.Duration(w.rng.IntN(4000))*time.Microsecond
	w.mu.Unlock()
	if wait = max(wait, w.slow); w.fast {
		wait = 0
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	message := fmt.Sprintf(`{"content":"%d"}`, said)
	if w.says != nil {
		message = w.says(asked)
	}
	status, body := http.StatusOK, fmt.Sprintf(`{"model":"m","choices":[{"message":%s,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, message)
	if fail {
		status, body = http.StatusServiceUnavailable, `{"error":{"message":"overloaded"}}`
	}
	return testkit.Reply(r, status, body), nil
}

// stormOptions returns a recording of n tasks with strategy storm.
func stormOptions(t testing.TB, n int, w http.RoundTripper) harness.Options {
	t.Helper()
	var hits atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(rw, `{"hit":%d}`, hits.Add(1))
	}))
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		server.Close()
	})
	var tasks strings.Builder
	for i := range n {
		fmt.Fprintf(&tasks, "  - {id: S%02d, request: %q, expect: {status: answered}}\n", i, strings.Repeat("blow ", i+1)+fmt.Sprint(i))
	}
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(`name: storm
worlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC, kind: counts, state: {job_status: [queued, running, running, done]}, latency: {get_job_status: 1500us}}}
defaults: {world: w, budgets: {max_steps: 99, max_tool_calls: 99, max_seconds: 600}}
tools:
  - {name: get_job_status, description: Status., schema: {type: object, properties: {id: {type: string}}, required: [id]}}
  - {name: lookup, description: Look., http: {url: "` + server.URL + `/{id}"}, schema: {type: object, properties: {id: {type: string}}, required: [id]}}
tasks:
` + tasks.String())}}, "storm", counts.Worlds())
	require.NoError(t, err)
	o := countsOptions(t)
	o.Suite = suite
	o.Candidates = []goldens.Candidate{{Name: "blow", Agent: "storm", Provider: "openai-compatible", Model: "m", BaseURL: "http://models.test/v1"}}
	o.Strategies = map[string]agent.Strategy{"storm": {New: newStorm}}
	o.Mode, o.CassetteDir, o.Runs = recorder.Record, t.TempDir(), t.TempDir()
	o.Cassettes = os.DirFS(o.CassetteDir)
	o.Transport = func(string) http.RoundTripper { return w }
	o.Now = func() time.Time { return time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC) }
	o.Retry.Sleep = noSleep
	return o
}

// replayed replays recorded options from their cassettes.
func replayed(t *testing.T, o harness.Options) harness.Result {
	t.Helper()
	o.Mode, o.Transport = recorder.Replay, nil
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	return res
}
