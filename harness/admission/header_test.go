package admission

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

// refills returns the allowance of a limit that refills continuously.
func refills(k kind, left float64, reset time.Duration, limit float64) allowance {
	return allowance{kind: k, left: left, reset: reset, refills: true, limit: limit}
}

func TestAllowances(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name   string
		header http.Header
		want   []allowance
	}{
		{"none", headers("Content-Type", "application/json"), nil},
		{"openai", headers("x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests", "59", "x-ratelimit-reset-requests", "1s",
			"x-ratelimit-limit-tokens", "150000", "x-ratelimit-remaining-tokens", "149984", "x-ratelimit-reset-tokens", "1m6s"),
			[]allowance{refills(ofRequests, 59, time.Second, 60), refills(ofMost, 149984, 66*time.Second, 150000)}},
		{"a fraction of a second", headers("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "120ms"), []allowance{refills(ofRequests, 0, 120*time.Millisecond, 0)}},
		{"groq", headers("x-ratelimit-remaining-tokens", "17997", "x-ratelimit-reset-tokens", "7.66s"), []allowance{refills(ofMost, 17997, 7660*time.Millisecond, 0)}},
		{"a long time", headers("x-ratelimit-limit-requests", "14400", "x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "24h0m0s"), []allowance{refills(ofRequests, 0, 24*time.Hour, 14400)}},
		{"azure, in seconds", headers("x-ratelimit-remaining-requests", "9", "x-ratelimit-reset-requests", "10", "x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "60"),
			[]allowance{refills(ofRequests, 9, 10*time.Second, 0), refills(ofMost, 0, time.Minute, 0)}},
		{"azure, without a time", headers("x-ratelimit-remaining-requests", "0", "x-ratelimit-remaining-tokens", "0"), nil},
		{"a gateway that tells when its window ends", headers("x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests", "3", "x-ratelimit-reset-requests", "1777636830"),
			[]allowance{{kind: ofRequests, left: 3, reset: 30 * time.Second}}},
		{"another one", headers("x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests", "3", "x-ratelimit-reset-requests", "2026-05-01T12:00:01Z"),
			[]allowance{{kind: ofRequests, left: 3, reset: time.Second}}},
		{"anthropic", headers("anthropic-ratelimit-requests-limit", "50", "anthropic-ratelimit-requests-remaining", "49", "anthropic-ratelimit-requests-reset", "2026-05-01T12:00:01Z",
			"anthropic-ratelimit-tokens-remaining", "8000", "anthropic-ratelimit-tokens-reset", "2026-05-01T12:00:02Z",
			"anthropic-ratelimit-input-tokens-remaining", "5000", "anthropic-ratelimit-input-tokens-reset", "2026-05-01T12:00:03Z",
			"anthropic-ratelimit-output-tokens-limit", "8000", "anthropic-ratelimit-output-tokens-remaining", "0", "anthropic-ratelimit-output-tokens-reset", "2026-05-01T14:00:04+02:00"),
			[]allowance{refills(ofRequests, 49, time.Second, 50), refills(ofUsed, 8000, 2*time.Second, 0), refills(ofInput, 5000, 3*time.Second, 0), refills(ofOutput, 0, 4*time.Second, 8000)}},
		{"by the reply's own clock", headers("Date", "Fri, 01 May 2026 11:00:00 GMT", "anthropic-ratelimit-requests-remaining", "1", "anthropic-ratelimit-requests-reset", "2026-05-01T11:00:30Z"),
			[]allowance{refills(ofRequests, 1, 30*time.Second, 0)}},
		{"openrouter: milliseconds since 1970", headers("X-RateLimit-Remaining", "3", "X-RateLimit-Reset", "1777636830500"), []allowance{{left: 3, reset: 30500 * time.Millisecond}}},
		{"seconds since 1970", headers("X-RateLimit-Limit", "9", "X-RateLimit-Remaining", "3", "X-RateLimit-Reset", "1777636830"), []allowance{{left: 3, reset: 30 * time.Second}}},
		{"an HTTP date", headers("RateLimit-Remaining", "3", "RateLimit-Reset", "Fri, 01 May 2026 12:00:07 GMT"), []allowance{{left: 3, reset: 7 * time.Second}}},
		{"draft 6", headers("RateLimit-Limit", "100", "RateLimit-Remaining", "50", "RateLimit-Reset", "50"), []allowance{{left: 50, reset: 50 * time.Second}}},
		{"draft 7", headers("RateLimit", "limit=100, remaining=5, reset=3", "RateLimit-Policy", "100;w=60"), []allowance{{left: 5, reset: 3 * time.Second}}},
		{"draft 10", headers("RateLimit", `"burst";r=0;t=30, "day";r=7;t=9000`), []allowance{{reset: 30 * time.Second}, {left: 7, reset: 9000 * time.Second}}},
		{"draft 10: the window of the policy", headers("RateLimit-Policy", `"burst";q=100;w=60,"day";q=1000`, "RateLimit", `"burst";r=5,"day";r=1`), []allowance{{left: 5, reset: time.Minute}}},
		{"in the past", headers("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1777636799"), nil},
		{"nonsense", headers("x-ratelimit-remaining-requests", "many", "x-ratelimit-reset-requests", "1s", "x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "soon",
			"RateLimit", `;;=,"",r=,=`, "X-RateLimit-Remaining", "-1", "X-RateLimit-Reset", "5", "RateLimit-Remaining", "NaN", "RateLimit-Reset", "5"), nil},
		{"infinite", headers("X-RateLimit-Remaining", "Inf", "X-RateLimit-Reset", "5", "RateLimit-Remaining", "1", "RateLimit-Reset", "1e300"), nil},
		{"negative", headers("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "-5", "RateLimit-Remaining", "0", "RateLimit-Reset", "-5s"), nil},
		{"the largest duration", headers("RateLimit-Remaining", "0", "RateLimit-Reset", "2562047h47m16s"), []allowance{{reset: 30 * 24 * time.Hour}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, allowances(test.header, func() time.Time { return now }))
		})
	}
}

// times returns when simultaneous requests may be sent after the header.
func times(t *testing.T, l *Lane, n int, r Request) []time.Duration {
	t.Helper()
	start := time.Now()
	var list []time.Duration
	for range n {
		p, err := l.Acquire(t.Context(), r)
		require.NoError(t, err)
		list = append(list, time.Since(start))
		p.Done(Result{})
	}
	return list
}

func TestHeadersPauseAndSpread(t *testing.T) {
	s := func(list ...float64) (d []time.Duration) {
		for _, n := range list {
			d = append(d, time.Duration(n*float64(time.Second)))
		}
		return d
	}
	for _, test := range []struct {
		name   string
		header http.Header
		want   []time.Duration
	}{
		{"nothing left", headers("RateLimit-Remaining", "0", "RateLimit-Reset", "30"), s(30, 30, 30)},
		{"enough left", headers("RateLimit-Remaining", "8", "RateLimit-Reset", "30"), s(0, 0, 0)},
		{"few left: over the time", headers("RateLimit-Remaining", "3", "RateLimit-Reset", "30"), s(0, 10, 20, 30, 30, 30)},
		{"the tighter of two", headers("RateLimit", `"a";r=5;t=10, "b";r=2;t=8`), s(0, 4, 8, 8)},
		{"a pause, and few of another", headers("RateLimit", `"a";r=0;t=5, "b";r=2;t=8`), s(5, 8, 8)},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var changes []Change
				l := New(Options{Changed: func(c Change) { changes = append(changes, c) }}).Lane("p", "k")
				each := Request{Output: 1000}
				p := acquire(t, l, each)
				p.Header(test.header)
				p.Header(headers("Content-Type", "text/plain")) // says nothing
				p.Done(Result{})
				require.Equal(t, test.want, times(t, l, len(test.want), each))
				for _, c := range changes[1:] {
					require.Equal(t, Header, c.Why)
					require.True(t, c.Until.After(c.At))
				}
				require.Equal(t, test.want[len(test.want)-1] > 0, len(changes) > 1)
			})
		})
	}
	t.Run("more came back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{}).Lane("p", "k")
			first, second := acquire(t, l, Request{}), acquire(t, l, Request{})
			first.Header(headers("RateLimit-Remaining", "1", "RateLimit-Reset", "60"))
			second.Header(headers("RateLimit-Remaining", "100", "RateLimit-Reset", "60"))
			first.Header(headers("RateLimit-Remaining", "0", "RateLimit-Reset", "60")) // out of date
			first.Done(Result{})
			second.Done(Result{})
			require.Equal(t, s(0, 0), times(t, l, 2, Request{}))
		})
	})
}

