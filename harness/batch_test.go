package harness_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/batching"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/batchsim"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
)

// provider is a simulated provider with batch APIs. It remembers every request that was put
// into a batch.
type batchProvider struct {
	http.RoundTripper
	mu    sync.Mutex
	items map[string]int // by the id of the request
	files map[string]string
	// before and after are called with the number of a request, from 1; an error is what the client
	// gets instead of sending it, or of the reply.
	before, after func(n int) error
	calls         int
}

func newBatchProvider(faults string) *batchProvider { return slowBatchProvider(faults, 0) }

func slowBatchProvider(faults string, delay time.Duration) *batchProvider {
	return &batchProvider{RoundTripper: testkit.Handled(batchsim.Handler(batchsim.Config{Models: followers(7), Faults: faults, Delay: delay})), items: map[string]int{}, files: map[string]string{}}
}

func (p *batchProvider) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.calls++
	n := p.calls
	p.mu.Unlock()
	if p.before != nil {
		if err := p.before(n); err != nil {
			return nil, err
		}
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := p.RoundTripper.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost && (resp.StatusCode < 300 || resp.StatusCode == http.StatusServiceUnavailable) {
		p.remember(r.URL.Path, string(body), resp)
	}
	if p.after != nil {
		if err := p.after(n); err != nil {
			return nil, err
		}
	}
	return resp, err
}

// remember counts the items of a request that submits a batch; OpenAI's are in a file.
func (p *batchProvider) remember(path, body string, resp *http.Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch path {
	case "/v1/files":
		reply, err := io.ReadAll(resp.Body)
		if err != nil {
			panic(err)
		}
		resp.Body = io.NopCloser(bytes.NewReader(reply))
		_, id, _ := strings.Cut(string(reply), `"id":"`)
		id, _, _ = strings.Cut(id, `"`)
		p.files[id] = body
		return
	case "/v1/batches":
		_, id, _ := strings.Cut(body, `"input_file_id":"`)
		id, _, _ = strings.Cut(id, `"`)
		body = p.files[id]
	}
	for _, mark := range []string{`"custom_id":"`, `"metadata":{"key":"`} {
		for _, part := range strings.Split(body, mark)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			_, id, _ = strings.Cut(id, "_")
			p.items[id]++
		}
	}
}

var batchWires = []goldens.Candidate{
	{Name: "openai", Provider: "sim-openai", Model: "sim-strong"},
	{Name: "responses", Provider: "sim-responses", Model: "sim-erratic"},
	{Name: "anthropic", Provider: "sim-anthropic", Model: "sim-weak"},
	{Name: "gemini", Provider: "sim-gemini", Model: "sim-strong", Agent: "tools"},
}

func batchOptions(t testing.TB, p http.RoundTripper, tasks ...string) harness.Options {
	t.Helper()
	o := recordOver(t, func(string) http.RoundTripper { return p }, tasks...)
	o.Candidates, o.Select.Candidates = batchWires, nil
	o.Batch = &batching.Settings{Settle: 5 * time.Millisecond, Poll: time.Millisecond, MaxWait: 10 * time.Second}
	o.Retry.Sleep = noSleep
	return o
}

// ordinary takes what differs in a batched run, and what differs in every run, out of rows.
func ordinary(rows ledger.Rows) ledger.Rows {
	for i := range rows.Episodes {
		e := &rows.Episodes[i]
		e.RunID, e.Replayed, e.CostNanoUSD, e.ElapsedUs, e.CassetteDigest = "", false, nil, nil, ""
		for k := range e.Requests {
			e.Requests[k].TsAsked = 0
		}
	}
	for i := range rows.Turns {
		t := &rows.Turns[i]
		t.RunID, t.Replayed, t.CostNanoUSD, t.SavedNanoUSD, t.Batched, t.ServiceTier = "", false, nil, nil, false, ""
		t.TsStart, t.TsEnd, t.DurationUs, t.ActionID, t.ParentActionID = 0, 0, nil, "", ""
	}
	for i := range rows.ToolCalls {
		c := &rows.ToolCalls[i]
		c.RunID, c.Replayed, c.TsStart, c.TsEnd, c.DurationUs, c.ActionID, c.ParentActionID, c.DurationSpike = "", false, 0, 0, 0, "", "", false
	}
	return rows
}

func batchRows(t testing.TB, dir string) ledger.Rows {
	t.Helper()
	rows, err := ledger.Read(dir)
	require.NoError(t, err)
	return rows
}

