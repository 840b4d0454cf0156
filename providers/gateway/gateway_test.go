package gateway_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/gateway"
)

// TestParse checks what each API's path and body say about a request.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		method, path, query, body   string
		provider, endpoint, version string
		kind                        gateway.Kind
		model                       string
		stream                      bool
		limit, choices              int
	}{
		{"POST", "/v1/chat/completions", "", `{"model": "m", "stream": true, "max_completion_tokens": 9, "n": 3}`, "openai", "/chat/completions", "/v1", gateway.Chat, "m", true, 9, 3},
		{"POST", "/chat/completions", "", `{"model": "m", "max_tokens": 1e2}`, "openai", "/chat/completions", "", gateway.Chat, "m", false, 100, 1},
		{"POST", "/openai/deployments/mine/chat/completions", "api-version=1", `{}`, "openai", "/chat/completions", "", gateway.Chat, "mine", false, 0, 1},
		{"POST", "/v1/embeddings", "", `{"model": "e"}`, "openai", "/embeddings", "/v1", gateway.Embeddings, "e", false, 0, 1},
		{"GET", "/v1/models", "", ``, "openai", "/models", "/v1", gateway.Models, "", false, 0, 1},
		{"GET", "/v1beta/models/gemini-x", "key=k", ``, "gemini", "/models/gemini-x", "/v1beta", gateway.Models, "gemini-x", false, 0, 1},
		{"POST", "/v1/responses", "", `{"model": "m", "max_output_tokens": 5, "stream": false}`, "openai-responses", "/responses", "/v1", gateway.Chat, "m", false, 5, 1},
		{"POST", "/v1/messages", "beta=true", `{"model": "m", "max_tokens": 7, "stream": true}`, "anthropic", "/messages", "/v1", gateway.Chat, "m", true, 7, 1},
		{"POST", "/v1/messages/count_tokens", "", `{"model": "m"}`, "anthropic", "/messages/count_tokens", "/v1", gateway.Count, "m", false, 0, 1},
		{"POST", "/v1beta/models/gemini-x:streamGenerateContent", "alt=sse", `{"generationConfig": {"maxOutputTokens": 4, "candidateCount": 2}}`, "gemini", "/models/gemini-x:streamGenerateContent", "/v1beta", gateway.Chat, "gemini-x", true, 4, 2},
		{"POST", "/model/us.nova-v1%3A0/converse", "", `{"inferenceConfig": {"maxTokens": 3}}`, "bedrock", "/model/us.nova-v1%3A0/converse", "", gateway.Chat, "us.nova-v1:0", false, 3, 1},
		{"POST", "/model/amazon.titan-embed-v2%3A0/invoke", "", `{}`, "bedrock", "/model/amazon.titan-embed-v2%3A0/invoke", "", gateway.Embeddings, "amazon.titan-embed-v2:0", false, 0, 1},
		{"POST", "/api/chat", "", `{"model": "m", "options": {"num_predict": -1}}`, "ollama", "/api/chat", "", gateway.Chat, "m", true, 0, 1},
		{"POST", "/api/chat", "", `{"model": "m", "stream": false}`, "ollama", "/api/chat", "", gateway.Chat, "m", false, 0, 1},
		{"POST", "/v2/chat", "", `{"model": "m", "max_tokens": 2}`, "cohere", "/chat", "/v2", gateway.Chat, "m", false, 2, 1},
		{"POST", "/generate_stream", "", `{"inputs": "x", "parameters": {"max_new_tokens": 6}}`, "tgi", "/generate_stream", "", gateway.Chat, "", true, 6, 1},
	} {
		t.Run(c.path, func(t *testing.T) {
			r, err := gateway.Parse(c.method, c.path, c.query, http.Header{}, []byte(c.body))
			require.NoError(t, err)
			require.Equal(t, []any{c.provider, c.endpoint, c.version, c.kind, c.model, c.stream, c.limit, c.choices},
				[]any{r.Provider, r.Endpoint, r.Version, r.Kind, r.Model, r.Stream, r.MaxOutput, r.Choices})
			require.Equal(t, all.Wires()[c.provider], r.Wire)
			require.NotContains(t, r.Query, "key=")
		})
	}
	for _, path := range []string{"/v1/files", "/chat", "/v1/responses/resp_1", "/v1/fine_tuning/jobs", "/", "", "/v1//chat/completions", "/a/../chat/completions", "/a/%2E%2e/messages", "/v1/messages/batches", "/%zz/messages"} {
		_, err := gateway.Parse("POST", path, "", http.Header{}, []byte("{}"))
		require.ErrorIs(t, err, gateway.ErrEndpoint, path)
	}
	for _, body := range []string{"", "[]", "{", `{"a": 1}{}`, `{"a": 1, "a": 2}`, `{"a": {"b": 1, "b": 2}}`, "<html>"} {
		_, err := gateway.Parse("POST", "/v1/messages", "", http.Header{}, []byte(body))
		require.ErrorContains(t, err, "is not a JSON object with distinct names", body)
	}
}

