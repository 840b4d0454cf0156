package harness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// paid counts the answered requests by their identity.
type paid struct {
	next http.RoundTripper
	key  func(req *http.Request, body string) string

	mu     sync.Mutex
	count  map[string]int
	answer func(n int) // is called for every answer, before it is read
}

func byID(req *http.Request, _ string) string { return req.Header.Get("X-Client-Request-Id") }

var prompts = regexp.MustCompile(`\d+ of \d+`)

func byPrompt(_ *http.Request, body string) string { return prompts.FindString(body) }

func (p *paid) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	again := req.Clone(req.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := p.next.RoundTrip(again)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count == nil {
		p.count = map[string]int{}
	}
	p.count[p.key(req, string(body))]++
	if p.answer != nil {
		p.answer(len(p.count))
	}
	return resp, nil
}

// journals returns the joined texts of the journals in a folder.
func journals(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".journal") {
			got, err := recorder.Recover(path)
			require.NoError(t, err)
			all.Write(got.Cassette)
		}
		return err
	}))
	return all.String()
}

// requireNoJournals checks that only cassettes are left.
func requireNoJournals(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.True(t, d.IsDir() || strings.HasSuffix(path, ".yaml"), path)
		return err
	}))
}

// After a failure of the provider, a resumed run repeats only the failed request of the episode, so
// that every request is answered once.
func TestResumeRepeatsOnlyFailedRequests(t *testing.T) {
	o := recordOptions(t, "G01", "G02", "G39", "G41")
	o.Select.Candidates = []string{"strong", "weak"}
	network := &paid{next: o.Transport(""), key: byID}
	broken := &breaking{next: network}
	o.Concurrency, o.Retry.Attempts = 1, 2
	o.Retry.Sleep = noSleep
	for _, answers := range []int32{6, 1, 3, 1 << 20} {
		broken.left.Store(answers)
		o.Transport = func(string) http.RoundTripper { return broken }
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		o.Resume = res.Manifest.RunID
		if answers < 100 {
			require.Equal(t, "partial", res.Manifest.Status)
			require.Positive(t, res.Excluded.ByKind["transport"])
			continue
		}
		require.Equal(t, "complete", res.Manifest.Status)
		require.Zero(t, res.Manifest.Outcomes.WithoutResult())
		for id, n := range network.count {
			require.Equal(t, 1, n, "request %s", id)
		}
		require.Len(t, network.count, turns(t, res))
		requireNoJournals(t, o.CassetteDir)
		o.Resume, o.Cassettes = "", os.DirFS(o.CassetteDir)
		require.Equal(t, replayed(t, o).Manifest.LedgerDigest, res.Manifest.LedgerDigest)
	}
}

// turns returns the number of turns of a run.
func turns(t *testing.T, res harness.Result) int {
	t.Helper()
	rows, err := ledger.Read(res.Dir)
	require.NoError(t, err)
	return len(rows.Turns)
}

// After a cancelled run with parallel calls, requests with a recorded reply are not repeated, in
// any order of the other replies.
func TestResumeOfParallelCalls(t *testing.T) {
	for _, after := range []int{1, 5, 11, 17, 23} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			w := newRandomFaults(uint64(after))
			w.fails = false
			o := fanOptions(t, fan{wide: 6, deep: 4}, w)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			network := &paid{next: w, key: byPrompt, answer: func(n int) {
				if n == after {
					cancel()
				}
			}}
			o.Transport = func(string) http.RoundTripper { return network }
			stopped, err := harness.Run(ctx, o)
			require.NoError(t, err)
			require.True(t, stopped.Interrupted)
			kept := map[string]bool{}
			for _, prompt := range prompts.FindAllString(journals(t, o.CassetteDir), -1) {
				kept[prompt] = true
			}
			require.GreaterOrEqual(t, len(kept), after-6)
			before := map[string]int{}
			for prompt, n := range network.count {
				before[prompt] = n
			}

			o.Resume = stopped.Manifest.RunID
			res, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			require.Equal(t, "complete", res.Manifest.Status)
			require.Len(t, network.count, 24)
			for prompt, n := range network.count {
				want := 1
				if before[prompt] > 0 && !kept[prompt] {
					want = 2 // in flight when the run was cancelled
				}
				require.Equal(t, want, n, prompt)
			}
			requireNoJournals(t, o.CassetteDir)
			o.Resume = ""
			requireSameEpisodes(t, res, replayed(t, o))
		})
	}
}