// A run recorded in batches has the ledger of one recorded by single requests, apart from times,
// costs and the columns of batches, and its replay has its own.
func TestBatchEqualsSingleRequests(t *testing.T) {
	tasks := []string{"G01", "G05", "G09", "C0*"}
	single := batchOptions(t, newBatchProvider(""), tasks...)
	single.Batch = nil
	want, err := harness.Run(context.Background(), single)
	require.NoError(t, err)

	o := batchOptions(t, newBatchProvider(""), tasks...)
	got, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Empty(t, got.Excluded.First)
	rows := batchRows(t, got.Dir)
	cost, saved := int64(0), int64(0)
	for _, turn := range rows.Turns {
		require.True(t, turn.Batched)
		require.Equal(t, "batch", turn.ServiceTier)
		require.Nil(t, turn.DurationUs)
		require.Nil(t, turn.TTFTUs)
		cost, saved = cost+*turn.CostNanoUSD, saved+*turn.SavedNanoUSD
	}
	require.Nil(t, rows.Episodes[0].ElapsedUs)
	require.Equal(t, cost, saved, "a batch costs half")
	require.Equal(t, ordinary(batchRows(t, want.Dir)), ordinary(rows))

	o.Mode, o.Batch, o.Transport = recorder.Replay, nil, nil
	o.Cassettes = os.DirFS(o.CassetteDir)
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Empty(t, replayed.Excluded.First)
	require.Equal(t, digestOf(t, got.Dir), digestOf(t, replayed.Dir))
}

func digestOf(t testing.TB, dir string) string {
	t.Helper()
	m, err := manifest.Read(dir)
	require.NoError(t, err)
	return m.LedgerDigest
}

// Whatever happens to batches and single requests of them, every episode ends: with a result where
// asking again helps, without one where it does not.
func TestBatchFaults(t *testing.T) {
	for faults, solvable := range map[string]bool{
		"expire=0.3": true, "error=0.3": true, "lose=0.3": true, "twice": true, "unanswered": true, "full=0.5": true,
		"expire=0.1,error=0.1,lose=0.1,twice=0.5,unanswered=0.5,full=0.2": true,
		"reject": false, "refuse": false, "cancel": false, "expire": false,
	} {
		t.Run(faults, func(t *testing.T) {
			t.Parallel()
			p := newBatchProvider(faults)
			o := batchOptions(t, p, "G01", "G05", "C03")
			o.Mode, o.CassetteDir = recorder.Live, ""
			o.Retry.Attempts = 12
			res, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			if !solvable {
				require.Equal(t, 12, res.Manifest.Outcomes.InfraErrors, "%v", res.Excluded)
				return
			}
			require.Empty(t, res.Excluded.First)
			if faults == "unanswered" || faults == "twice" {
				for id, n := range p.items {
					require.Equal(t, 1, n, "request %s is in one batch", id)
				}
			}
		})
	}
}

// A run that is killed before or after any request of a batch API resumes: it has the ledger of a
// run that was not, and no request is in two batches.
func TestKilledBatchRunResumes(t *testing.T) { killedBatchRuns(t, 6) }

// TestBatchRunKilledAtEveryRequest is TestKilledBatchRunResumes without leaving any out.
func TestBatchRunKilledAtEveryRequest(t *testing.T) {
	testkit.Slow(t)
	killedBatchRuns(t, 1)
}

// killedBatchRuns kills runs at every step-th request to a batch API.
func killedBatchRuns(t *testing.T, step int) {
	tasks := []string{"G05"}
	p := newBatchProvider("")
	whole, err := harness.Run(context.Background(), batchOptions(t, p, tasks...))
	require.NoError(t, err)
	want := ordinary(batchRows(t, whole.Dir))
	for n := 1; n <= p.calls; n += step {
		for _, sent := range []bool{false, true} {
			t.Run(fmt.Sprintf("request %d, sent %t", n, sent), func(t *testing.T) {
				t.Parallel()
				killed(t, n, sent, want, tasks)
			})
		}
	}
}

