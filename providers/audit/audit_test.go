package audit_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/audit"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/price"
)

// auditor returns an auditor with all providers.
func auditor(t *testing.T) *audit.Auditor {
	t.Helper()
	prices, err := price.Default()
	require.NoError(t, err)
	return audit.New(audit.Options{Factories: all.Factories(), WireOf: all.Wires(), Fields: all.UsageFields(), Prices: prices})
}

// reviewed lists the findings in the shared recordings that a person has checked: the
// cost is unknown for a good reason.
var reviewed = map[string]string{
	"bedrock-converse amazon-bedrock-invocationMetrics: counts another number of tokens than the model": "702 tokens in the metrics, another number in the message",
	"gemini promptTokensDetails[].modality: is one with another price than text":                        "audio, which the table has no price for",
	"openai-chat cost: the provider reports another than the price table gives":                         "Perplexity's fee for a request depends on how much it searches",
	"openai-chat usage: has two readings, and no reported cost tells which is right":                    "Gemini's thoughts are in the total only",
	"openai-chat prompt_tokens: is less than what the cache had of it":                                  "387 cached of 298 prompt tokens",
}

// TestRecordingsAreAccountedFor reads every exchange, or recognises its request as one
// that no provider makes. It accounts for every number of every usage, and requires
// that the reviewed list has everything that is not understood. CUPEL_RECORDINGS names
// a folder of other recordings, which have no reviewed findings.
func TestRecordingsAreAccountedFor(t *testing.T) {
	dirs := []string{filepath.Join("..", "..", "..", "shared", "recordings")}
	if dir := os.Getenv("CUPEL_RECORDINGS"); dir != "" {
		dirs = append(dirs, dir)
	}
	for i, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			f, err := os.Open(filepath.Join(dir, "interactions.jsonl"))
			if errors.Is(err, fs.ErrNotExist) {
				t.Skipf("recordings are not available: %v", err)
			}
			require.NoError(t, err)
			defer func() { _ = f.Close() }()
			a, rows := auditor(t), 0
			for x, err := range audit.Lines(f.Name(), f) {
				require.NoError(t, err)
				a.Add(x)
				rows++
			}
			report, counted := a.Report(), 0
			for _, o := range report.Other {
				counted += o.Count
			}
			for _, w := range report.Wires {
				counted += w.Exchanges
				require.NotEmpty(t, all.UsageFields()[w.Wire], "wire %s says nothing of its usage", w.Wire)
				for _, f := range w.NotUnderstood {
					if i > 0 || reviewed[w.Wire+" "+f.What] == "" {
						t.Errorf("%s: not understood: %s: %d, first in %s", w.Wire, f.What, f.Count, f.First)
					}
				}
				for _, f := range w.NotRead {
					require.Contains(t, f.What, "transport", "%s: first in %s", w.Wire, f.First) // the recording itself is cut off
				}
			}
			require.Equal(t, rows, counted)
			if i == 0 {
				require.GreaterOrEqual(t, rows, 548)
			}
		})
	}
}

func reply(name, address, body string) audit.Exchange {
	return audit.Exchange{
		Name: name, Method: "POST", URL: address, Request: []byte(`{"model": "gpt-4o-mini"}`), Status: 200,
		Header: http.Header{"Date": {"Wed, 07 Oct 2026 10:00:00 GMT"}}, Body: []byte(body),
	}
}

