package sim

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// recording has the parts of a cassette of a built-in suite that these tests use.
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

// saidAgain sends the requests of a cassette to the simulator and compares the replies,
// in which members can be in another order. It returns the number of requests.
func saidAgain(t *testing.T, h http.Handler, name string, data []byte) int {
	t.Helper()
	var r recording
	require.NoError(t, yaml.Unmarshal(data, &r), name)
	require.True(t, r.Cupel.Simulated, name)
	require.NotEmpty(t, r.Interactions, name)
	for i, x := range r.Interactions {
		at, err := url.Parse(x.Request.URL)
		require.NoError(t, err)
		req := httptest.NewRequest(x.Request.Method, at.Path, strings.NewReader(x.Request.Body))
		req.Header = http.Header(x.Request.Headers)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		require.Equal(t, x.Response.Code, w.Code, "%s, exchange %d", name, i)
		require.JSONEq(t, x.Response.Body, w.Body.String(), "%s, exchange %d", name, i)
	}
	return len(r.Interactions)
}

// TestCassettesAreWhatTheSimulatorSays checks that the simulator still gives the
// replies of every shipped cassette. They were recorded with seed 1.
func TestCassettesAreWhatTheSimulatorSays(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "goldens", "counts", "cassettes", "*", "*", "*.yaml"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 20)
	suite, err := load.Suite(counts.FS, "counts", counts.Worlds())
	require.NoError(t, err)
	h := following(t, suite)
	exchanges := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		exchanges += saidAgain(t, h, file, data)
	}
	t.Logf("%d exchanges of %d cassettes", exchanges, len(files))
}

// TestResearchPackIsWhatTheSimulatorSays does the same for every exchange in the
// recordings of the research suite.
func TestResearchPackIsWhatTheSimulatorSays(t *testing.T) {
	pack, err := cassette.OpenPack(research.FS, cassettes.PackName)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pack.Close()) })
	suite, err := load.Suite(research.FS, "research", research.Worlds())
	require.NoError(t, err)
	require.Equal(t, len(suite.Candidates)*len(suite.Tasks), pack.Len(), "the pack has nothing else")
	h := following(t, suite)
	for _, c := range suite.Candidates {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			exchanges := 0
			for i, task := range suite.Tasks {
				if i%testkit.SlowN(3, 1) != 0 {
					continue
				}
				name := cassettes.Path(task.ID, c.Name, 1)
				data, err := fs.ReadFile(pack, name)
				require.NoError(t, err)
				exchanges += saidAgain(t, h, name, data)
			}
			t.Logf("%d exchanges", exchanges)
		})
	}
}

// following returns a server whose models have the playbook of a suite.
func following(t *testing.T, suite *goldens.Suite) http.Handler {
	t.Helper()
	book, err := load.Playbook(suite)
	require.NoError(t, err)
	return Handler(Config{Seed: 1, Books: []*playbook.Book{book}})
}
