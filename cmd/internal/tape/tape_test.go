package tape

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// TestMain is also a program that asks every API as its SDK does: see requests.
func TestMain(m *testing.M) {
	if os.Getenv("TAPE_CLIENT") == "" {
		os.Exit(m.Run())
	}
	for _, r := range requests(os.Getenv) {
		req, err := http.NewRequest(http.MethodPost, r.url, strings.NewReader(r.body)) //nolint:noctx // a program of its own
		if err != nil {
			panic(err)
		}
		req.Header.Set(r.header, r.key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			panic(err)
		}
		text, err := io.ReadAll(resp.Body)
		fmt.Println(resp.StatusCode, string(text), err)
	}
	os.Exit(0)
}

// request is what an SDK sends.
type request struct{ url, header, key, body string }

func requests(env func(string) string) []request {
	body := func(fields string) string { return `{"model": "m", ` + fields + `}` }
	return []request{
		{env("OPENAI_BASE_URL") + "/chat/completions", "Authorization", "Bearer " + env("OPENAI_API_KEY"), body(`"messages": []`)},
		{env("OPENAI_BASE_URL") + "/responses", "Authorization", "Bearer " + env("OPENAI_API_KEY"), body(`"input": "my key is ` + env("OPENAI_API_KEY") + ` at ` + env("OPENAI_BASE_URL") + `"`)},
		{env("ANTHROPIC_BASE_URL") + "/v1/messages", "X-Api-Key", env("ANTHROPIC_API_KEY"), body(`"max_tokens": 9`)},
		{env("ANTHROPIC_BASE_URL") + "/messages", "Authorization", "Bearer " + env("ANTHROPIC_AUTH_TOKEN"), body(`"max_tokens": 8`)},
		{env("GOOGLE_GEMINI_BASE_URL") + "/v1beta/models/m:generateContent", "X-Goog-Api-Key", env("GEMINI_API_KEY"), `{"contents": []}`},
		{env("GOOGLE_GEMINI_BASE_URL") + "/v1beta/models/m:generateContent?key=" + env("GEMINI_API_KEY"), "Accept", "*/*", `{"contents": [1]}`},
		{env("OLLAMA_HOST") + "/api/chat", "Authorization", "Bearer " + env("OLLAMA_API_KEY"), body(`"messages": []`)},
		{env("CO_API_URL") + "/v2/chat", "Authorization", "Bearer " + env("CO_API_KEY"), body(`"messages": []`)},
		{env("CO_API_URL") + "/model/m/converse", "Authorization", "Bearer " + env("OPENAI_API_KEY"), body(`"messages": []`)},
		{env("OPENAI_BASE_URL") + "/files?key=" + env("OPENAI_API_KEY"), "Authorization", "Bearer " + env("OPENAI_API_KEY"), body(`"purpose": "user_data"`)},
	}
}

// keys are planted in the user's environment.
var keys = map[string]string{
	"OPENAI_API_KEY": "sk-planted-openai-0123456789", "ANTHROPIC_API_KEY": "planted-anthropic-0123456789", "GEMINI_API_KEY": "planted-gemini-0123456789",
	"OLLAMA_API_KEY": "planted-ollama-0123456789", "CO_API_KEY": "planted-cohere-0123456789", "MISTRAL_API_KEY": "planted-mistral-0123456789",
	"ANTHROPIC_AUTH_TOKEN": "planted-bearer-0123456789",
}

