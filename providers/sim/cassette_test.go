package sim

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// recording is a cassette of the counts suite, as far as it is used.
type recording struct {
	Cupel struct {
		Candidate string
		Simulated bool
	}
	Interactions []struct {
		Request struct {
			Body, URL, Method string
			Headers           map[string][]string
		}
		Response struct {
			Body string
			Code int
		}
	}
}

// TestCassettesAreWhatTheSimulatorSays: every shipped cassette was recorded with
// seed 1, and the simulator still gives its replies to its requests, byte for
// byte.
func TestCassettesAreWhatTheSimulatorSays(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "goldens", "counts", "cassettes", "*", "*", "*.yaml"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 20)
	h := Handler(Config{Seed: 1})
	exchanges := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var r recording
		require.NoError(t, yaml.Unmarshal(data, &r), file)
		require.True(t, r.Cupel.Simulated, file)
		for i, x := range r.Interactions {
			at, err := url.Parse(x.Request.URL)
			require.NoError(t, err)
			req := httptest.NewRequest(x.Request.Method, at.Path, strings.NewReader(x.Request.Body))
			req.Header = http.Header(x.Request.Headers)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			require.Equal(t, x.Response.Code, w.Code, "%s, exchange %d", file, i)
			require.Equal(t, x.Response.Body, w.Body.String(), "%s, exchange %d", file, i)
			exchanges++
		}
	}
	t.Logf("%d exchanges of %d cassettes", exchanges, len(files))
}
