package sim

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// get makes a request to the handler without a body.
func get(t *testing.T, h http.Handler, path string, header ...string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var m map[string]any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &m), w.Body)
	return w.Code, m
}

// Every list has every model, under a name that its API accepts.
func TestModelLists(t *testing.T) {
	h := Handler(Config{})
	anthropicHeader := []string{"Anthropic-Version", "2023-06-01"}
	for _, c := range []struct {
		path, list, name string
		header           []string
		ask              func(name string) (path, body string)
	}{
		{"/v1/models", "data", "id", nil, func(n string) (string, string) {
			return chatPath, `{"model":"` + n + `","messages":[` + hiTurn + `]}`
		}},
		{"/v1/models", "data", "id", anthropicHeader, func(n string) (string, string) {
			return messagesPath, `{"model":"` + n + `","max_tokens":9,"messages":[` + hiTurn + `]}`
		}},
		{"/v1beta/models", "models", "name", nil, func(n string) (string, string) {
			return "/v1beta/" + n + ":generateContent", `{"contents":[{"parts":[{"text":"hi"}]}]}`
		}},
		{"/api/tags", "models", "name", nil, func(n string) (string, string) {
			return "/api/chat", `{"model":"` + n + `","messages":[` + hiTurn + `]}`
		}},
	} {
		status, m := get(t, h, c.path, c.header...)
		require.Equal(t, http.StatusOK, status)
		list, _ := m[c.list].([]any)
		require.Len(t, list, len(allProfiles()), c.path)
		for _, one := range list {
			name, _ := one.(map[string]any)[c.name].(string)
			path, body := c.ask(name)
			require.Equal(t, http.StatusOK, post(t, h, path, body).Code, "%s names %s", c.path, name)
		}
	}
	_, m := get(t, h, "/v1/models", anthropicHeader...)
	require.Equal(t, false, m["has_more"])
	require.Equal(t, "sim-strong", m["first_id"])
	_, m = get(t, h, "/v1/models/sim-weak", anthropicHeader...)
	require.Equal(t, "model", m["type"])
	_, m = get(t, h, "/v1/models/sim-weak")
	require.Equal(t, "model", m["object"])
	_, m = get(t, h, "/v1beta/models/sim-weak")
	require.Equal(t, "models/sim-weak", m["name"])

	for _, c := range []struct{ path, contains string }{{"/v1/models/none", "does not exist"}, {"/v1beta/models/none", "models/none is not found"}} {
		status, m := get(t, h, c.path)
		require.Equal(t, http.StatusNotFound, status)
		require.Contains(t, m["error"].(map[string]any)["message"], c.contains)
	}
	status, m := get(t, h, "/v1/models/none", anthropicHeader...)
	require.Equal(t, http.StatusNotFound, status)
	require.Equal(t, "not_found_error", m["error"].(map[string]any)["type"])
}

func TestOllamaShow(t *testing.T) {
	h := Handler(Config{})
	for _, body := range []string{`{"model":"sim-probe"}`, `{"model":"sim-probe:latest"}`, `{"name":"sim-probe"}`} {
		w := post(t, h, "/api/show", body)
		require.Equal(t, http.StatusOK, w.Code)
		var m struct {
			Capabilities []string
			ModelInfo    map[string]any `json:"model_info"`
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &m))
		require.Contains(t, m.Capabilities, "tools")
		require.EqualValues(t, simulatedWindow, m.ModelInfo["sim.context_length"])
	}
	for body, want := range map[string]string{`{"model":"none"}`: "model 'none' not found", `{}`: "model is required", `{`: "unexpected EOF"} {
		w := post(t, h, "/api/show", body)
		require.GreaterOrEqual(t, w.Code, 400)
		require.JSONEq(t, `{"error":"`+want+`"}`, w.Body.String())
	}
	_, m := get(t, h, "/api/version")
	require.Contains(t, m["version"], "simulated")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/show", nil))
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
}
