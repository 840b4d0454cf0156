package responses_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/providertest"
	"github.com/cupel-eval/cupel/providers/responses"
)

func TestContract(t *testing.T) {
	providertest.Run(t, providertest.Subject{
		New:    responses.New,
		Encode: encode,
		Fault: func(message string) string {
			return fmt.Sprintf(`{"error": {"message": %s, "type": "other", "param": null, "code": null}}`, testkit.Quote(message))
		},
		Skip: map[string]string{"formats and request bytes": "max_output_tokens has the trace of a format in its name: see TestFormatsLeaveNoTrace"},
	})
}

func encode(a providertest.Answer) string {
	status, reason := "completed", `null`
	var items []string
	if a.Text != "" {
		items = append(items, fmt.Sprintf(`{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "annotations": [], "text": %s}]}`, testkit.Quote(a.Text)))
	}
	for i, args := range a.Args {
		items = append(items, fmt.Sprintf(`{"id": "fc_%d", "type": "function_call", "status": "completed", "call_id": "call_%d", "name": %q, "arguments": %s}`, i, i, a.Tool, testkit.Quote(args)))
	}
	switch a.Finish {
	case providers.FinishLength:
		status, reason = "incomplete", `{"reason": "max_output_tokens"}`
	case providers.FinishRefusal:
		status, reason = "incomplete", `{"reason": "content_filter"}`
	case providers.FinishOther:
		status, reason = "incomplete", `{"reason": "something new"}`
	case providers.FinishTools:
		if len(a.Args) == 0 { // the API shows it only by a call
			items = append(items, `{"id": "fc_0", "type": "function_call", "call_id": "call_0", "name": "f", "arguments": "{}"}`)
		}
	}
	usage := "null"
	if u := a.Usage; u.Reported {
		usage = fmt.Sprintf(`{"input_tokens": %d, "input_tokens_details": {"cached_tokens": %d,  "cache_write_tokens": %d}, "output_tokens": %d, "output_tokens_details": {"reasoning_tokens": %d}, "total_tokens": %d, "new": 0.00}`,
			u.Input+u.CacheRead+u.CacheWrite, u.CacheRead, u.CacheWrite, u.Output+u.Reasoning, u.Reasoning, u.Total())
	}
	return fmt.Sprintf(`{"id": "resp_1", "object": "response", "status": %q, "error": null, "incomplete_details": %s, "model": "some-model-2026-01-01", "output": [%s], "usage": %s}`,
		status, reason, strings.Join(items, ", "), usage)
}

// ask sends a call to a server that answers in this way.
func ask(t *testing.T, make providers.Factory, o providers.Options, call providers.Call, a *testkit.Server) (providers.Reply, error) {
	t.Helper()
	o.HTTP = &http.Client{Transport: a}
	m, err := make(o)
	require.NoError(t, err)
	return m.Call(context.Background(), call)
}

// TestDialects checks that each service gets requests at its own address with its own
// header, and keeps its own name.
func TestDialects(t *testing.T) {
	for _, c := range []struct {
		name    string
		make    providers.Factory
		o       providers.Options
		address string
		header  string
		want    string
	}{
		{"openai-responses", responses.New, providers.Options{Key: "k"}, "https://api.openai.com/v1/responses", "Authorization", "Bearer k"},
		{"azure-responses", responses.Azure, providers.Options{Key: "k", BaseURL: "https://r.openai.azure.com/openai/v1/"}, "https://r.openai.azure.com/openai/v1/responses", "Api-Key", "k"},
		{"xai-responses", responses.XAI, providers.Options{Key: "k"}, "https://api.x.ai/v1/responses", "Authorization", "Bearer k"},
		{"openrouter-responses", responses.OpenRouter, providers.Options{Key: "k"}, "https://openrouter.ai/api/v1/responses", "Authorization", "Bearer k"},
		{"deepseek-responses", responses.DeepSeek, providers.Options{Key: "k"}, "https://api.deepseek.com/responses", "Authorization", "Bearer k"},
		{"llamacpp-responses", responses.LlamaCpp, providers.Options{}, "http://127.0.0.1:8080/v1/responses", "Authorization", ""},
		{"bedrock-mantle-responses", responses.BedrockMantle, providers.Options{Key: "k", Region: "eu-west-1"}, "https://bedrock-mantle.eu-west-1.api.aws/v1/responses", "Authorization", "Bearer k"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &testkit.Server{Status: 401, Body: `{"error":{"message":"no"}}`}
			_, err := ask(t, c.make, c.o, providers.Call{Model: "m"}, a)
			require.ErrorContains(t, err, c.name+": model m: auth (HTTP 401): no")
			require.Equal(t, c.address, a.Got.URL.String())
			require.Equal(t, c.want, a.Got.Header.Get(c.header))
			if c.header != "Authorization" {
				require.Empty(t, a.Got.Header.Get("Authorization"))
			}
		})
	}
}

