package natsfleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
)

// provider answers each request of the agent contract: a tool call, then a response. It notes
// what it was asked. While gate is not nil, the second turns wait for it.
type provider struct {
	mu    sync.Mutex
	asked map[string]int
	gate  chan struct{}
}

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var body struct{ Messages []struct{ Content string } }
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, err
	}
	first := strings.Contains(string(text), `BUDGET_USED: steps=0/`)
	p.mu.Lock()
	p.asked[string(text)]++
	gate := p.gate
	p.mu.Unlock()
	if gate != nil && !first {
		select {
		case <-gate:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	next, done := `{"type":"respond","message":"done"}`, "true"
	if first {
		next, done = `{"type":"tool","name":"today_range","args":{}}`, "false"
	}
	reply, err := json.Marshal(map[string]any{
		"id": "1", "object": "chat.completion", "model": "m",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": fmt.Sprintf(
			`{"control":{"done":%s,"reason":"ok"},"next_action":%s,"state_update":{"plan":"p","observation":"o","confidence":1}}`, done, next)}}},
		"usage": map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	})
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(reply)), ContentLength: int64(len(reply)), Request: r}, err
}

// requests is how many requests were asked, and how many of them again.
func (p *provider) requests() (all, again int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.asked {
		all += n
		again += n - 1
	}
	return all, again
}

const tasks = 12

// recording returns the options of a recording of a suite whose every task has two turns.
func recording(t *testing.T, p *provider) harness.Options {
	t.Helper()
	text := `
name: two
candidates: [{name: a, provider: sim-openai, model: m}]
tools: [{name: today_range, description: Today., schema: {type: object}}]
worlds: {may: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: may, budgets: {max_steps: 3}}
tasks:
`
	for i := range tasks {
		text += fmt.Sprintf("  - {id: T%02d, request: Say day %d, expect: {status: answered}}\n", i, i)
	}
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(text)}}, "two", counts.Worlds())
	require.NoError(t, err)
	o := options(t)
	o.Suite, o.Mode, o.CassetteDir = suite, recorder.Record, t.TempDir()
	o.Cassettes = os.DirFS(o.CassetteDir)
	o.Now = func() time.Time { return time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC) }
	o.Transport = func(string) http.RoundTripper { return p }
	return o
}

// requireReplays replays the cassettes of a recording.
func requireReplays(t *testing.T, o harness.Options, res harness.Result) {
	t.Helper()
	o.Mode, o.Executor = recorder.Replay, nil
	again := plain(t, o)
	require.Equal(t, "complete", again.Manifest.Status)
	require.Equal(t, res.Manifest.LedgerDigest, again.Manifest.LedgerDigest)
}

func TestFleetRecords(t *testing.T) {
	t.Parallel()
	p := &provider{asked: map[string]int{}}
	o := recording(t, p)
	url, _ := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir()})
	for _, name := range []string{"a", "b", "c"} {
		own := o
		own.CassetteDir, own.Runs = "", t.TempDir()
		startWorker(t, url, name, own)
	}
	watcher, ended, failed := dial(t, url, "watcher", &said{}), make(chan struct{}), make(chan error, 1)
	go func() { // the status can be asked for at any moment of the run
		for {
			_, err := watcher.Status(context.Background())
			select {
			case <-ended:
			default:
				if err == nil {
					continue
				}
			}
			failed <- err
			return
		}
	}()
	q := dial(t, url, "lead", &said{})
	res, err := coordinate(t, q, o, fleet.CoordinateOptions{})
	close(ended)
	require.NoError(t, err)
	require.NoError(t, <-failed)
	require.Equal(t, "complete", res.Manifest.Status, res.Excluded)
	all, again := p.requests()
	require.Equal(t, []int{2 * tasks, 0}, []int{all, again})
	requireReplays(t, o, res)
}

// Of a lost worker, only what was in flight is asked again, and that is counted.
func TestLostRecordingIsTakenOver(t *testing.T) {
	testkit.Slow(t)
	t.Parallel()
	p := &provider{asked: map[string]int{}, gate: make(chan struct{})}
	o := recording(t, p)
	url, _ := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir()})
	own := o
	own.CassetteDir, own.Runs, own.Concurrency = "", t.TempDir(), 4
	gone, _ := startWorker(t, url, "gone", own)
	lead := &said{}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			if all, _ := p.requests(); all == 8 { // four first turns, four second ones in flight
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		_ = gone.Close()
		p.mu.Lock()
		p.gate = nil
		p.mu.Unlock()
		next := own
		next.Runs = t.TempDir()
		startWorker(t, url, "next", next)
	})
	res, err := coordinate(t, dial(t, url, "lead", lead), o, fleet.CoordinateOptions{Lease: time.Second})
	wg.Wait()
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status, res.Excluded)
	all, again := p.requests()
	require.Equal(t, []int{2*tasks + 4, 4}, []int{all, again})
	require.Contains(t, lead.String(), "4 units of lost workers were taken over: 4 of their exchanges were not asked again, at most 4 requests in flight were")
	requireReplays(t, o, res)
}