// With any headers, a request is sent within the bounds.
func FuzzHeader(f *testing.F) {
	f.Add("0", "6m0s", "2026-05-01T12:00:00Z", `"burst";r=0;t=30`, `"burst";q=1;w=60`)
	f.Add("1e14", "1777636830500", "Fri, 01 May 2026 12:00:07 GMT", "limit=10, remaining=0, reset=1e300", "10;w=NaN")
	f.Add("0.5", "-1", "0001-01-01T00:00:00Z", ",;,=", "=")
	f.Fuzz(func(t *testing.T, left, reset, at, list, policy string) {
		now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
		c := New(Options{Now: func() time.Time { return now }})
		l := c.Lane("p", "k")
		p := acquire(t, l, Request{Output: 1000})
		h := headers("X-Ratelimit-Remaining-Requests", left, "X-Ratelimit-Limit-Requests", at, "X-Ratelimit-Reset-Requests", reset, "Anthropic-Ratelimit-Tokens-Remaining", left,
			"Anthropic-Ratelimit-Tokens-Reset", at, "Date", at, "X-Ratelimit-Remaining", left, "X-Ratelimit-Reset", at, "Ratelimit", list, "Ratelimit-Policy", policy)
		for _, a := range allowances(h, c.now) {
			require.GreaterOrEqual(t, a.left, 0.0)
			require.Greater(t, a.reset, time.Duration(0))
			require.LessOrEqual(t, a.reset, maxReset)
		}
		p.Header(h)
		p.Done(Result{})
		now = now.Add(maxPause)
		acquire(t, l, Request{}).Done(Result{})
	})
}

func BenchmarkHeader(b *testing.B) { // floor: eight look-ups in a map of headers
	p := acquire(b, New(Options{}).Lane("p", "k"), Request{})
	h := headers("x-ratelimit-remaining-requests", "59", "x-ratelimit-reset-requests", "1s", "x-ratelimit-remaining-tokens", "149984", "x-ratelimit-reset-tokens", "6m0s")
	b.ReportAllocs()
	for b.Loop() {
		p.lane.heard = 0
		p.Header(h)
	}
}
