package recorder

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/cassette"
)

// A replay repeats a transport failure at the same byte, with the same text, at the recorded
// time.
func TestFailuresAreRecordedAndReplayed(t *testing.T) {
	timeout := &net.OpError{Op: "read", Net: "tcp", Err: context.DeadlineExceeded}
	for name, c := range map[string]struct {
		base     answer
		reads    string
		status   int
		text     string
		timedOut bool
	}{
		"before the response": {answer(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }), "", 0, "connection refused", false},
		"a lost connection":   {answer(func(*http.Request) (*http.Response, error) { return nil, io.EOF }), "", 0, "EOF", false},
		"a timeout":           {answer(func(*http.Request) (*http.Response, error) { return nil, timeout }), "", 0, timeout.Error(), true},
		"in the body": {answer(func(*http.Request) (*http.Response, error) {
			return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Header: http.Header{}, Body: &chunkBody{chunks: []string{"a", "bc"}, end: io.ErrUnexpectedEOF}}, nil
		}), "abc", 200, "unexpected EOF", false},
		"a very long word": {answer(func(*http.Request) (*http.Response, error) {
			return nil, errors.New(strings.Repeat("ä", maxFailure))
		}), "", 0, strings.Repeat("ä", maxFailure/2) + "…", false},
	} {
		t.Run(name, func(t *testing.T) {
			meet := func(r *Recorder) (string, Exchange, error) {
				req, seen := observed(post(t, "https://api.test/", "{}"))
				resp, err := r.RoundTrip(req)
				var got []byte
				if err == nil {
					got, err = io.ReadAll(resp.Body)
					require.NoError(t, resp.Body.Close())
				}
				require.Error(t, err)
				require.Len(t, *seen, 1)
				return string(got), (*seen)[0], err
			}
			r := newRecording(t, c.base)
			r.o.Now = ticker(time.Millisecond)
			reads, recorded, _ := meet(r)
			require.Equal(t, c.reads, reads)
			require.Equal(t, c.status, recorded.Status)
			back := saved(t, r)
			reads, replayed, err := meet(back)
			require.Equal(t, c.reads, reads)
			require.EqualError(t, err, c.text)
			var known net.Error
			require.ErrorAs(t, err, &known)
			require.Equal(t, c.timedOut, known.Timeout())
			require.True(t, replayed.Replayed)
			replayed.Replayed = false
			require.Equal(t, recorded, replayed)
			require.Zero(t, back.Leftover())
		})
	}
}

func TestEndsThatContradictThemselves(t *testing.T) {
	for name, spoil := range map[string]func(*cassette.Interaction){
		"closed and failed":        func(it *cassette.Interaction) { it.ClosedEarly, it.Failure = true, "x" },
		"timed out without a word": func(it *cassette.Interaction) { it.Failure, it.TimedOut = "", true },
		"no status, no failure":    func(it *cassette.Interaction) { it.Response.Code = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			recorded := sampled()
			require.NoError(t, recorded.Check())
			spoil(&recorded.Interactions[0])
			require.Error(t, recorded.Check())
		})
	}
}
