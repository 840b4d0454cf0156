package recorder

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sleepClock is a clock that advances only by sleeping.
type sleepClock struct {
	at    time.Time
	slept []time.Duration
}

func (d *sleepClock) now() time.Time { return d.at }

func (d *sleepClock) sleep(ctx context.Context, wait time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.at = d.at.Add(wait)
	d.slept = append(d.slept, wait)
	return nil
}

// paced records one exchange with a clock that advances 10 ms per reading, and opens it for
// replay at a speed.
func paced(t *testing.T, base answer, speed float64) (*Recorder, *sleepClock) {
	t.Helper()
	r := newRecording(t, base)
	r.o.Now = ticker(10 * time.Millisecond)
	if resp, err := r.RoundTrip(post(t, "https://api.test/", "{}")); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		require.NoError(t, resp.Body.Close())
	}
	require.NoError(t, r.Save())
	d := &sleepClock{at: time.Unix(0, 0)}
	o := r.o
	o.Mode, o.Speed, o.Now, o.Sleep = Replay, speed, d.now, d.sleep
	back, err := New(o)
	require.NoError(t, err)
	return back, d
}

func TestReplayKeepsTheRecordedPace(t *testing.T) {
	const ms = time.Millisecond
	// Reads came at 10, 20 and 30 ms, the end at 40.
	cases := map[string]struct {
		speed float64
		want  []time.Duration
	}{
		"at once":       {0, nil},
		"as recorded":   {1, []time.Duration{10 * ms, 10 * ms, 10 * ms, 10 * ms}},
		"twice as fast": {2, []time.Duration{5 * ms, 5 * ms, 5 * ms, 5 * ms}},
		"half as fast":  {0.5, []time.Duration{20 * ms, 20 * ms, 20 * ms, 20 * ms}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, d := paced(t, says("one", "two", "three"), c.speed)
			req, seen := observed(post(t, "https://api.test/", "{}"))
			resp, got := ask(t, r, req)
			require.Equal(t, []string{"one", "two", "three"}, got)
			require.Equal(t, c.want, d.slept)
			require.Len(t, *seen, 1)
			require.Equal(t, 10*ms, (*seen)[0].FirstByte, "the recorded times at any speed")
			require.Equal(t, 40*ms, (*seen)[0].Duration)
			require.Equal(t, 30*ms, resp.Body.(interface{ Elapsed() time.Duration }).Elapsed())
		})
	}
}

// The delays of the reader do not add to the recorded ones, and a recorded read that the caller
// reads in pieces is delayed once.
func TestAPaceCountsFromSending(t *testing.T) {
	r, d := paced(t, says("one", "two", "three"), 1)
	resp, err := r.RoundTrip(post(t, "https://api.test/", "{}"))
	require.NoError(t, err)
	p := make([]byte, 2)
	for _, want := range []string{"on", "e"} {
		n, err := resp.Body.Read(p)
		require.NoError(t, err)
		require.Equal(t, want, string(p[:n]))
	}
	require.Equal(t, []time.Duration{10 * time.Millisecond}, d.slept)
	d.at = d.at.Add(15 * time.Millisecond) // now 25: the second read is late, the third due in 5
	require.Equal(t, []string{"two", "three"}, readAll(t, resp.Body))
	require.Equal(t, []time.Duration{10 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond}, d.slept)
	_, err = resp.Body.Read(p)
	require.ErrorIs(t, err, io.EOF, "the end stays the end")
	require.NoError(t, resp.Body.Close())
}

func TestAFailureComesInItsTime(t *testing.T) {
	refused := errors.New("connection refused")
	r, d := paced(t, answer(func(*http.Request) (*http.Response, error) { return nil, refused }), 1)
	req, seen := observed(post(t, "https://api.test/", "{}"))
	_, err := r.RoundTrip(req)
	require.EqualError(t, err, "connection refused")
	require.Equal(t, []time.Duration{10 * time.Millisecond}, d.slept)
	require.Len(t, *seen, 1)

	r, d = paced(t, answer(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: &chunkBody{chunks: []string{"a"}, end: refused}}, nil
	}), 1)
	resp, err := r.RoundTrip(post(t, "https://api.test/", "{}"))
	require.NoError(t, err)
	_, err = io.ReadAll(resp.Body)
	require.EqualError(t, err, "connection refused")
	require.Equal(t, []time.Duration{10 * time.Millisecond, 10 * time.Millisecond}, d.slept)
	require.NoError(t, resp.Body.Close())
}

// These waits are in real time and would take an hour if they were not interrupted.
func TestAWaitEnds(t *testing.T) {
	open := func(t *testing.T, base answer) *Recorder {
		r, _ := paced(t, base, 1e-5)
		o := r.o
		o.Now, o.Sleep = nil, nil
		r, err := New(o)
		require.NoError(t, err)
		return r
	}
	t.Run("with the request", func(t *testing.T) {
		r := open(t, says("a"))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		req, seen := observed(post(t, "https://api.test/", "{}").WithContext(ctx))
		resp, err := r.RoundTrip(req)
		require.NoError(t, err, "the answer's head does not wait")
		_, err = resp.Body.Read(make([]byte, 1))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, resp.Body.Close())
		require.Len(t, *seen, 1)
	})
	t.Run("with the client's timeout", func(t *testing.T) {
		client := &http.Client{Transport: open(t, says("a")), Timeout: 5 * time.Millisecond}
		resp, err := client.Do(post(t, "https://api.test/", "{}"))
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.True(t, os.IsTimeout(err), "%v", err)
		require.NoError(t, resp.Body.Close())
	})
	t.Run("with the body", func(t *testing.T) {
		resp, err := open(t, says("a")).RoundTrip(post(t, "https://api.test/", "{}"))
		require.NoError(t, err)
		time.AfterFunc(5*time.Millisecond, func() { _ = resp.Body.Close() })
		_, err = resp.Body.Read(make([]byte, 1))
		require.ErrorIs(t, err, http.ErrBodyReadAfterClose)
	})
	t.Run("before an answer", func(t *testing.T) {
		r := open(t, answer(func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		_, err := r.RoundTrip(post(t, "https://api.test/", "{}").WithContext(ctx))
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestReplayWaitsForReal(t *testing.T) {
	r, _ := paced(t, says("one", "two", "three"), 2)
	o := r.o
	o.Now, o.Sleep = nil, nil
	r, err := New(o)
	require.NoError(t, err)
	start := time.Now()
	ask(t, r, post(t, "https://api.test/", "{}"))
	require.GreaterOrEqual(t, time.Since(start), 20*time.Millisecond)
}

func TestASpeedIsFiniteAndNotNegative(t *testing.T) {
	for _, speed := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := New(Options{Mode: Live, Speed: speed})
		require.ErrorContains(t, err, "it must be 0 (at once) or more, 1 is the recorded pace")
	}
	r, d := paced(t, says("a"), math.SmallestNonzeroFloat64)
	ask(t, r, post(t, "https://api.test/", "{}"))
	require.Len(t, d.slept, 1, "no wait is so long that it overflows")
}
