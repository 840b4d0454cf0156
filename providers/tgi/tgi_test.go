package tgi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/providertest"
	"github.com/cupel-eval/cupel/providers/tgi"
)

func TestContract(t *testing.T) {
	const noTools = "tools are not part of the API"
	providertest.Run(t, providertest.Subject{
		New:    tgi.New,
		Encode: encode,
		Fault:  func(message string) string { return fmt.Sprintf(`{"error": %s}`, testkit.Quote(message)) },
		Skip: map[string]string{
			"text":                      "replies do not name the model: see TestReplyOverHTTP",
			"usage":                     "there is no usage object and no cache",
			"finish reasons":            "the API knows no refusal",
			"json_object":               "a grammar needs a schema",
			"forced_tool":               noTools,
			"forced tool, cut":          noTools,
			"forced tool, odd replies":  noTools,
			"formats and request bytes": "the grammar stands among the parameters: see TestRequestBodies",
			"missing key":               "the token is called HF_TOKEN: see TestKeys",
		},
	})
}

func encode(a providertest.Answer) string {
	reason := map[providers.Finish]string{providers.FinishStop: "eos_token", providers.FinishLength: "length"}[a.Finish]
	return fmt.Sprintf(`{"generated_text": %s, "details": {"finish_reason": %q, "prefill": [], "tokens": []}}`, testkit.Quote(a.Text), reason)
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name    string
		options providers.Options
		kind    fault.Kind // empty if the key is accepted
		message string
	}{
		{"the public address without a token", providers.Options{}, fault.Auth, "no key for https://router.huggingface.co/hf-inference: set HF_TOKEN"},
		{"with one", providers.Options{Key: "hf_1"}, "", ""},
		{"the user's server", providers.Options{BaseURL: "http://127.0.0.1:8080"}, "", ""},
		{"no address", providers.Options{BaseURL: "127.0.0.1:8080"}, fault.InvalidRequest, "base URL cannot be parsed; use a form such as http://127.0.0.1:8080/v1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tgi.New(c.options)
			if c.kind == "" {
				require.NoError(t, err)
				return
			}
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.kind, e.Kind)
			require.Equal(t, c.message, e.Message)
		})
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		name, base string
		stream     bool
		address    string
		inBody     bool // the body selects streaming
	}{
		{"a server", "http://host:8080", false, "http://host:8080/generate", false},
		{"a server, streaming", "http://host:8080/", true, "http://host:8080/generate_stream", false},
		{"the endpoint named", "http://host/x/generate", true, "http://host/x/generate_stream", false},
		{"the other endpoint named", "http://host/generate_stream/", false, "http://host/generate", false},
		{"Hugging Face", "", false, "https://router.huggingface.co/hf-inference/models/org/m%3Fx", false},
		{"Hugging Face, streaming", "", true, "https://router.huggingface.co/hf-inference/models/org/m%3Fx", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &testkit.Server{Status: 200, Body: `[{"generated_text":"a"}]`}
			m, err := tgi.New(providers.Options{BaseURL: c.base, Key: "hf_1", HTTP: &http.Client{Transport: p}})
			require.NoError(t, err)
			_, err = m.Call(context.Background(), providers.Call{Model: "org/m?x", Stream: c.stream})
			require.NoError(t, err)
			require.Equal(t, c.address, p.Got.URL.String())
			require.Equal(t, "Bearer hf_1", p.Got.Header.Get("Authorization"))
			var body map[string]any
			require.NoError(t, json.Unmarshal([]byte(p.Sent), &body))
			require.Equal(t, c.inBody, body["stream"] == true)
		})
	}
}

func TestReplyOverHTTP(t *testing.T) {
	for name, stream := range map[string]string{
		"whole":    `{"generated_text":"Hi there","details":{"finish_reason":"eos_token","generated_tokens":3,"input_length":5}}`,
		"streamed": "data:{\"token\":{\"text\":\"Hi\"}}\n\ndata:{\"token\":{\"text\":\" there\"}}\n\ndata:{\"token\":{\"text\":\"</s>\",\"special\":true},\"generated_text\":\"Hi there\",\"details\":{\"finish_reason\":\"eos_token\",\"generated_tokens\":3,\"input_length\":5}}\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			m, err := tgi.New(providers.Options{BaseURL: "http://host", HTTP: &http.Client{Transport: &testkit.Server{Status: 200, Body: stream}}})
			require.NoError(t, err)
			said := ""
			got, err := m.Call(context.Background(), providers.Call{Model: "m", Stream: true, OnDelta: func(d providers.Delta) { said += d.Text }})
			require.NoError(t, err)
			require.Equal(t, "Hi there", got.Text)
			require.Equal(t, "Hi there", said)
			require.Equal(t, providers.FinishStop, got.Finish)
			require.Equal(t, providers.Usage{Reported: true, Input: 5, Output: 3}, got.Usage)
		})
	}
}

