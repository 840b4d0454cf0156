package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/recorder"
)

// TestForeignAgentKeys: no credential is in what a service gets, from cupel or from the provider,
// which returns its own; nor on disk or in the ledger, which have no token either.
func TestForeignAgentKeys(t *testing.T) {
	const key, tool = "sk-planted0123456789abcdefghijkl", "planted-tool-key-0123456789abcdef"
	var sent, token atomic.Value
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var s foreignStart
		if err != nil || json.Unmarshal(body, &s) != nil {
			http.Error(w, string(body), http.StatusBadRequest)
			return
		}
		token.Store(s.Key)
		answer, err := simpleForeign(r.Context(), s)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		refused, err := http.Get(s.Base + "/v1/files/" + s.Key) //nolint:noctx // a test
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		text, _ := io.ReadAll(refused.Body)
		_ = refused.Body.Close()
		models, err := http.Get(s.Base + "/v1/models") //nolint:noctx // a test
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = models.Body.Close()
		_ = json.NewEncoder(w).Encode(map[string]string{"answer": fmt.Sprint(answer, r.Header, string(body), refused.Status, string(text), models.Header)})
	}))
	defer service.Close()
	o := foreignOptions(t, service.URL, "G01", "G05")
	o.Key = func(goldens.Candidate) (string, error) { return key, nil }
	sent.Store("")
	inner := o.Transport
	o.Transport = func(p string) http.RoundTripper {
		next := inner(p)
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			sent.Store(req.Header.Get("Authorization"))
			resp, err := next.RoundTrip(req)
			if err == nil {
				resp.Header.Set("Set-Cookie", "session="+key)
				resp.Header.Set("X-Debug-Authorization", key)
			}
			return resp, err
		})
	}
	o.LookupEnv = func(name string) (string, bool) { return map[string]string{"TOOL": tool}[name], name == "TOOL" }
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "Bearer "+key, sent.Load(), "the provider gets its key")
	got, _ := token.Load().(string)
	require.Len(t, got, 32)
	rows := rowsOf(t, recorded)
	require.Contains(t, rows.Episodes[0].Answer, "404 Not Found")
	noSecrets(t, rows, key, tool, got)
	for _, dir := range []string{o.CassetteDir, o.Runs} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			for _, secret := range []string{key, tool, got} {
				require.NotContains(t, string(text), secret, path)
			}
			return err
		}))
	}
	o.Mode, o.Cassettes, o.WithAgent = recorder.Replay, os.DirFS(o.CassetteDir), true
	again, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	noSecrets(t, rowsOf(t, again), key, tool, got)
}

// noSecrets requires that rows have none of them.
func noSecrets(t *testing.T, rows any, secrets ...string) {
	t.Helper()
	text, err := json.Marshal(rows)
	require.NoError(t, err)
	for _, secret := range secrets {
		require.NotContains(t, strings.ToLower(string(text)), strings.ToLower(secret))
	}
}
