package sim

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// TestWhatTheWiresSay compares the request, complete reply, stream and error of every
// API with testdata/wires.
func TestWhatTheWiresSay(t *testing.T) {
	h := Handler(Config{Seed: 1})
	for _, g := range wireClients() {
		if strings.Contains(g.name, " ") {
			continue // another address of the same wire
		}
		t.Run(g.name, func(t *testing.T) {
			var out strings.Builder
			ask := func(title string, a asked) {
				g.header = append(g.header, "X-Client-Request-Id", "shown")
				w := g.send(t, h, a)
				body := w.Body.Bytes()
				fmt.Fprintf(&out, "== %s\n%s\n-- %d %s\n", title, encodeJSON(g.body(a)), w.Code, w.Header().Get("Content-Type"))
				if w.Header().Get("Content-Type") == binaryStream {
					kinds, payloads := unframe(t, body)
					fmt.Fprintf(&out, "%x …\n", body[:120])
					for i := range kinds {
						fmt.Fprintf(&out, "%s %s\n", kinds[i], payloads[i])
					}
					return
				}
				out.Write(bytes.TrimSpace(bytes.ReplaceAll(body, []byte("\r"), []byte("␍"))))
				out.WriteByte('\n')
			}
			a := asked{model: Probe, tools: []string{"get"}, turns: []utterance{user("think Well now.\nsay Let me see.\ncall get {\"a\":\"b c\"}\ncached 4 2")}}
			ask("whole", a)
			a.stream = true
			ask("stream", a)
			ask("refusal", asked{model: Probe, turns: []utterance{user("refuse No.")}})
			ask("cut", asked{model: Probe, limit: 16, stream: true, turns: []utterance{user("fill 40")}})
			ask("error", asked{model: "none", turns: []utterance{user("say hi")}})
			file := filepath.Join("testdata", "wires", g.name+".txt")
			testkit.Golden(t, file, out.String())
		})
	}
}

func TestPiecesMakeTheText(t *testing.T) {
	for i := range 200 {
		d := drawsFor(int64(i), Probe, "", nil)
		whole := "One two three, vier fünf; 今天天气 😀 {\"a\": [1, 2]}\n" + strings.Repeat("word ", i)
		pieces := d.pieces(whole)
		require.Equal(t, whole, strings.Join(pieces, ""))
		require.Equal(t, pieces, d.pieces(whole), "the places depend on the seed alone")
		for _, p := range pieces {
			require.NotEmpty(t, p)
			require.True(t, utf8.ValidString(p), "no character is cut")
		}
	}
	require.Empty(t, draws{}.pieces(""))
	require.NotEqual(t, drawsFor(1, Probe, "", nil).pieces(strings.Repeat("a b ", 50)), drawsFor(2, Probe, "", nil).pieces(strings.Repeat("a b ", 50)))
}

// TestStreamsAreRepeatable checks that the same request gets the same frames.
func TestStreamsAreRepeatable(t *testing.T) {
	each(t, func(t *testing.T, g wireClient, stream bool) {
		a := asked{stream: stream, turns: []utterance{user("think a b c\nfill 50")}}
		first := g.send(t, Handler(Config{Seed: 5}), a).Body.String()
		require.Equal(t, first, g.send(t, Handler(Config{Seed: 5}), a).Body.String())
		other := g.send(t, Handler(Config{Seed: 6}), a).Body.String()
		if stream {
			require.NotEqual(t, first, other)
		}
	})
}

// TestFramesComeOneByOne checks that with a latency, the first frame arrives long
// before the last, and that a stream ends when its client disconnects.
func TestFramesComeOneByOne(t *testing.T) {
	s, err := Start(context.Background(), "", Config{Seed: 1, Latency: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	body := `{"model":"sim-probe","stream":true,"messages":[{"role":"user","content":"fill 300"}]}`
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/v1/chat/completions", strings.NewReader(body))
	require.NoError(t, err)
	start := time.Now()
	resp, err := client(t).Do(r)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	require.Equal(t, "text/event-stream; charset=utf-8", resp.Header.Get("Content-Type"))
	require.Empty(t, resp.Header.Get("Date"))
	buf := make([]byte, 64)
	_, err = resp.Body.Read(buf)
	require.NoError(t, err)
	first := time.Since(start)
	var rest bytes.Buffer
	_, err = rest.ReadFrom(resp.Body)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(rest.String(), "data: [DONE]\n\n"))
	require.Greater(t, time.Since(start)-first, 200*time.Millisecond, "some 370 tokens of 1 ms each")

	r, err = http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/v1/chat/completions", strings.NewReader(strings.Replace(body, "300", "2000", 1)))
	require.NoError(t, err)
	gone, err := client(t).Do(r)
	require.NoError(t, err)
	leave()
	_, err = rest.ReadFrom(gone.Body)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, gone.Body.Close())
}

// TestGeminiListStream checks that without alt=sse a stream is one JSON list.
func TestGeminiListStream(t *testing.T) {
	w := post(t, Handler(Config{}), "/v1beta/models/sim-probe:streamGenerateContent", `{"contents":[{"parts":[{"text":"say one two three four five"}]}]}`)
	require.Equal(t, "application/json; charset=UTF-8", w.Header().Get("Content-Type"))
	var said string
	chunks := list(parsed(t, []byte(`{"list":`+w.Body.String()+`}`)), "list")
	require.Greater(t, len(chunks), 2)
	for _, c := range chunks {
		said += text(c, "candidates", 0, "content", "parts", 0, "text")
	}
	require.Equal(t, "one two three four five", said)
}

// TestUsageOfAStreamIsAskedFor: Chat Completions sends the usage only on request, and
// Ollama streams by default.
func TestUsageOfAStreamIsAskedFor(t *testing.T) {
	h := Handler(Config{})
	w := post(t, h, "/v1/chat/completions", `{"model":"sim-probe","stream":true,"messages":[{"role":"user","content":"say a"}]}`)
	require.NotContains(t, w.Body.String(), "usage")
	w = post(t, h, "/v1/chat/completions", `{"model":"sim-probe","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"say a"}]}`)
	require.Contains(t, w.Body.String(), `"usage":null`)
	require.Contains(t, w.Body.String(), `"choices":[],`)

	w = post(t, h, "/api/chat", `{"model":"sim-probe","messages":[{"role":"user","content":"say a"}]}`)
	require.Equal(t, "application/x-ndjson", w.Header().Get("Content-Type"))

	w = post(t, h, "/generate?model=sim-weak", `{"inputs":"hi"}`)
	require.Equal(t, map[string]any{"generated_text": unknown}, parsed(t, w.Body.Bytes()), "details only if asked for")
}

// TestSignedReasoningComesBack checks that each API accepts its own signed reasoning
// again, unchanged.
func TestSignedReasoningComesBack(t *testing.T) {
	h := Handler(Config{})
	for signed, want := range map[string]int{signature("a"): 200, signature("b"): 400} {
		w := post(t, h, "/v1/messages", `{"model":"sim-probe","max_tokens":9,"messages":[{"role":"user","content":"then\nsay ok"},{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"`+signed+`"}]}]}`)
		require.Equal(t, want, w.Code, w.Body)
		w = post(t, h, "/model/sim-probe/converse", `{"messages":[{"role":"user","content":[{"text":"then\nsay ok"}]},{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"a","signature":"`+signed+`"}}}]}]}`)
		require.Equal(t, want, w.Code, w.Body)
	}
}