// TestURL joins a provider's address and a path, each with and without a version.
func TestURL(t *testing.T) {
	for _, c := range []struct{ path, base, want string }{
		{"/v1/chat/completions", "https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"},
		{"/chat/completions", "https://gateway.example/openai/", "https://gateway.example/openai/chat/completions"},
		{"/v1/chat/completions", "https://api.perplexity.ai", "https://api.perplexity.ai/chat/completions"},
		{"/v1/messages", "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"},
		{"/messages", "https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"},
		{"/v1alpha/models/m:generateContent", "https://g.example", "https://g.example/v1alpha/models/m:generateContent"},
		{"/models/m:generateContent", "https://g.example", "https://g.example/v1beta/models/m:generateContent"},
		{"/api/chat", "http://127.0.0.1:11434", "http://127.0.0.1:11434/api/chat"},
		{"/v2/chat", "https://api.cohere.com/v2", "https://api.cohere.com/v2/chat"},
	} {
		r, err := gateway.Parse("POST", c.path, "", http.Header{}, []byte("{}"))
		require.NoError(t, err)
		require.Equal(t, c.want, r.URL(c.base))
		recorded := gateway.RouteOf("", "POST", r.RecordedURL(), nil)
		require.Equal(t, r.Provider, recorded.Provider)
	}
}

// TestChanges sets another model and a limit, and leaves everything else unchanged byte
// for byte.
func TestChanges(t *testing.T) {
	for _, c := range []struct{ path, body, wantPath, want string }{
		{"/chat/completions", `{ "model": "m" , "messages": []}`, "/chat/completions", `{"max_tokens":5, "model": "new" , "messages": []}`},
		{"/messages", `{}`, "/messages", `{"max_tokens":5,"model":"new"}`},
		{"/messages", `{"max_tokens": 9}`, "/messages", `{"model":"new","max_tokens": 5}`},
		{"/v1beta/models/m:generateContent", `{"generationConfig": {"temperature": 0}}`, "/models/new:generateContent", `{"generationConfig": {"maxOutputTokens":5,"temperature": 0}}`},
		{"/v1beta/models/m:generateContent", `{"contents": []}`, "/models/new:generateContent", `{"generationConfig":{"maxOutputTokens":5},"contents": []}`},
		{"/model/a.b-v1:0/converse", `{}`, "/model/new/converse", `{"inferenceConfig":{"maxTokens":5}}`},
	} {
		t.Run(c.path, func(t *testing.T) {
			r, err := gateway.Parse("POST", c.path, "", http.Header{}, []byte(c.body))
			require.NoError(t, err)
			before := string(r.Body)
			changed, err := r.WithModel("new")
			require.NoError(t, err)
			changed, err = changed.WithMaxOutput(5, "")
			require.NoError(t, err)
			require.Equal(t, c.wantPath, changed.Endpoint)
			require.Equal(t, c.want, string(changed.Body))
			require.Equal(t, []any{"new", 5}, []any{changed.Model, changed.MaxOutput})
			require.Equal(t, before, string(r.Body))
		})
	}
	r, err := gateway.Parse("POST", "/model/m/invoke", "", http.Header{}, []byte("{}"))
	require.NoError(t, err)
	_, err = r.WithMaxOutput(5, "")
	require.ErrorContains(t, err, "has no limit of output tokens")
	for _, c := range []struct{ model, provider, want string }{
		{"gpt-4o", "", `{"max_tokens":5,"model":"gpt-4o"}`}, {"gpt-5-mini", "", `{"max_completion_tokens":5,"model":"gpt-5-mini"}`},
		{"llama", "groq", `{"max_completion_tokens":5,"model":"llama"}`}, {"sim-strong", "sim-openai", `{"max_tokens":5,"model":"sim-strong"}`},
	} {
		r, err := gateway.Parse("POST", "/chat/completions", "", http.Header{}, []byte(`{"model":"`+c.model+`"}`))
		require.NoError(t, err)
		r, err = r.WithMaxOutput(5, c.provider)
		require.NoError(t, err)
		require.Equal(t, c.want, string(r.Body))
	}
	r, err = gateway.Parse("POST", "/embeddings", "", http.Header{}, []byte("{}"))
	require.NoError(t, err)
	_, err = r.WithMaxOutput(5, "")
	require.EqualError(t, err, "openai-chat /embeddings has no limit of output tokens")
}

