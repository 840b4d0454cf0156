package wire

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// ending is a decoder of {"text":…,"end":true} documents.
type ending struct{}

func (ending) Whole(b *Builder, body []byte) error {
	_, err := ending{}.Frame(b, Frame{Data: string(body)})
	b.Complete = b.Reply.FinishRaw == "end"
	return err
}

func (ending) Frame(b *Builder, f Frame) (bool, error) {
	var v struct {
		Text string
		End  bool
	}
	if err := json.Unmarshal([]byte(f.Data), &v); err != nil {
		return false, err
	}
	b.Text(v.Text)
	if v.End {
		b.Reply.FinishRaw = "end"
	}
	return v.End, nil
}

func TestHowRepliesEnd(t *testing.T) {
	for _, c := range []struct {
		name, body string
		stream     bool
		kind       providers.Kind // empty: a reply
	}{
		{"whole", `{"text":"a","end":true}`, false, ""},
		{"whole, not finished by its own word", `{"text":"a"}`, false, providers.Transport},
		{"whole, half a document", `{"text":"a`, false, providers.Malformed},
		{"stream", "{\"text\":\"a\"}\n{\"end\":true}\n", true, ""},
		{"stream without an end", "{\"text\":\"a\"}\n", true, providers.Transport},
		{"stream cut in a line", "{\"text\":\"a\"}\n{\"te", true, providers.Transport},
		{"stream with a line that is no JSON", "{\"text\":\"a\"}\nupstream is resting\n", true, providers.Malformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, err := New(Dialect{Base: "http://server.test", Kind: func(Fault) providers.Kind { return "" }}, providers.Options{HTTP: &http.Client{Transport: saying(c.body)}})
			require.NoError(t, err)
			_, err = client.Do(context.Background(), providers.Call{Stream: c.stream}, Request{Framing: Lines}, ending{}, nil)
			if c.kind == "" {
				require.NoError(t, err)
				return
			}
			var e *providers.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.kind, e.Kind)
			require.Equal(t, c.stream, e.Partial)
		})
	}
}

// saying answers every request with a body.
type saying string

func (s saying) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(s))), Request: r}, nil
}
