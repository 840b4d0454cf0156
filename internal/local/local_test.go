package local_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/local"
)

// finder finds the word "key".
type finder struct{ from string }

func (*finder) Find(text string) string {
	if strings.Contains(text, "key") {
		return "word"
	}
	return ""
}

func (f *finder) Redact(from, text string) string {
	f.from = from
	return strings.ReplaceAll(text, "key", "***")
}

func TestPost(t *testing.T) {
	f := &finder{}
	for _, c := range []struct {
		text, err, instead string // what is made, and what takes its place
		secrets            bool
		want, wantErr      string
	}{
		{text: `"key"`, want: `"key"`},
		{text: `{"a":1}`, secrets: true, want: `{"a":1}`},
		{text: `"key"`, secrets: true, instead: `"instead"`, want: `"instead"`},
		{text: `"key"`, secrets: true, wantErr: "instead"},
		{err: "no key", wantErr: "no key"},
		{err: "no key", secrets: true, wantErr: "no ***"},
		{text: `"` + strings.Repeat("a", 100) + `"`, want: `"` + strings.Repeat("a", 49)},
	} {
		transport := local.Transport{}
		if c.secrets {
			transport.Secrets = f
		}
		made := func(text, wrong string) ([]byte, error) {
			if text == "" {
				return nil, errors.New(wrong)
			}
			return []byte(text), nil
		}
		got, err := local.Post(t.Context(), transport, "http://test.invalid/x", []byte("{}"), 50, local.Answer{
			From:    "test",
			Make:    func(context.Context) ([]byte, error) { return made(c.text, c.err) },
			Instead: func() ([]byte, error) { return made(c.instead, "instead") },
		})
		if require.Equal(t, c.want, string(got)); c.wantErr == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.wantErr)
		}
	}
	require.Equal(t, "test", f.from)
}

func TestRequestsOfOthers(t *testing.T) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://test.invalid/x", strings.NewReader("{}"))
	require.NoError(t, err)
	require.False(t, local.Transport{}.Handles(req))
	_, err = local.Transport{}.RoundTrip(req)
	require.ErrorContains(t, err, "send a request to test.invalid: nothing here answers it")
}