// TestCompared checks that irrelevant parts of bodies, paths and queries are not
// compared.
func TestCompared(t *testing.T) {
	r, err := gateway.Parse("POST", "/e/TOK/models/m:generateContent", "trace=TOK", http.Header{}, []byte(
		`{"user": "u", "metadata": {"a": 1}, "a": [ {"id": "x1", "keep": 1.0}, "at TOK", {"metadata": 1}], "b/c": {"~": 1, "d": "id-77 of é"}, "e": 1e400}`))
	require.NoError(t, err)
	got, err := r.Compared(gateway.Rules{
		Ignore:  []string{"/a/0/id", "/b~1c/~0", "/absent/0"},
		Replace: []*regexp.Regexp{regexp.MustCompile(`id-\d+`)},
		Fixed:   strings.NewReplacer("TOK", "<token>"),
	})
	require.NoError(t, err)
	require.Equal(t, `{"a":[{"keep":1.0},"at <token>",{"metadata":1}],"b/c":{"d":"[replaced] of é"},"e":1e400}`, string(got.Body))
	require.Equal(t, "trace=<token>", got.Query)
	again, err := got.Compared(gateway.Rules{})
	require.NoError(t, err)
	require.Equal(t, got, again)
	for _, text := range []string{`{"a":"x TOK/1 y"}`, `{"a":"x TOK\/1 y"}`, `{"a":"x T\u004fK/1 y"}`} {
		r, err := gateway.Parse("POST", "/messages", "", http.Header{}, []byte(text))
		require.NoError(t, err)
		got, err := r.Compared(gateway.Rules{Fixed: gateway.Fixed{"TOK/1", "<place>"}})
		require.NoError(t, err)
		require.Equal(t, `{"a":"x <place> y"}`, string(got.Body))
	}
}

// TestFailure checks that the provider of each API reads the API's error format.
func TestFailure(t *testing.T) {
	for _, provider := range []string{"openai", "openai-responses", "anthropic", "gemini", "bedrock", "ollama", "cohere", "tgi"} {
		header, body := gateway.Failure(all.Wires()[provider], http.StatusBadRequest, "cupel: no recording")
		require.Equal(t, "false", header.Get("X-Should-Retry"))
		_, err := gateway.Decode(t.Context(), all.Factories()[provider], "m", false, &http.Response{StatusCode: http.StatusBadRequest, Header: header, Body: http.NoBody})
		require.Error(t, err, provider)
		_, err = gateway.Decode(t.Context(), all.Factories()[provider], "m", false, &http.Response{StatusCode: http.StatusBadRequest, Header: header, Body: io.NopCloser(bytes.NewReader(body))})
		require.ErrorContains(t, err, "cupel: no recording", provider)
		header, _ = gateway.Failure(all.Wires()[provider], http.StatusBadGateway, "no connection")
		require.Empty(t, header.Get("X-Should-Retry"), "a client may repeat what never arrived")
	}
}

// TestHTTP checks that a request goes to the provider's own address with the provider's
// headers.
func TestHTTP(t *testing.T) {
	for _, c := range []struct {
		provider, path, body string
		o                    providers.Options
		want, key            string
	}{
		{"openai", "/v1/chat/completions", `{"model": "m"}`, providers.Options{Key: "k"}, "https://api.openai.com/v1/chat/completions", "Authorization: Bearer k"},
		{"groq", "/chat/completions", `{"model": "m"}`, providers.Options{Key: "k"}, "https://api.groq.com/openai/v1/chat/completions", "Authorization: Bearer k"},
		{"openai", "/v1/embeddings", `{"model": "m"}`, providers.Options{Key: "k", BaseURL: "http://h/v1"}, "http://h/v1/embeddings", "Authorization: Bearer k"},
		{"azure", "/v1/chat/completions", `{"model": "m"}`, providers.Options{Key: "k", BaseURL: "https://x.openai.azure.com/openai/v1"}, "https://x.openai.azure.com/openai/v1/chat/completions", "Api-Key: k"},
		{"openai-responses", "/v1/responses", `{"model": "m"}`, providers.Options{Key: "k"}, "https://api.openai.com/v1/responses", "Authorization: Bearer k"},
		{"anthropic", "/v1/messages/count_tokens", `{"model": "m"}`, providers.Options{Key: "k"}, "https://api.anthropic.com/v1/messages/count_tokens", "X-Api-Key: k"},
		{"gemini", "/v1beta/models/g:streamGenerateContent", `{}`, providers.Options{Key: "k"}, "https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent", "X-Goog-Api-Key: k"},
		{"gemini", "/v1beta/models/g:generateContent", `{}`, providers.Options{Key: "k"}, "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent", "X-Goog-Api-Key: k"},
		{"bedrock", "/model/a%3A0/converse", `{}`, providers.Options{Key: "k", Region: "us-east-1"}, "https://bedrock-runtime.us-east-1.amazonaws.com/model/a%3A0/converse", "Authorization: Bearer k"},
		{"ollama", "/api/embed", `{"model": "m"}`, providers.Options{}, "http://127.0.0.1:11434/api/embed", ""},
		{"cohere", "/v2/embed", `{"model": "m"}`, providers.Options{Key: "k"}, "https://api.cohere.com/v2/embed", "Authorization: Bearer k"},
		{"sim-openai", "/v1/chat/completions", `{"model": "m"}`, providers.Options{}, "http://sim.localhost/v1/chat/completions", ""},
	} {
		t.Run(c.provider+c.path, func(t *testing.T) {
			r, err := gateway.Parse("POST", c.path, "", http.Header{"Anthropic-Beta": {"b"}, "X-Api-Key": {"token"}}, []byte(c.body))
			require.NoError(t, err)
			req, err := r.HTTP(t.Context(), all.Factories()[c.provider], c.o)
			require.NoError(t, err)
			require.Equal(t, c.want, req.URL.String())
			require.Equal(t, "b", req.Header.Get("Anthropic-Beta"))
			if name, key, ok := strings.Cut(c.key, ": "); ok {
				require.Equal(t, key, req.Header.Get(name))
			}
			for _, values := range req.Header {
				require.NotContains(t, values, "token")
			}
		})
	}
}

