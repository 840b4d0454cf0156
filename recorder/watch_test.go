package recorder

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Spent never exceeds the final Duration of the exchanges and equals it at the end. A replayed
// exchange counts immediately.
func TestWatch(t *testing.T) {
	at := time.Unix(100, 0)
	r := newRecording(t, says("one, ", "two"))
	r.o.Now = func() time.Time { return at }
	var w Watch
	require.Zero(t, w.Spent())
	seen := time.Duration(0)
	ctx := Watched(Observe(context.Background(), func(x Exchange) { seen += x.Duration }), &w)
	request := func() *http.Request { return post(t, "https://api.test/", `{}`).WithContext(ctx) }

	resp, err := r.RoundTrip(request())
	require.NoError(t, err)
	pass := func(d time.Duration) { at = at.Add(d) }
	pass(1500 * time.Nanosecond)
	require.Equal(t, time.Microsecond, w.Spent(), "whole microseconds")
	pass(time.Second)
	_, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	pass(time.Hour) // after the end
	require.NoError(t, resp.Body.Close())
	require.Equal(t, time.Second+time.Microsecond, w.Spent())
	require.Equal(t, seen, w.Spent())

	r.o.Base = answer(func(*http.Request) (*http.Response, error) {
		pass(time.Minute)
		require.Equal(t, seen+time.Minute, w.Spent(), "before there is a response")
		return nil, errors.New("connection reset")
	})
	_, err = r.RoundTrip(request())
	require.Error(t, err)
	require.Equal(t, seen, w.Spent())
	require.Greater(t, w.Spent(), time.Minute)

	back, replayed := saved(t, r), Watch{}
	resp, err = back.RoundTrip(post(t, "https://api.test/", `{}`).WithContext(Watched(context.Background(), &replayed)))
	require.NoError(t, err)
	require.Equal(t, time.Second+time.Microsecond, replayed.Spent())
	require.NoError(t, resp.Body.Close())
}
