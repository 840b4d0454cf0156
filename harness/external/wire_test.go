package external

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/providers/price"
)

// TestReadDialects: the wire of a public API reads the usage of providers that have fields of
// their own.
func TestReadDialects(t *testing.T) {
	prices, err := price.Default()
	require.NoError(t, err)
	w := Wires{Factories: all.Factories(), Prices: prices, Day: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	chat := func(usage string) string {
		return `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hi"}}],` + usage + `}`
	}
	for _, c := range []struct {
		name   string
		call   ModelCall
		body   string
		usage  providers.Usage
		stream bool
	}{
		{"deepseek", ModelCall{Kind: gateway.Chat, Wire: "openai", Provider: "deepseek", Model: "deepseek-chat"},
			chat(`"usage":{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`),
			providers.Usage{Reported: true, Input: 36, CacheRead: 64, Output: 5}, false},
		{"groq, streamed", ModelCall{Kind: gateway.Chat, Wire: "openai", Provider: "groq", Model: "m", Stream: true},
			"data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"hi\"},\"finish_reason\":null}]}\n\n" +
				"data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"x_groq\":{\"id\":\"r\",\"usage\":{\"prompt_tokens\":18,\"completion_tokens\":556,\"total_tokens\":574}}}\n\ndata: [DONE]\n\n",
			providers.Usage{Reported: true, Input: 18, Output: 556}, true},
		{"xai, which counts reasoning apart", ModelCall{Kind: gateway.Chat, Wire: "openai", Provider: "xai", Model: "m"},
			chat(`"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":35,"completion_tokens_details":{"reasoning_tokens":20}}`),
			providers.Usage{Reported: true, Input: 10, Output: 5, Reasoning: 20}, false},
		{"the public one", ModelCall{Kind: gateway.Chat, Wire: "openai", Provider: "openai", Model: "m"},
			chat(`"usage":{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_tokens_details":{"cached_tokens":64}}`),
			providers.Usage{Reported: true, Input: 36, CacheRead: 64, Output: 5}, false},
		{"another API of a provider", ModelCall{Kind: gateway.Chat, Wire: "anthropic", Provider: "deepseek", Model: "m"},
			`{"id":"1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":3}}`,
			providers.Usage{Reported: true, Input: 7, Output: 3}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := http.Header{"Content-Type": {"application/json"}}
			if c.stream {
				header.Set("Content-Type", "text/event-stream")
			}
			reply, err := w.read(context.Background(), &c.call, func() (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(c.body))}, nil
			})
			require.NoError(t, err)
			require.Equal(t, "hi", reply.Text)
			got := reply.Usage
			require.Equal(t, c.usage, providers.Usage{Reported: got.Reported, Input: got.Input, CacheRead: got.CacheRead, CacheWrite: got.CacheWrite, Output: got.Output, Reasoning: got.Reasoning, NotUnderstood: got.NotUnderstood})
		})
	}
}