// Random machines with retries, HTTP tools, questions and parallel calls are stopped several
// times. Their final recordings replay.
func TestResumeOfStorms(t *testing.T) {
	const storms = 12
	w := newRandomFaults(31)
	o := stormOptions(t, storms, w)
	o.Concurrency = 4
	for n := 0; ; n++ {
		require.Less(t, n, 60, "it ends")
		ctx, cancel := context.WithCancel(context.Background())
		network := &paid{next: w, key: byPrompt}
		var sent atomic.Int32
		o.Transport = func(string) http.RoundTripper {
			return testkit.Transport(func(req *http.Request) (*http.Response, error) {
				if sent.Add(1) == int32(8+n) {
					cancel()
				}
				return network.RoundTrip(req)
			})
		}
		res, err := harness.Run(ctx, o)
		cancel()
		require.NoError(t, err)
		o.Resume = res.Manifest.RunID
		if res.Manifest.Status == "complete" {
			require.Positive(t, n)
			requireNoJournals(t, o.CassetteDir)
			o.Resume = ""
			requireSameEpisodes(t, res, replayed(t, o))
			return
		}
	}
}

// A recorded reply settles a reservation of a killed process, so that the resumed run has spent
// the cost of its replies and no worst case.
func TestResumeSettlesReservationsFromJournals(t *testing.T) {
	o := recordOptions(t, "G41")
	o.Select.Candidates = []string{"strong"}
	o.Caps.Requests = 2
	var killed []byte // the log when the second reply has come and is not yet read
	network := &paid{next: o.Transport(""), key: byID, answer: func(n int) {
		if found, _ := filepath.Glob(filepath.Join(o.Runs, "*", "journal", "spend.log")); n == 2 { // a good pattern
			var err error
			killed, err = os.ReadFile(found[0])
			require.NoError(t, err)
		}
	}}
	o.Transport = func(string) http.RoundTripper { return network }
	capped, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "partial", capped.Manifest.Status)
	log := filepath.Join(capped.Dir, "journal", "spend.log")
	require.Equal(t, 2, strings.Count(string(killed), " r "))
	require.Equal(t, 1, strings.Count(string(killed), " s "))
	require.NoError(t, os.WriteFile(log, killed, 0o644))

	o.Resume, o.Caps.Requests = capped.Manifest.RunID, 3
	again, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "partial", again.Manifest.Status)
	require.Len(t, network.count, 3)
	for id, n := range network.count {
		require.Equal(t, 1, n, id)
	}
	rows, err := ledger.Read(again.Dir)
	require.NoError(t, err)
	var want admission.Spend
	for _, turn := range rows.Turns {
		if turn.In == nil {
			continue // the one that the cap stopped
		}
		want.Requests++
		want.Tokens += *turn.In + *turn.Out + *turn.CacheRead + *turn.CacheWrite
	}
	require.EqualValues(t, 3, want.Requests)
	l, err := admission.OpenSpendLog(log)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	for _, spent := range l.Spent() {
		require.Equal(t, want.Requests, spent.Requests)
		require.Equal(t, want.Tokens, spent.Tokens)
	}
}

