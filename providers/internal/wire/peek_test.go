package wire

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// telling answers with a body and a stated length, which can differ.
type telling struct {
	body   io.Reader
	length int64
}

func (a telling) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(a.body), ContentLength: a.length, Request: r}, nil
}

// TestTheLengthToldIsOnlyAHint checks that a body is read to its end, for any stated
// length.
func TestTheLengthToldIsOnlyAHint(t *testing.T) {
	bodies := map[string]string{
		"short": "x", "blank before": strings.Repeat(" ", 5000) + "x", "medium": strings.Repeat("m", 3000),
		"more than is peeked at": strings.Repeat("p", 9000), "long": strings.Repeat("l", 70_000), "stream": "data: a\n\ndata: end\n\n",
	}
	for name, body := range bodies {
		want := body
		if name == "stream" {
			want = "aend"
		}
		for _, length := range []int64{-1, 0, 1, int64(len(body)) - 1, int64(len(body)), int64(len(body)) + 1, 64<<10 - 1, 64 << 10, 1 << 62} {
			for pieces, slow := range map[string]func(io.Reader) io.Reader{
				"at once": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "with its end": iotest.DataErrReader,
			} {
				c, err := New(Dialect{Base: "http://server.test"}, providers.Options{HTTP: &http.Client{Transport: telling{slow(strings.NewReader(body)), length}}})
				require.NoError(t, err)
				r, err := c.Do(context.Background(), providers.Call{}, Request{Path: "/x"}, texts{}, nil)
				require.NoError(t, err, "%s, %s, %d length", name, pieces, length)
				require.True(t, strings.TrimSpace(want) == strings.TrimSpace(r.Text), "%s, %s, %d length: %d bytes", name, pieces, length, len(r.Text))
			}
		}
	}
}

func TestPeekHasRoomForTheRest(t *testing.T) {
	for length, room := range map[int64]int{-1: 8 << 10, 0: 8 << 10, 1: 513, 3000: 3512, 64<<10 - 1: 64<<10 + 511, 64 << 10: 8 << 10} {
		head, err := peek(strings.NewReader("{\"text\":1}"), length)
		require.NoError(t, err)
		require.Equal(t, "{\"text\":1}", string(head))
		require.Equal(t, room, cap(head), "%d length", length)
	}
}

func TestBoundedKeepsWhatIsPlain(t *testing.T) {
	c := &Client{key: "the-key-1"}
	for in, want := range map[string]string{
		"": "", "req_0123-ABC": "req_0123-ABC", "a b": "a b", " a": "a", "a\x7fb": "a b", "é": "é",
		"12345678901234567890": "12345678901234567890", "123456789012345678901": "1234567890123456789…", "xthe-key-1": "x[key]",
	} {
		require.Equal(t, want, c.bounded(in, 20), "%q", in)
	}
}

// A placeholder can be a part of ordinary words, and the word that replaces a key must
// not be searched for keys.
func TestScrubLeavesWordsAlone(t *testing.T) {
	for _, c := range []struct{ key, in, want string }{
		{"k", "no model mock-model, key k", "no model mock-model, key k"},
		{"ollama", "ollama is not running", "ollama is not running"},
		{"12345678", "it is 12345678.", "it is [key]."},
		{"the key]", "the key] the%20key%5D the+key%5D", "[key] the%20key%5D [key]"},
		{"[key] is", "what [key] is", "what [key] is"},
		{"a+b=cdef", "a+b=cdef a%2Bb%3Dcdef", "[key] [key]"},
	} {
		client := &Client{key: c.key}
		clean := client.bounded(c.in, maxMessage)
		require.Equal(t, c.want, clean)
		require.Equal(t, clean, client.scrub(clean), "again")
	}
}