// TestForeignRequests reads requests of real agents, and their messages.
func TestForeignRequests(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "external", "requests", "*.json"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("requests of foreign agents are not available")
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			var exchanges []struct {
				Kind, Method, Path, Body string
				Header                   http.Header
			}
			require.NoError(t, json.Unmarshal(text, &exchanges))
			read := 0
			for _, x := range exchanges {
				if x.Kind != "model" {
					continue
				}
				read++
				path, query, _ := strings.Cut(x.Path, "?")
				r, err := gateway.Parse(x.Method, path, query, x.Header, []byte(x.Body))
				require.NoError(t, err)
				require.Equal(t, gateway.Chat, r.Kind)
				require.NotEmpty(t, r.Model)
				system, list := r.Messages()
				require.GreaterOrEqual(t, len(list), 1)
				require.Equal(t, providers.RoleUser, list[0].Role)
				require.NotEmpty(t, list[0].Text+system)
				for i, m := range list {
					require.True(t, m.Text != "" || len(m.Calls) > 0, "message %d of %s", i, x.Body)
					for _, c := range m.Calls {
						require.NotEmpty(t, c.Name)
						require.True(t, json.Valid([]byte(c.Args)), c.Args)
					}
					if m.Role == providers.RoleTool {
						require.NotEmpty(t, m.Name)
					}
				}
			}
			require.NotZero(t, read)
		})
	}
}

// FuzzParse checks that any request is read or refused, and that a request that was
// read can be changed and compared.
func FuzzParse(f *testing.F) {
	f.Add("POST", "/v1/chat/completions", "a=b&key=c", `{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "TOK"}]}]}`)
	f.Add("POST", "/v1beta/models/a%2Fb:streamGenerateContent", "alt=sse", `{"contents": [{"parts": [{"functionCall": {"name": "f", "args": {}}}]}]}`)
	f.Add("POST", "/model/a:0/converse", "", `{"messages": [{"content": [{"toolResult": {"content": [{"json": 1}]}}]}]}`)
	f.Add("GET", "/v1/models/x", "%zz", "")
	f.Fuzz(func(t *testing.T, method, path, query, body string) {
		r, err := gateway.Parse(method, path, query, http.Header{}, []byte(body))
		if err != nil {
			return
		}
		r.Messages()
		compared, err := r.Compared(gateway.Rules{Ignore: []string{"/messages/0"}, Fixed: strings.NewReplacer("TOK", "-")})
		require.NoError(t, err)
		again, err := compared.Compared(gateway.Rules{})
		require.NoError(t, err)
		require.Equal(t, string(compared.Body), string(again.Body))
		changed, err := r.WithModel("new")
		require.NoError(t, err)
		if changed.Kind != gateway.Chat {
			return
		}
		limited, err := changed.WithMaxOutput(7, "")
		if err != nil {
			return // a member that should be an object has another type
		}
		once, err := gateway.Parse(method, "/v1"+limited.Endpoint, limited.Query, http.Header{}, limited.Body)
		require.NoError(t, err)
		require.Equal(t, []any{"new", limited.MaxOutput >= 7}, []any{once.Model, once.MaxOutput >= 7})
	})
}