func TestAddressesThatAreMissing(t *testing.T) {
	for name, o := range map[string]providers.Options{
		"no region":     {Key: "k"},
		"another host":  {Key: "k", Region: "evil.test/"},
		"upper case":    {Key: "k", Region: "US-EAST-1"},
		"much too long": {Key: "k", Region: strings.Repeat("x", 41)},
	} {
		_, err := responses.BedrockMantle(o)
		require.ErrorContains(t, err, "no address", name)
	}
	_, err := responses.Azure(providers.Options{Key: "k"})
	require.ErrorContains(t, err, "no address")
	_, err = responses.XAI(providers.Options{})
	require.ErrorContains(t, err, "set XAI_API_KEY")
}

// TestLlamaCppHasNoTextFormat: the server would ignore the format silently.
func TestLlamaCppHasNoTextFormat(t *testing.T) {
	m, err := responses.LlamaCpp(providers.Options{})
	require.NoError(t, err)
	require.Equal(t, []providers.Mode{providers.ForcedTool}, m.(providers.Formatter).Modes())
	_, err = m.Call(context.Background(), providers.Call{Model: "m", Format: &providers.Format{Mode: providers.JSONObject}})
	require.ErrorContains(t, err, "is not part of this wire, which has forced_tool")
}

// TestFormatsLeaveNoTrace checks that a call without a format has no field of one, and
// that the common fields do not change.
func TestFormatsLeaveNoTrace(t *testing.T) {
	const schema = `{"type":"object","properties":{"city":{"type":"string","description":"a <city> & more"}},"required":["city"],"additionalProperties":false}`
	call := providers.Call{Model: "m", System: "Be brief.", Messages: []providers.Message{{Role: "user", Text: "hi"}}, MaxTokens: 64}
	sent := func(call providers.Call) string {
		a := &testkit.Server{Status: 200, Body: encode(providertest.Answer{Text: "ok"})}
		_, err := ask(t, responses.New, providers.Options{}, call, a)
		require.NoError(t, err)
		return a.Sent
	}
	plain := sent(call)
	require.Equal(t, `{"model":"m","instructions":"Be brief.","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}],"max_output_tokens":64,"store":false}`, plain)
	for mode, more := range map[providers.Mode]string{
		providers.JSONObject: `,"text":{"format":{"type":"json_object"}}}`,
		providers.JSONSchema: `,"text":{"format":{"type":"json_schema","name":"n","schema":` + schema + `,"strict":true}}}`,
		providers.ForcedTool: `,"tools":[{"type":"function","name":"n","parameters":` + schema + `,"strict":true}],"tool_choice":{"type":"function","name":"n"}}`,
	} {
		formatted := call
		formatted.Format = &providers.Format{Mode: mode, Name: "n", Schema: []byte(schema)}
		require.Equal(t, strings.TrimSuffix(plain, "}")+more, sent(formatted))
	}
}
