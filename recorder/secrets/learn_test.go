package secrets

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

func TestLearn(t *testing.T) {
	const value = "abcdefgh-ijklmnop-42"
	for name, c := range map[string]struct {
		header, value, url string
		known              bool
	}{
		"bearer":            {header: "Authorization", value: "Bearer " + value, known: true},
		"bare":              {header: "X-Api-Key", value: value, known: true},
		"Google":            {header: "X-Goog-Api-Key", value: value, known: true},
		"Azure":             {header: "Api-Key", value: value, known: true},
		"AWS session":       {header: "X-Amz-Security-Token", value: value, known: true},
		"cookie":            {header: "Cookie", value: value, known: true},
		"a tool's own":      {header: "X-Planted-Token", value: value, known: true},
		"query":             {url: "?a=b&key=" + value, known: true},
		"query, escaped":    {url: "?access_token=abcdefgh%2Dijklmnop%2D42", known: true},
		"password":          {url: "p", known: true},
		"signature":         {header: "Authorization", value: "AWS4-HMAC-SHA256 Credential=" + value},
		"idempotency":       {header: "X-Idempotency-Key", value: value},
		"content type":      {header: "Content-Type", value: value},
		"limits are no key": {header: "X-Ratelimit-Limit-Tokens", value: value},
		"short placeholder": {header: "Authorization", value: "Bearer simulated"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New()
			address := "https://api.test/" + c.url
			if c.url == "p" {
				address = "https://user:" + value + "@api.test/"
			}
			req, err := http.NewRequest(http.MethodGet, address, nil)
			require.NoError(t, err)
			req.Header.Set(c.header, c.value)
			if c.header == "" {
				req.Header = http.Header{}
			}
			resp, err := s.Watch(testkit.Transport(func(req *http.Request) (*http.Response, error) {
				return &http.Response{Body: http.NoBody}, nil
			})).RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, c.known, s.Find("it is "+value) != "")
			require.Empty(t, s.Find("simulated user AWS4-HMAC-SHA256"))
		})
	}
}