// A resumed run does not wait before an attempt that is in the journal.
func TestResumeDoesNotWaitAgain(t *testing.T) {
	o := recordOptions(t, "G01")
	o.Select.Candidates = []string{"strong"}
	network := &paid{next: o.Transport(""), key: byID}
	var sent atomic.Int32
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.Transport = func(string) http.RoundTripper {
		return testkit.Transport(func(req *http.Request) (*http.Response, error) {
			switch n := sent.Add(1); {
			case n <= 2:
				return nil, errors.New("connection reset")
			case n == 4:
				cancel()
				return nil, ctx.Err()
			}
			return network.RoundTrip(req)
		})
	}
	waits := 0
	o.Retry.Sleep = func(context.Context, time.Duration) error { waits++; return nil }
	stopped, err := harness.Run(ctx, o)
	require.NoError(t, err)
	require.Equal(t, 2, waits)
	o.Resume = stopped.Manifest.RunID
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status)
	require.Equal(t, 2, waits)
	rows, err := ledger.Read(res.Dir)
	require.NoError(t, err)
	require.EqualValues(t, 3, rows.Turns[0].Attempts, "as recorded")
	o.Resume, o.Cassettes = "", os.DirFS(o.CassetteDir)
	require.Equal(t, replayed(t, o).Manifest.LedgerDigest, res.Manifest.LedgerDigest)
}

// An episode that is killed between saving its cassette and its rows makes no requests again. If it
// is killed after saving its rows, no journal is left.
func TestResumeBetweenCassetteAndRows(t *testing.T) {
	o := recordOptions(t, "G01", "G02")
	o.Select.Candidates, o.Concurrency = []string{"strong"}, 1
	network := &paid{next: o.Transport(""), key: byID}
	o.Transport = func(string) http.RoundTripper { return network }
	var journal []byte
	o.Traced = func(ledger.EpisodeRows, []episode.Trace) { // its cassette is saved, its rows are not yet kept
		if journal == nil {
			var err error
			journal, err = os.ReadFile(one(t, o.CassetteDir) + ".journal")
			require.NoError(t, err)
		}
	}
	stopped := stopAfter(t, o, 1)
	o.Resume = stopped.Manifest.RunID
	asked := len(network.count)
	log := filepath.Join(stopped.Dir, "journal", "episodes.log")
	rows, err := os.ReadFile(log)
	require.NoError(t, err)
	recorded := one(t, o.CassetteDir)
	cassette, err := os.ReadFile(recorded)
	require.NoError(t, err)

	require.NoError(t, os.Truncate(log, 0)) // the rows are lost, the cassette and the journal are there
	require.NoError(t, os.WriteFile(recorded+".journal", journal, 0o600))
	o.Drain = closed()
	_, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.FileExists(t, recorded+".journal", "its episode has no rows")
	o.Drain = nil
	res := stopAfter(t, o, 1)
	require.Len(t, network.count, asked)
	require.NoFileExists(t, recorded+".journal")
	again, err := os.ReadFile(recorded)
	require.NoError(t, err)
	require.Equal(t, string(cassette), string(again))
	require.Equal(t, 1, res.Manifest.Episodes)

	require.NoError(t, os.WriteFile(log, rows, 0o644)) // and this time they are there
	require.NoError(t, os.WriteFile(recorded+".journal", journal, 0o600))
	_, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	requireNoJournals(t, o.CassetteDir)
	for id, n := range network.count {
		require.Equal(t, 1, n, id)
	}
}

// closed returns a closed channel.
func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// one returns the only cassette in a folder.
func one(t *testing.T, dir string) (found string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".yaml") {
			require.Empty(t, found)
			found = path
		}
		return err
	}))
	return found
}

// A second recorder fails before it sends or writes anything.
func TestSecondRecorderIsRefused(t *testing.T) {
	o := recordOptions(t, "G01")
	network := &paid{next: o.Transport(""), key: byID}
	o.Transport = func(string) http.RoundTripper { return network }
	unlock, err := cassette.Lock(o.CassetteDir)
	require.NoError(t, err)
	_, err = harness.Run(context.Background(), o)
	require.ErrorIs(t, err, cassette.ErrLocked)
	require.ErrorContains(t, err, o.CassetteDir)
	require.Empty(t, network.count)
	entries, err := os.ReadDir(o.Runs)
	require.NoError(t, err)
	require.Empty(t, entries)
	unlock()
	_, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
}
