package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoutes(t *testing.T) {
	for _, c := range []struct{ provider, address, body, want, model string }{
		{"", "https://api.openai.com/v1/chat/completions", `{"model": "gpt-4o", "stream": true}`, "openai", "gpt-4o"},
		{"", "https://api.groq.com/openai/v1/chat/completions", `{}`, "groq", ""},
		{"", "https://x.openai.azure.com/openai/deployments/mine/chat/completions?api-version=1", `{}`, "azure", "mine"},
		{"", "<HOST>/openai/deployments/mine/chat/completions", `{}`, "openai", "mine"},
		{"xai", "http://gateway.local/v1/chat/completions", `{}`, "xai", ""},
		{"ollama", "http://localhost:11434/v1/chat/completions", `{}`, "ollama-compat", ""},
		{"", "http://localhost:8080/v1/completions", `{}`, "openai", ""},
		{"", "https://api.x.ai/v1/responses", `{}`, "xai-responses", ""},
		{"openai", "https://api.openai.com/v1/responses", `{}`, "openai-responses", ""},
		{"", "https://api.anthropic.com/v1/messages", `{}`, "anthropic", ""},
		{"", "https://api.anthropic.com/v1/messages/batches", `{}`, "", ""},
		{"", "https://api.anthropic.com/v1/messages/count_tokens", `{}`, "", ""},
		{"", "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/claude-x@20250219:rawPredict", `{}`, "vertex-anthropic", "claude-x@20250219"},
		{"google", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", `{}`, "gemini", "gemini-2.5-pro"},
		{"", "https://aiplatform.googleapis.com/v1/projects/p/publishers/google/models/gemini-2.5-pro:generateContent", `{}`, "vertex", "gemini-2.5-pro"},
		{"", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:countTokens", `{}`, "", "gemini-2.5-flash"},
		{"", "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-lite-v1%3A0/converse-stream", `{}`, "bedrock", "us.amazon.nova-lite-v1:0"},
		{"", "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.titan-embed-text-v2%3A0/invoke", `{}`, "", "amazon.titan-embed-text-v2:0"},
		{"", "http://127.0.0.1:11434/api/generate", `{"model": "llama3"}`, "ollama", "llama3"},
		{"", "https://api.cohere.com/v2/chat", `{}`, "cohere", ""},
		{"", "http://tgi/generate_stream", `{}`, "tgi", ""},
		{"", "http://endpoint/", `{"inputs": "x"}`, "tgi", ""},
		{"", "http://endpoint/", `{"question": "x"}`, "", ""},
		{"", "https://api-inference.huggingface.co/models/org/name", `{"inputs": "x"}`, "tgi", "org"},
	} {
		r := RouteOf(c.provider, "POST", c.address, []byte(c.body))
		require.Equal(t, c.want, r.Provider, c.address)
		require.Equal(t, c.model, r.Model, c.address)
	}
	require.Empty(t, RouteOf("openai", "GET", "https://api.openai.com/v1/chat/completions", nil).Provider)
	require.True(t, RouteOf("", "POST", "https://x/model/m/converse-stream", nil).Stream)
	require.True(t, RouteOf("", "POST", "https://x/v1/messages", []byte(`{"stream": true}`)).Stream)
	require.False(t, RouteOf("", "POST", "https://x/v1/messages", []byte(`{"stream": false}`)).Stream)
}