func TestErrors(t *testing.T) {
	const start = "data:{\"index\":1,\"token\":{\"text\":\"Hi\"},\"generated_text\":null}\n\n"
	for _, c := range []struct {
		name    string
		status  int
		body    string
		kind    fault.Kind
		code    string
		message string
	}{
		{"overloaded", 429, `{"error":"Model is overloaded","error_type":"overloaded"}`, fault.Overloaded, "overloaded", "Model is overloaded"},
		{"rate limit", 429, `{"error":"Rate limit reached"}`, fault.RateLimit, "", "Rate limit reached"},
		{"validation", 422, `{"error":"Input validation error: ` + "`temperature`" + ` must be strictly positive","error_type":"validation"}`, fault.InvalidRequest, "validation", "Input validation error: `temperature` must be strictly positive"},
		{"too long", 422, `{"error":"Input validation error: ` + "`inputs`" + ` must have less than 1024 tokens. Given: 2000","error_type":"validation"}`, fault.ContextLength, "validation", "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000"},
		{"together too long", 422, `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens`" + ` must be <= 2048","error_type":"validation"}`, fault.ContextLength, "validation", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048"},
		{"generation", 424, `{"error":"Request failed during generation: CUDA","error_type":"generation"}`, fault.Overloaded, "generation", "Request failed during generation: CUDA"},
		{"incomplete", 500, `{"error":"Incomplete generation","error_type":"incomplete_generation"}`, fault.Overloaded, "incomplete_generation", "Incomplete generation"},
		{"loading", 503, `{"error":"Model m is currently loading","estimated_time":20.0}`, fault.Overloaded, "", "Model m is currently loading"},
		{"a list of errors", 400, `{"error":["Error in parameters.x"],"warnings":["w"]}`, fault.InvalidRequest, "", "Error in parameters.x"},
		{"token", 400, `{"error":"Authorization header is correct, but the token seems invalid"}`, fault.Auth, "", "Authorization header is correct, but the token seems invalid"},
		{"credits", 402, `{"error":"You have exceeded your monthly included credits"}`, fault.Quota, "", "You have exceeded your monthly included credits"},
		{"not JSON", 404, `Not Found`, fault.NotFound, "", "Not Found"},
		{"in a 200", 200, `{"error":"Model is overloaded","error_type":"overloaded"}`, fault.Overloaded, "overloaded", "Model is overloaded"},
		{"rate limit in a 200", 200, `[{"error":"Rate limit reached"}]`, fault.RateLimit, "", "Rate limit reached"},
		{"timeout in a 200", 200, `{"error":"Model m time out: timed out"}`, fault.TimedOut, "", "Model m time out: timed out"},
		{"in a stream", 200, start + `data:{"error":"Incomplete generation","error_type":"incomplete_generation"}` + "\n\n", fault.Overloaded, "incomplete_generation", "Incomplete generation"},
		{"at once in a stream", 200, `data:{"error":"Input validation error: x","error_type":"validation"}` + "\n\n", fault.InvalidRequest, "validation", "Input validation error: x"},
		{"of an old server", 200, `data:{"error":"Input validation error: x"}` + "\n\n", fault.InvalidRequest, "", "Input validation error: x"},
		{"cut off", 200, start, fault.Transport, "", "the stream ended before its last event"},
		{"DONE is not the end", 200, start + "data: [DONE]\n\n", fault.Transport, "", "the stream ended before its last event"},
		{"cut in an event", 200, start + `data:{"token":{"te`, fault.Transport, "", "the stream ended in the middle of an event"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := tgi.New(providers.Options{BaseURL: "http://host", HTTP: &http.Client{Transport: &testkit.Server{Status: c.status, Body: c.body}}})
			require.NoError(t, err)
			_, err = m.Call(context.Background(), providers.Call{Model: "m", Stream: true})
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.kind, e.Kind)
			require.Equal(t, c.code, e.Code)
			require.Equal(t, c.message, e.Message)
			require.Equal(t, c.status, e.Status)
		})
	}
}