// snapshot copies folders at one moment: it begins again if anything was written meanwhile,
// because other episodes still write.
func snapshot(to string, folders map[string]string) error {
	for {
		before, err := foldersDigest(folders)
		for name, from := range folders {
			err = errors.Join(err, os.CopyFS(filepath.Join(to, name), os.DirFS(from)))
		}
		after, errAfter := foldersDigest(folders)
		if err = errors.Join(err, errAfter); err == nil && before == after {
			return nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
}

// foldersDigest is a digest of the files in folders.
func foldersDigest(folders map[string]string) (string, error) {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		err := filepath.WalkDir(folders[name], func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			_, _ = fmt.Fprintf(h, "%q %q\n", path, text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return string(h.Sum(nil)), nil
}

func killed(t *testing.T, n int, sent bool, want ledger.Rows, tasks []string) {
	p := newBatchProvider("")
	o := batchOptions(t, p, tasks...)
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	dead, kept := errors.New("the process was killed"), t.TempDir()
	hook := func(at int) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if at == n && ctx.Err() == nil {
			kill()
			if err := snapshot(kept, map[string]string{"runs": o.Runs, "cassettes": o.CassetteDir}); err != nil {
				return err
			}
		}
		if at >= n {
			return dead
		}
		return nil
	}
	if sent {
		p.after = hook
		p.before = func(at int) error {
			if at > n {
				return dead
			}
			return nil
		}
	} else {
		p.before = hook
	}
	first, err := harness.Run(ctx, o)
	if err == nil && first.Manifest.Status == "complete" {
		return // the requests came in another order, and fewer were needed
	}
	p.before, p.after = nil, nil
	o.Runs, o.CassetteDir = filepath.Join(kept, "runs"), filepath.Join(kept, "cassettes")
	o.Resume = filepath.Base(first.Dir)
	require.NoError(t, os.MkdirAll(o.CassetteDir, 0o777))
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Empty(t, res.Excluded.First)
	require.Equal(t, want, ordinary(batchRows(t, res.Dir)))
	for id, count := range p.items {
		require.Equal(t, 1, count, "request %s is in one batch", id)
	}
}

// No spending cap is passed by batches, whose worst case is reserved before they are submitted,
// and requests that wait for reservations do not block the batch that would free them.
func TestBatchKeepsCaps(t *testing.T) {
	p := newBatchProvider("error=0.2")
	o := batchOptions(t, p)
	o.Mode, o.CassetteDir = recorder.Live, ""
	for i := range batchWires {
		o.Candidates[i].MaxTokens = new(400)
	}
	o.Caps = admission.Caps{CostNanoUSD: 60_000_000}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Positive(t, res.Manifest.Outcomes.BudgetStops+res.Manifest.Outcomes.Unfinished)
	require.Positive(t, res.Manifest.Outcomes.Solved)
	spent := int64(0)
	for _, turn := range batchRows(t, res.Dir).Turns {
		if turn.CostNanoUSD != nil {
			spent += *turn.CostNanoUSD
		}
	}
	require.LessOrEqual(t, spent, o.Caps.CostNanoUSD)
	require.Greater(t, spent, o.Caps.CostNanoUSD/4, "the worst case is that of batch prices")
}

// A drained run says which batches go on; resuming collects their replies.
func TestDrainedBatchRun(t *testing.T) {
	p := slowBatchProvider("", 200*time.Millisecond)
	o := batchOptions(t, p, "G05")
	drain := make(chan struct{})
	p.before = func(n int) error {
		if n == 12 {
			close(drain)
			time.Sleep(20 * time.Millisecond)
		}
		return nil
	}
	o.Drain = drain
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.True(t, res.Interrupted)
	require.NotEmpty(t, res.Waiting)
	require.Contains(t, res.Waiting[0], "resuming the run collects the replies")
	o.Drain, o.Resume = nil, filepath.Base(res.Dir)
	p.before = nil
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Empty(t, res.Excluded.First)
	require.Equal(t, "complete", res.Manifest.Status)
	for id, n := range p.items {
		require.Equal(t, 1, n, "request %s is in one batch", id)
	}
}

// What cannot be batched is refused before the run, for every candidate.
func TestBatchIsRefused(t *testing.T) {
	unbatched, err := price.Parse([]byte(`{version: 2026-05-01, prices: [{provider: sim-openai, models: [sim-weak], input: "1", output: "2", source: test}]}`))
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		change func(*harness.Options)
		says   string
	}{
		"a replay": {func(o *harness.Options) { o.Mode = recorder.Replay }, "a replay sends no requests"},
		"a person": {func(o *harness.Options) {
			o.Human = func(context.Context, episode.Question) (episode.Answer, bool) { return episode.Answer{}, false }
		}, "too long for a person"},
		"no batch API": {func(o *harness.Options) {
			o.Candidates = []goldens.Candidate{{Name: "a", Provider: "sim-ollama", Model: "sim-weak"}, {Name: "b", Provider: "sim-tgi", Model: "sim-weak"}}
		}, "candidate b: provider sim-tgi has no batch API that cupel knows; those that have: anthropic, gemini, openai, openai-responses, sim-anthropic"},
		"no batch price": {func(o *harness.Options) {
			o.Candidates = []goldens.Candidate{{Name: "a", Provider: "sim-openai", Model: "sim-weak"}}
			o.Prices = unbatched
		}, `candidate a: the price table has no batch price of model sim-weak of provider sim-openai, so the cost of the run would be unknown; add services: {batch: "0.5"} to its prices`},
		"a stream": {func(o *harness.Options) {
			o.Candidates = []goldens.Candidate{{Name: "a", Provider: "sim-openai", Model: "sim-weak", Stream: true}}
		}, "candidate a: batches cannot be streamed"},
	} {
		t.Run(name, func(t *testing.T) {
			o := batchOptions(t, newBatchProvider(""), "G01")
			tt.change(&o)
			_, err := harness.Run(context.Background(), o)
			var config *harness.ConfigError
			require.ErrorAs(t, err, &config)
			require.ErrorContains(t, err, tt.says)
		})
	}
}
