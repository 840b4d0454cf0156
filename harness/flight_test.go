package harness_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/recorder"
)

// slowServer makes this test binary a server of slow models: its value is the number of clients,
// the latency, and the time over which the first replies are spread.
const slowServer = "CUPEL_TEST_SLOW_SERVER"

// flightTurns is the number of requests that each client of a slow server sends, one after another.
const flightTurns = 4

var flightRequest = regexp.MustCompile(`flight (\d+)/(\d+)`)

// flightOf returns the client and the turn of a request.
func flightOf(body []byte) (client, turn int) {
	m := flightRequest.FindSubmatch(body)
	if m == nil {
		return 0, 0
	}
	client, _ = strconv.Atoi(string(m[1]))
	turn, _ = strconv.Atoi(string(m[2]))
	return client, turn
}

// actAsSlowServer serves until its standard input ends. The first request of client i is answered
// i/clients of the ramp later than the others.
func actAsSlowServer() {
	var clients int
	var latency, ramp time.Duration
	if _, err := fmt.Sscan(os.Getenv(slowServer), &clients, (*int64)(&latency), (*int64)(&ramp)); err != nil {
		panic(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		wait := latency
		if client, turn := flightOf(body); turn == 0 {
			wait += ramp * time.Duration(client) / time.Duration(clients)
		}
		time.Sleep(wait)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":1,"total_tokens":21}}`)
	}))
	fmt.Println(s.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// startSlowServer starts such a server as a process and returns its address.
func startSlowServer(t *testing.T, clients int, latency, ramp time.Duration) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d", slowServer, clients, latency, ramp))
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() }) // it ends with its input
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// flights is a transport that notes the times of requests, in nanoseconds since begun, by client
// and turn.
type flights struct {
	base                  http.RoundTripper
	begun                 time.Time
	due, sent, ended, fed [][flightTurns]atomic.Int64
	now, most             atomic.Int64 // requests in flight
}

func newFlights(base http.RoundTripper, clients int) *flights {
	at := func() [][flightTurns]atomic.Int64 { return make([][flightTurns]atomic.Int64, clients) }
	return &flights{base: base, begun: time.Now(), due: at(), sent: at(), ended: at(), fed: at()}
}

func (f *flights) mark(times [][flightTurns]atomic.Int64, client, turn int) {
	times[client][turn].Store(int64(time.Since(f.begun)))
}

// RoundTrip notes when the last byte of a request was written and that of its reply was read.
func (f *flights) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	client, turn := flightOf(body)
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { f.mark(f.sent, client, turn) },
	}))
	r.Body = io.NopCloser(bytes.NewReader(body))
	for n := f.now.Add(1); ; {
		if most := f.most.Load(); n <= most || f.most.CompareAndSwap(most, n) {
			break
		}
	}
	defer f.now.Add(-1)
	resp, err := f.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	f.mark(f.ended, client, turn)
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, err
}

// p99 are the 99th percentiles after the first turns: from due to sent, and from the last byte of
// the reply until the agent had it.
func (f *flights) p99() (sending, feeding time.Duration) {
	var send, feed []int64
	for i := range f.due {
		for k := 1; k < flightTurns; k++ {
			send = append(send, f.sent[i][k].Load()-f.due[i][k].Load())
			feed = append(feed, f.fed[i][k].Load()-f.ended[i][k].Load())
		}
	}
	slices.Sort(send)
	slices.Sort(feed)
	at := len(send) * 99 / 100
	return time.Duration(send[at]), time.Duration(feed[at])
}

// flyer is an agent that sends its requests one after another.
type flyer struct {
	agent.Tally
	params       agent.Params
	flights      *flights
	client, turn int
}

