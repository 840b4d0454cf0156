//go:build unix

package cmd

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// biller is a provider that bills a random amount for each request, up to its worst case.
type biller struct {
	mu               sync.Mutex
	rng              *rand.Rand
	requests, tokens int64
}

func (l *biller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // an incomplete request is billed, too
	l.mu.Lock()
	in, out := 1+l.rng.Int64N(int64(len(body))/2), l.rng.Int64N(50)
	l.requests++
	l.tokens += in + out
	wait := time.Duration(l.rng.IntN(60)) * time.Millisecond
	l.mu.Unlock()
	time.Sleep(wait)
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%q}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`,
		`{"control":{"done":true,"reason":"cannot_proceed"},"next_action":{"type":"respond","message":"I cannot."},"state_update":{"plan":"p","observation":"o","confidence":0.1}}`,
		in, out, in+out) // fails if the client was killed
}

// A live run that is repeatedly killed and resumed is billed at most its cap by all its processes
// together, because requests in flight count with their worst case.
func TestKilledRunsStayBelowTheirCap(t *testing.T) {
	testkit.Slow(t)
	var served atomic.Int64
	together(t, testkit.Long(6, 20), 6, func(t *testing.T, i int) {
		bill := &biller{rng: rand.New(rand.NewPCG(8, uint64(i)))}
		server := httptest.NewServer(bill)
		t.Cleanup(server.Close)
		b := newBench(t)
		require.Zero(t, b.run(0, "init").code)
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, "cupel.yaml"), []byte(
			"suite: suites/first\ncandidates:\n  - {name: local, provider: openai-compatible, model: m, max_tokens: 50, base_url: "+server.URL+"/v1}\n"), 0o644))
		requests, tokens := int64(0), int64(0)
		args := []string{"run", "--mode", "live", "--trials", "20", "--concurrency", "8"}
		if i%2 == 0 {
			requests = 10 + bill.rng.Int64N(40)
			args = append(args, "--max-requests", fmt.Sprint(requests))
		} else {
			tokens = 10_000 + bill.rng.Int64N(20_000)
			args = append(args, "--max-tokens", fmt.Sprint(tokens))
		}
		rng := rand.New(rand.NewPCG(9, uint64(i)))
		for n := range 5 {
			kill := time.Duration(0)
			if n < 4 {
				kill = 50*time.Millisecond + time.Duration(rng.IntN(400))*time.Millisecond
			}
			if dir := b.folder(); dir != "" {
				args = []string{"run", "--resume", filepath.Base(dir)}
			}
			before := b.journaled()
			if end := b.run(kill, args...); end.code >= 0 {
				require.Equal(t, exit.Failed, end.code, "the cap does not suffice\n%s", end.text)
				require.Contains(t, end.text, "the cap on spending is reached")
				require.Regexp(t, goOn, end.text)
			}
			require.Subset(t, b.journaled(), before)
			bill.mu.Lock()
			if requests > 0 {
				require.LessOrEqual(t, bill.requests, requests)
			} else {
				require.LessOrEqual(t, bill.tokens, tokens)
			}
			bill.mu.Unlock()
		}
		served.Add(bill.requests) // none if the kills came before the requests whose cost was reserved
		end := b.run(0, "run", "--resume", "latest", "--max-requests", "100000", "--max-tokens", "100000000")
		require.Zero(t, end.code, end.text)
		m, err := manifest.Read(b.folder())
		require.NoError(t, err)
		require.Equal(t, "complete", m.Status)
		require.Equal(t, 60, m.Episodes)
	})
	require.Positive(t, served.Load())
}