// TestEveryAPI: each API is recorded and replayed, each provider gets its own key where the
// command had the token, and no key reaches the command, the cassette or what is printed.
func TestEveryAPI(t *testing.T) {
	var mu sync.Mutex
	var got []string
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+r.Header.Get("X-Goog-Api-Key")+r.URL.RawQuery)
		_, _ = fmt.Fprintf(w, `{"reply": %d}`, len(got))
	}))
	defer provider.Close()
	env := []string{
		"TAPE_CLIENT=1", "PATH=" + os.Getenv("PATH"), "OPENAI_BASE_URL=" + provider.URL + "/openai/v1", "ANTHROPIC_BASE_URL=" + provider.URL, "GOOGLE_GEMINI_BASE_URL=" + provider.URL + "/google/",
		"OLLAMA_HOST=" + strings.TrimPrefix(provider.URL, "http://"), "CO_API_URL=" + provider.URL,
	}
	for name, key := range keys {
		env = append(env, name+"="+key)
	}
	file := filepath.Join(t.TempDir(), "new", "llm.yaml")
	run := func(env []string) (stdout, log string) {
		t.Helper()
		self, err := os.Executable()
		require.NoError(t, err)
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		require.NoError(t, err)
		defer func() { require.NoError(t, out.Close()) }()
		var said bytes.Buffer
		code, err := Run(t.Context(), Options{
			File: file, Mode: Auto, Command: []string{self}, Env: env, Stdout: out, Stderr: out, Log: &said, Secrets: secrets.New(), Now: time.Now,
		})
		text, failed := os.ReadFile(out.Name())
		require.NoError(t, failed)
		require.NoError(t, err, "%s%s", text, said.String())
		require.Zero(t, code, "%s%s", text, said.String())
		return string(text), said.String()
	}
	first, log := run(env)
	require.Equal(t, []string{
		"/openai/v1/chat/completions Bearer sk-planted-openai-0123456789", "/openai/v1/responses Bearer sk-planted-openai-0123456789",
		"/v1/messages planted-anthropic-0123456789", "/v1/messages Bearer planted-bearer-0123456789", "/google/v1beta/models/m:generateContent planted-gemini-0123456789",
		"/google/v1beta/models/m:generateContent planted-gemini-0123456789", "/api/chat Bearer planted-ollama-0123456789", "/v2/chat Bearer planted-cohere-0123456789",
	}, got)
	require.Contains(t, first, "cupel tape does not support /model/m/converse: it forwards the APIs of OpenAI,")
	require.Contains(t, log, "recorded 8 requests")
	require.Contains(t, log, "POST /v1/files: not forwarded")
	cassette, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(cassette), `my key is <token> at <proxy>/v1`)
	replayed, log := run([]string{"TAPE_CLIENT=1", "PATH=" + os.Getenv("PATH")})
	require.Equal(t, first, replayed)
	require.Len(t, got, 8)
	require.Contains(t, log, "replayed 8 requests")
	for _, text := range []string{first, replayed, log, string(cassette)} {
		for _, key := range keys {
			for _, form := range []string{key, base64.StdEncoding.EncodeToString([]byte(key)), hex.EncodeToString([]byte(key))} {
				require.NotContains(t, text, form)
			}
		}
	}
}

// TestNoKeyIsPassedOn: whatever holds a key of a provider, and however, the command's
// environment does not.
func TestNoKeyIsPassedOn(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := slices.Compact(slices.Sorted(maps.Values(all.Keys())))
	for range 300 {
		random.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		env := []string{"OTHER=stays", "EMPTY=", "no variable"}
		planted := names[:1+random.IntN(5)]
		for i, name := range planted {
			key := fmt.Sprintf("planted%x", random.Uint64())
			env = append(env, name+"="+key)
			for k, form := range []string{"%s", "Bearer %s", `{"key": "%s"}`, "https://user:%s@host/?key=%[1]s"} {
				if random.IntN(2) == 0 {
					env = append(env, fmt.Sprintf("COPY_%d_%d=", i, k)+fmt.Sprintf(form, key))
				}
			}
		}
		out, keys := environment(env, upstreams(), "http://127.0.0.1:1/e/t", "token", random.IntN(2) == 0)
		require.Len(t, keys, len(planted))
		require.Subset(t, out, []string{"OTHER=stays", "EMPTY="})
		require.NotContains(t, strings.Join(out, "\n"), "planted")
		for _, name := range planted {
			require.Contains(t, out, name+"=token")
		}
	}
}

// TestLock: a cassette is recorded by one process at a time.
func TestLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "llm.yaml")
	unlock, err := lock(file)
	require.NoError(t, err)
	_, err = lock(file)
	require.ErrorContains(t, err, "another cupel process records it; wait for it to end")
	unlock()
	unlock, err = lock(file)
	require.NoError(t, err)
	unlock()
	require.NoFileExists(t, file+".lock")
}