// TestReport checks what the report lists: exchanges that are read, exchanges that are
// not understood, and requests that no provider makes.
func TestReport(t *testing.T) {
	const chat = "https://api.openai.com/v1/chat/completions"
	body := func(usage string) string {
		return `{"model": "gpt-4o-mini", "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "usage": ` + usage + `}`
	}
	a := auditor(t)
	for _, x := range []audit.Exchange{
		reply("fine", chat, body(`{"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}`)),
		reply("new field", chat, body(`{"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11, "telepathy_tokens": 5}`)),
		reply("new field, zero", chat, body(`{"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11, "levitation_tokens": 0}`)),
		reply("another cost", "https://openrouter.ai/api/v1/chat/completions", strings.ReplaceAll(body(`{"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11, "cost": 0.5}`), "gpt-4o-mini", "openai/gpt-4o-mini")),
		reply("no reply", chat, `<html>`),
		reply("embedding", "https://api.openai.com/v1/embeddings", `{}`),
	} {
		if x.Name == "another cost" {
			x.Request = []byte(`{"model": "openai/gpt-4o-mini"}`)
		}
		if x.Name == "fine" {
			x.Provider = "openai"
		}
		a.Add(x)
	}
	refused := reply("refused", chat, `{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}`)
	refused.Status = 429
	a.Add(refused)
	failed := reply("failed", chat, "")
	failed.Failed = true
	a.Add(failed)
	report := a.Report()
	require.Equal(t, []audit.Finding{{What: "POST /v1/embeddings", Count: 1, First: "embedding"}}, report.Other)
	require.Len(t, report.Wires, 1)
	w := report.Wires[0]
	require.Equal(t, "openai-chat", w.Wire)
	require.Equal(t, []int{7, 4, 4, 1, 1}, []int{w.Exchanges, w.Replies, w.Reported, w.Costs, w.Priced})
	require.Equal(t, map[fault.Kind]int{fault.RateLimit: 1, fault.Transport: 1}, w.Errors)
	require.Equal(t, []audit.Finding{
		{What: "cost: the provider reports another than the price table gives", Count: 1, First: "another cost"},
		{What: "telepathy_tokens: not understood", Count: 1, First: "new field"},
	}, w.NotUnderstood)
	require.Len(t, w.NotRead, 1)
	require.Equal(t, "no reply", w.NotRead[0].First)
	require.Equal(t, 3, report.Doubtful())
	fields := map[string]audit.Field{}
	for _, f := range w.Fields {
		fields[f.Path] = f
	}
	require.Equal(t, "tokens_in", fields["prompt_tokens"].Column)
	require.Equal(t, 4, fields["prompt_tokens"].Count)
	require.Equal(t, "always 0", fields["levitation_tokens"].Reason)
	require.NotContains(t, fields, "telepathy_tokens")
}

func TestLines(t *testing.T) {
	var got []string
	for x, err := range audit.Lines("f.jsonl", strings.NewReader(`{"id": "a", "request": {"method": "POST", "url": "http://x/y", "body": {"model": "m"}}, "response": {"status": 200, "headers": {"date": "now", "via": ["a", "b"]}, "body": "aGk=", "body_encoding": "base64"}}

{"request": {"method": "GET", "url": "http://x"}, "response": {"status": 404, "body": "no"}}
{"request": {}}
nothing
{"request": {"method": "GET", "url": "u"}, "response": {"status": 200, "body": "!", "body_encoding": "base64"}}
`)) {
		text := strings.Join([]string{x.Name, x.Method, x.URL, string(x.Request), x.Header.Get("Date"), strings.Join(x.Header["Via"], "+"), string(x.Body)}, "|")
		if err != nil {
			text = err.Error()
		}
		got = append(got, text)
	}
	require.Equal(t, []string{
		`a|POST|http://x/y|{"model": "m"}|now|a+b|hi`,
		`f.jsonl:3|GET|http://x||||no`,
		`f.jsonl:4: not a recorded exchange: want request.method, request.url and response.status`,
		`f.jsonl:5: not a recorded exchange: invalid character 'o' in literal null (expecting 'u')`,
		`f.jsonl:6: not a recorded exchange: response.body: illegal base64 data at input byte 0`,
	}, got)
}

func FuzzLines(f *testing.F) {
	f.Add(`{"request": {"method": "POST", "url": "https://api.openai.com/v1/responses", "body": "{}"}, "response": {"status": 200, "body": "{}"}}`)
	f.Add(`{"request": {"method": "POST", "url": "%zz/model/a%3A0/invoke", "body": "x"}, "response": {"status": 200, "headers": {"a": 7}, "body": null}}`)
	a := func() *audit.Auditor { return audit.New(audit.Options{Factories: all.Factories()}) }
	f.Fuzz(func(t *testing.T, text string) {
		reader, exchanges := a(), 0
		for x, err := range audit.Lines("f", strings.NewReader(text)) {
			if err == nil {
				reader.Add(x)
				exchanges++
			}
		}
		report := reader.Report()
		for _, w := range report.Wires {
			exchanges -= w.Exchanges
		}
		for _, o := range report.Other {
			exchanges -= o.Count
		}
		require.Zero(t, exchanges)
	})
}