// Step implements agent.Machine.
func (m *flyer) Step(ev agent.Event) (r agent.Ready) {
	m.Take(ev)
	defer func() { r.Used = m.Used() }()
	switch ev := ev.(type) {
	case agent.ModelReplied:
		m.flights.mark(m.flights.fed, m.client, m.turn)
		m.turn++
		r.Judgement = &agent.Judgement{ValidJSON: true, Actionable: true, ContractValid: true, ActionType: "respond"}
	case agent.ModelFailed:
		r.Commands = []agent.Command{agent.Finish{Status: agent.Failed, Err: ev.Err}}
		return r
	}
	if m.turn == flightTurns {
		r.Commands = []agent.Command{agent.Finish{Status: agent.Answered, Answer: "done"}}
		return r
	}
	r.Commands = []agent.Command{m.Model(agent.CallModel{Role: turn.RoleMain, Kind: turn.KindAct, Call: providers.Call{
		Messages:  []providers.Message{{Role: providers.RoleUser, Text: fmt.Sprintf("flight %d/%d", m.client, m.turn)}},
		MaxTokens: m.params.MaxTokens, Seed: m.params.Seed,
	}})}
	m.flights.mark(m.flights.due, m.client, m.turn)
	return r
}

// TestManyRequestsInFlight: with many requests in flight to a slow provider in another process,
// cupel sends a request soon after it is due and feeds its reply soon after it came. `make scale`
// has 10,000 in flight with 5 s of latency. A bare client of the same requests is beside it.
func TestManyRequestsInFlight(t *testing.T) {
	clients, latency, ramp := 200, 500*time.Millisecond, 200*time.Millisecond
	scale := os.Getenv("CUPEL_SCALE") != ""
	if scale {
		clients, latency, ramp = 10_000, 5*time.Second, 30*time.Second
	}
	url := startSlowServer(t, clients, latency, ramp)
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConns, base.MaxIdleConnsPerHost = 0, clients
	t.Cleanup(base.CloseIdleConnections)

	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(`
name: flights
worlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: w, tools: [], budgets: {max_seconds: 600}}
tasks: [{id: one, request: "Fly.", expect: {status: answered}}]
`)}}, "flights", nil)
	require.NoError(t, err)
	f := newFlights(base, clients)
	var started atomic.Int64
	res, err := harness.Run(context.Background(), harness.Options{
		Matrix: harness.Matrix{Suite: suite, Trials: clients, Candidates: []goldens.Candidate{
			{Name: "flyer", Agent: "flyer", Provider: "openai", Model: "m", BaseURL: url + "/v1", KeyEnv: "NONE"},
		}},
		Parts: harness.Parts{
			Strategies: map[string]agent.Strategy{"flyer": {New: func(p agent.Params) (agent.Machine, error) {
				m := &flyer{Tally: agent.Tally{Budgets: p.Budgets}, params: p, flights: f}
				if p.Request != "" {
					m.client = int(started.Add(1)-1) % clients
				}
				return m, nil
			}}},
			Providers: all.Factories(),
			Transport: func(string) http.RoundTripper { return f },
		},
		Rules:     harness.Rules{Policy: policy.Default()},
		Bounds:    harness.Bounds{Concurrency: clients},
		Recording: harness.Recording{Mode: recorder.Live},
		RunFolder: harness.RunFolder{Runs: t.TempDir()},
	})
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status)
	require.Equal(t, clients*flightTurns, res.Manifest.Turns)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	sending, feeding := f.p99()

	bare := newFlights(base, clients)
	client := &http.Client{Transport: bare}
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for k := range flightTurns {
				bare.mark(bare.due, i, k)
				body, _ := json.Marshal(map[string]string{"text": fmt.Sprintf("flight %d/%d", i, k)})
				resp, err := client.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				bare.mark(bare.fed, i, k)
			}
		})
	}
	wg.Wait()
	bareSending, bareFeeding := bare.p99()
	t.Logf("%d in flight, %s of latency: p99 from due to sent %s (bare client %s), from last byte to fed %s (%s); %d MB",
		f.most.Load(), latency, sending, bareSending, feeding, bareFeeding, memory.Sys>>20)
	require.GreaterOrEqual(t, int(f.most.Load()), clients/2)
	if scale {
		require.GreaterOrEqual(t, int(f.most.Load()), clients*9/10)
		require.Less(t, sending, 100*time.Millisecond+bareSending)
		require.Less(t, feeding, 100*time.Millisecond+bareFeeding)
		require.Less(t, memory.Sys, uint64(1<<30))
	}
}
