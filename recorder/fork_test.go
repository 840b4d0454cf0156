package recorder

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// recordedPast returns a recording of a reply in several reads, a failure and a plain reply,
// opened for replay.
func recordedPast(t *testing.T) *Recorder {
	t.Helper()
	r := newRecording(t, says("one, ", "in pieces"))
	r.o.Now = ticker(time.Millisecond)
	ask(t, r, post(t, "https://old.test/", `{"turn":1}`))
	r.o.Base = answer(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection reset") })
	_, err := r.RoundTrip(post(t, "https://old.test/", `{"turn":2}`))
	require.Error(t, err)
	r.o.Base = says("three")
	ask(t, r, post(t, "https://old.test/", `{"turn":3}`))
	return saved(t, r)
}

// The new cassette begins with the exchanges that the past answered, in the order of the
// requests and otherwise as on the old cassette.
func TestForkCassetteBeginsWithItsPast(t *testing.T) {
	source := recordedPast(t)
	next := newRecording(t, says("new"))
	next.o.Header = cassette.Header{Task: "T", Fork: "T/c/1@2", ForkRecorded: "2026-05-20", Digests: map[string]string{ForkDigest: source.Digest()}}
	past := NewPast(source, next)
	require.False(t, past.Live())
	require.True(t, next.Live())

	failed, first := observed(post(t, "https://old.test/", `{"turn":2}`))
	_, err := past.RoundTrip(failed)
	require.EqualError(t, err, "connection reset")
	req, second := observed(post(t, "https://old.test/", `{ "turn": 1 }`))
	resp, reads := ask(t, past, req)
	require.Same(t, req, resp.Request)
	require.Equal(t, []string{"one, ", "in pieces"}, reads)
	was := source.index.data.Interactions
	require.Equal(t, []Exchange{{Index: 0, Digest: was[1].Digest, Duration: was[1].Response.Duration, Replayed: true}}, *first)
	require.Equal(t, []Exchange{{
		Index: 1, Digest: was[0].Digest, Status: 200, FirstByte: was[0].FirstByte, Duration: was[0].Response.Duration, Replayed: true,
	}}, *second)
	ask(t, past, post(t, "https://old.test/", `{"turn":3}`)) // without an observer
	ask(t, next, post(t, "https://new.test/", `{"turn":4}`))

	back := saved(t, next)
	require.Equal(t, next.o.Header, back.Header())
	got := back.index.data.Interactions
	require.Len(t, got, 4)
	require.Equal(t, []cassette.Interaction{was[1], was[0], was[2]}, got[:3])
	require.Equal(t, "new", got[3].Response.Body)
	_, reads = ask(t, back, post(t, "https://old.test/", `{"turn":1}`))
	require.Equal(t, []string{"one, ", "in pieces"}, reads)
}

// In a live run the exchanges of the past are those of the old cassette.
func TestLiveForkDoesNotRecordItsPast(t *testing.T) {
	source := recordedPast(t)
	next, err := New(Options{Mode: Live, Base: says("new")})
	require.NoError(t, err)
	req, seen := observed(post(t, "https://old.test/", `{"turn":3}`))
	_, reads := ask(t, NewPast(source, next), req)
	require.Equal(t, []string{"three"}, reads)
	require.Equal(t, 2, (*seen)[0].Index)
	require.NoError(t, next.Save())
	require.Empty(t, next.Digest())
}

// A miss, a cancelled run and a body that was not read leave the cassette on disk unchanged.
func TestForkWithoutAnAnswerOfItsPastIsNotSaved(t *testing.T) {
	for name, request := range map[string]func(t *testing.T, past *Past){
		"a miss": func(t *testing.T, past *Past) {
			_, err := past.RoundTrip(post(t, "https://old.test/", `{"turn":9}`))
			var miss *MissError
			require.ErrorAs(t, err, &miss)
		},
		"a stopped run": func(t *testing.T, past *Past) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := past.RoundTrip(post(t, "https://old.test/", `{"turn":1}`).WithContext(ctx))
			require.ErrorIs(t, err, context.Canceled)
		},
		"an unread body": func(t *testing.T, past *Past) {
			_, err := past.RoundTrip(post(t, "https://old.test/", `{"turn":1}`))
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			next := newRecording(t, says("new"))
			request(t, NewPast(recordedPast(t), next))
			require.ErrorContains(t, next.Save(), "interaction 0 (POST https://old.test/) is not finished")
			require.NoFileExists(t, cassetteFile(next))
		})
	}
}

// A fork does not copy a credential that was unknown when its past was recorded.
func TestForkRefusesSecretsOfItsPast(t *testing.T) {
	next := newRecording(t, says("new"))
	next.o.Secrets = secrets.New("in pieces")
	ask(t, NewPast(recordedPast(t), next), post(t, "https://old.test/", `{"turn":1}`))
	var secret *cassette.SecretError
	require.ErrorAs(t, next.Save(), &secret)
	require.Equal(t, "response.body", secret.Field)
}
