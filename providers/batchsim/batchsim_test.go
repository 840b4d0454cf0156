package batchsim_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/batch"
	"github.com/cupel-eval/cupel/providers/batchsim"
	"github.com/cupel-eval/cupel/providers/sim"
)

// Unknown faults and impossible rates are refused before anything listens.
func TestFaultsAreChecked(t *testing.T) {
	for faults, says := range map[string]string{
		"earthquake":   `no fault of batches is called "earthquake"`,
		"lose=2":       `the rate of lose is "2": must be 0 to 1`,
		"lose=NaN":     "must be 0 to 1",
		"expire=0.1,x": `no fault of batches is called "x"`,
	} {
		_, err := batchsim.Start(context.Background(), "", batchsim.Config{Faults: faults})
		require.ErrorContains(t, err, says)
	}
	for _, f := range batchsim.Faults() {
		s, err := batchsim.Start(context.Background(), "", batchsim.Config{Faults: f.Name + "=0.5"})
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}

// form is the upload of a file of requests.
func form(t *testing.T, purpose, text string) (body *bytes.Buffer, kind string) {
	t.Helper()
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	require.NoError(t, w.WriteField("purpose", purpose))
	part, err := w.CreateFormFile("file", "requests.jsonl")
	require.NoError(t, err)
	_, err = part.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return body, w.FormDataContentType()
}

// What a provider refuses, the simulator refuses: by status, or by a batch that fails.
func TestRefusals(t *testing.T) {
	h := batchsim.Handler(batchsim.Config{})
	do := func(method, path, kind, body string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for path, status := range map[string]int{
		"/v1/batches/batch_x": 404, "/v1/files/x/content": 404, "/v1/messages/batches/x": 404, "/v1/messages/batches/x/results": 404, "/v1beta/batches/x": 404,
	} {
		code, _ := do(http.MethodGet, path, "", "")
		require.Equal(t, status, code, path)
	}
	for path, body := range map[string]string{
		"/v1/files": "no form", "/v1/batches": "{}", "/v1/messages/batches": `{"requests":[]}`, "/v1beta/models/sim-weak:batchGenerateContent": "[",
	} {
		code, _ := do(http.MethodPost, path, "application/json", body)
		require.Equal(t, http.StatusBadRequest, code, path)
	}
	line := `{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":{"model":%q,"stream":%t}}` + "\n"
	for says, text := range map[string]string{
		"custom_id of its own":    fmt.Sprintf(line, "a", "m", false) + fmt.Sprintf(line, "a", "m", false),
		"must be for one model":   fmt.Sprintf(line, "a", "m", false) + fmt.Sprintf(line, "b", "n", false),
		"cannot be streamed":      fmt.Sprintf(line, "a", "m", true),
		"line of the file is not": "garbage\n",
	} {
		body, kind := form(t, "batch", text)
		code, reply := do(http.MethodPost, "/v1/files", kind, body.String())
		require.Equal(t, http.StatusOK, code)
		_, id, _ := strings.Cut(reply, `"id":"`)
		id, _, _ = strings.Cut(id, `"`)
		code, reply = do(http.MethodPost, "/v1/batches", "application/json", fmt.Sprintf(`{"input_file_id":%q,"endpoint":"/v1/chat/completions","completion_window":"24h"}`, id))
		require.Equal(t, http.StatusOK, code)
		require.Contains(t, reply, `"status":"failed"`)
		require.Contains(t, reply, says)
	}
}

// An item of a batch gets the bytes that a single request with its id gets.
func TestItemsAreSingleRequests(t *testing.T) {
	cfg := batchsim.Config{Models: sim.Config{Seed: 3}}
	const body = `{"model":"sim-weak","max_tokens":50,"messages":[{"role":"user","content":"hello"}]}`
	single := httptest.NewRequest(http.MethodPost, "http://host/v1/messages", strings.NewReader(body))
	single.Header.Set("X-Client-Request-Id", "one")
	single.Header.Set("X-Api-Key", "key")
	single.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	sim.Handler(cfg.Models).ServeHTTP(w, single.Clone(context.Background()))
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())

	single.Body = io.NopCloser(strings.NewReader(""))
	c, err := batch.New("sim-anthropic", single, testkit.Handled(batchsim.Handler(cfg)))
	require.NoError(t, err)
	ctx := context.Background()
	id, err := c.Submit(ctx, "key", []batch.Item{{ID: "key_one", Body: body}, {ID: "key_two", Body: body}})
	require.NoError(t, err)
	var s batch.State
	for !s.Ended {
		s, err = c.State(ctx, id)
		require.NoError(t, err)
	}
	got := map[string]string{}
	require.NoError(t, c.Results(ctx, id, s, func(r batch.Result) { got[r.ID] = string(r.Body) }))
	require.Len(t, got, 2)
	require.JSONEq(t, w.Body.String(), got["key_one"])
	found, err := c.Find(ctx, batch.Lost{Key: "key", Items: 2, Known: func(string) bool { return false }})
	require.NoError(t, err)
	require.Equal(t, id, found)
}
