package cmd

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers/sim"
)

// If the provider changed the model behind a name between two runs, their comparison says so, even
// if neither run made a canary observation.
func TestComparisonAcrossAChangeOfTheModel(t *testing.T) {
	var served atomic.Value
	served.Store("gpt-x-2026-01")
	models := sim.Handler(sim.Config{Seed: 1, Books: booksFor(t)})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		models.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		w.WriteHeader(answer.Code)
		_, _ = io.WriteString(w, strings.ReplaceAll(answer.Body.String(), "sim-strong-2026-11", served.Load().(string)))
	}))
	defer server.Close()
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("cupel.yaml", []byte("suite: suites/first\ncandidates:\n  - {name: gpt, provider: openai-compatible, base_url: "+server.URL+"/v1, model: sim-strong}\n"), 0o644))
	cupel := func(args ...string) string {
		t.Helper()
		var out, problems strings.Builder
		none := func(string) (string, bool) { return "", false }
		code := execute(&process{args: args, stdout: &out, stderr: &problems, env: none, now: time.Now})
		require.Zero(t, code, "%v: %s", args, problems.String())
		return out.String()
	}
	cupel("init")
	cupel("run", "--mode", "live", "--quiet")
	require.NotContains(t, cupel("canary"), "changed on")
	served.Store("gpt-x-2026-09")
	require.Contains(t, cupel("canary"), "served model gpt-x-2026-01 → gpt-x-2026-09")
	cupel("run", "--mode", "live", "--quiet")

	text := cupel("compare", "previous", "latest", "-o", "-.md")
	require.Contains(t, text, "The model behind gpt (sim-strong) changed on 20")
	require.Contains(t, text, "Model behind the name")
	cupel("run", "--mode", "live", "--quiet")
	require.NotContains(t, cupel("compare", "previous", "latest", "-o", "-.md"), "odel behind", "both runs are after the change")
}
