package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const serviceSuite = `name: service
worlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: w, tools: []}
candidates:
  - {name: mine, agent: external, provider: openai-compatible, model: m, base_url: "%[1]s/v1", http: {url: "%[2]s/ask", headers: {X-Service-Key: "{{env.TOOL_KEY}}"}}}
tasks:
  - id: E01
    request: How many?
    expect: {status: answered}
`

// leakingService is an agent that has a provider's key of its own. It sends it with every request to
// the proxy, forwarded or refused, and answers with everything it got.
func leakingService(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var start struct {
		Base string `json:"base_url"`
	}
	if err := json.Unmarshal(body, &start); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Header.Get("X-Service-Key") != canaryTool {
		http.Error(w, "the key is wrong", http.StatusForbidden)
		return
	}
	said := string(body)
	for _, path := range []string{"/v1/chat/completions", "/v1/files/" + canaryTool, "/v1/chat/completions?key=" + canaryTool, "/v1/" + canaryWorld + "/models"} {
		asked := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, "How many? "+string(body))
		req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, start.Base+path, strings.NewReader(asked))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + canaryTool}, "X-Api-Key": {canaryTool}, "Cookie": {"session=" + canaryTool}}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		said += fmt.Sprint(resp.Status, resp.Header, string(text))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"answer": said})
}

// TestServicesLeaveNoSecret: an agent that is a service sends credentials to the proxy, gets one in a
// header, and repeats in its answer all that cupel and the provider sent. None is in the recording, the ledger,
// the journal, the reports or the output, nor in what the agent got.
func TestServicesLeaveNoSecret(t *testing.T) {
	var mu sync.Mutex
	var keys []string
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		mu.Lock()
		keys = append(keys, fmt.Sprint(r.Header.Values("Authorization"), r.Header["X-Api-Key"], r.Header["Cookie"], r.URL.RawQuery, holds(string(text))))
		mu.Unlock()
		for _, name := range []string{"Set-Cookie", "X-Debug-Authorization"} {
			w.Header().Set(name, canaryKey)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"42"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
	}))
	service := httptest.NewServer(http.HandlerFunc(leakingService))
	dir := t.TempDir()
	suite, runs := filepath.Join(dir, "s"), filepath.Join(dir, "runs")
	require.NoError(t, os.MkdirAll(suite, 0o755))
	file := filepath.Join(suite, "suite.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, serviceSuite, provider.URL, service.URL), 0o600))
	env := map[string]string{"LLM_API_KEY": canaryKey, "TOOL_KEY": canaryTool, "AWS_SECRET_ACCESS_KEY": canaryCloud, "HOME": dir}
	var out bytes.Buffer
	run := func(args ...string) int {
		return execute(&process{
			args: append(args, "--runs", runs, "--config", writeEmpty(t, dir)), stdout: &out, stderr: &out, now: time.Now,
			env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		})
	}
	code := run("run", "--suite", suite, "--mode", "record", "--json")
	provider.Close()
	service.Close()
	require.Zero(t, code, out.String())
	require.NotEmpty(t, keys)
	for _, key := range keys {
		require.Equal(t, "[Bearer "+canaryKey+"] [] []", key, "the provider gets its key, and no other")
	}
	require.Contains(t, out.String(), `"status":"answered"`)
	for _, args := range [][]string{{"show", "latest", "E01"}, {"report", "latest", "-o", filepath.Join(dir, "again.md")}, {"run", "--suite", suite}, {"verify", "latest"}} {
		require.Zero(t, run(args...), out.String())
	}
	require.Contains(t, out.String(), "404 Not Found", "the refused requests are in the answer")
	require.NotContains(t, out.String(), "[secret]", "the agent got no credential that had to be replaced in its answer")
	pages, err := filepath.Glob(filepath.Join(runs, "*", "report", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	require.NoError(t, os.Remove(file))
	require.Empty(t, secretIn(t, dir))
	require.Empty(t, holds(out.String()), out.String())
}

// TestServicesThatAnswerWithAKey: what a service answers, or says of an error, has its own key. The
// reports of the run, its ledger and recording, and the output have it nowhere.
func TestServicesThatAnswerWithAKey(t *testing.T) {
	for _, test := range []struct {
		name, mode string
		status     int
		want       string
	}{
		{"an answer", "record", http.StatusOK, "not written: interaction 1 holds a configured secret in request.body"},
		{"an answer that is not recorded", "live", http.StatusOK, "1 of 1 episode solved"},
		{"an error", "record", http.StatusInternalServerError, "the service answered 500"},
	} {
		t.Run(test.name, func(t *testing.T) {
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"42"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
			}))
			defer provider.Close()
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var start struct {
					Base string `json:"base_url"`
				}
				_ = json.NewDecoder(r.Body).Decode(&start)
				if resp, err := http.Post(start.Base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[]}`)); err == nil {
					_ = resp.Body.Close()
				}
				w.Header().Set("X-Key", canaryTool)
				w.WriteHeader(test.status)
				_ = json.NewEncoder(w).Encode(map[string]any{"answer": "My key is " + r.Header.Get("X-Service-Key") + ".", "error": canaryTool})
			}))
			defer service.Close()
			dir := t.TempDir()
			suite, runs := filepath.Join(dir, "s"), filepath.Join(dir, "runs")
			require.NoError(t, os.MkdirAll(suite, 0o755))
			file := filepath.Join(suite, "suite.yaml")
			require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, serviceSuite, provider.URL, service.URL), 0o600))
			env := map[string]string{"LLM_API_KEY": canaryKey, "TOOL_KEY": canaryTool, "HOME": dir}
			var out bytes.Buffer
			run := func(args ...string) int {
				return execute(&process{
					args: append(args, "--runs", runs, "--config", writeEmpty(t, dir)), stdout: &out, stderr: &out, now: time.Now,
					env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
				})
			}
			run("run", "--suite", suite, "--mode", test.mode)
			run("show", "latest", "E01")
			run("report", "latest", "-o", filepath.Join(dir, "again.md"), "-o", filepath.Join(dir, "again.json"), "-o", filepath.Join(dir, "again.html"))
			require.Contains(t, out.String(), test.want)
			pages, err := filepath.Glob(filepath.Join(runs, "*", "report", "*"))
			require.NoError(t, err)
			require.NotEmpty(t, pages, out.String())
			require.NoError(t, os.Remove(file))
			require.Empty(t, secretIn(t, dir))
			require.Empty(t, holds(out.String()), out.String())
		})
	}
}
