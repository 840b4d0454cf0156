package tgi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

func TestReplyForms(t *testing.T) {
	const length = `,"details":{"finish_reason":"length","generated_tokens":2,"seed":10337522019019826656,"prefill":[],"tokens":[{"id":1,"text":"a","logprob":-0.1,"special":false}]}`
	cut := providers.Reply{Text: "a", Finish: providers.FinishLength, FinishRaw: "length", Usage: providers.Usage{Output: 2}, RawUsage: []byte(`{"generated_tokens":2}`)}
	for _, c := range []struct {
		name, body string
		want       providers.Reply
	}{
		{"an object", `{"generated_text":"a"` + length + `}`, cut},
		{"a list of one", ` [{"generated_text":"a"` + length + `}]`, cut},
		{"a stop sequence", `{"generated_text":"a","details":{"finish_reason":"stop_sequence"}}`, providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "stop_sequence"}},
		{"no details", `[{"generated_text":"a"}]`, providers.Reply{Text: "a", Finish: providers.FinishOther}},
		{"null details", `{"generated_text":"","details":null}`, providers.Reply{Finish: providers.FinishOther}},
		{"a new reason", `{"generated_text":"a","details":{"finish_reason":"bored"}}`, providers.Reply{Text: "a", Finish: providers.FinishOther, FinishRaw: "bored"}},
		{"the best of two", `{"generated_text":"a","details":{"finish_reason":"length","generated_tokens":2,"input_length":3,"seed":7,"tokens":[{"id":5,"logprob":-0.5}],"best_of_sequences":[{"generated_text":"b","generated_tokens":4,"seed":8,"tokens":[{"id":5,"logprob":-0.5}],"top_tokens":[[{"id":5,"logprob":-0.5}]]}]}}`, providers.Reply{
			Text: "a", Finish: providers.FinishLength, FinishRaw: "length", Usage: providers.Usage{Reported: true, Input: 3, Output: 6}, RawUsage: []byte(`{"generated_tokens":2,"input_length":3,"best_of_sequences":[{"generated_tokens":4}]}`),
		}},
		{"a count to come", `{"generated_text":"a","details":{"finish_reason":"length","generated_tokens":2,"input_length":3,"cached_tokens":7}}`, providers.Reply{
			Text: "a", Finish: providers.FinishLength, FinishRaw: "length", Usage: providers.Usage{Reported: true, Input: 3, Output: 2, NotUnderstood: []string{"cached_tokens: not understood"}}, RawUsage: []byte(`{"generated_tokens":2,"input_length":3}`),
		}},
		{"an invalid count", `{"generated_text":"a","details":{"generated_tokens":-1}}`, providers.Reply{Text: "a", Finish: providers.FinishOther, RawUsage: []byte(`{"generated_tokens":-1}`), Warnings: []string{"usage: not understood, counted as not reported"}}},
		{"several documents of a batch", `[{"generated_text":"a"},{"generated_text":"b"}]`, providers.Reply{Text: "a", Finish: providers.FinishOther}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := wire.Decode(&decoder{}, wire.Events, []byte(c.body), false, "")
			require.NoError(t, err)
			require.True(t, complete)
			require.Equal(t, c.want, got)
		})
	}
}

const (
	hi  = `data:{"index":1,"token":{"id":1,"text":"Hi","logprob":-0.1,"special":false},"generated_text":null,"details":null}` + "\n\n"
	end = `data:{"index":2,"token":{"id":2,"text":"</s>","logprob":0.0,"special":true},"generated_text":"Hi","details":{"finish_reason":"eos_token","generated_tokens":2,"seed":null,"input_length":17}}` + "\n\n"
)

func TestStreams(t *testing.T) {
	usage := providers.Usage{Reported: true, Input: 17, Output: 2}
	for _, c := range []struct {
		name, body string
		want       providers.Reply
	}{
		{"special tokens are no text", hi + end, providers.Reply{Text: "Hi", Finish: providers.FinishStop, FinishRaw: "eos_token", Usage: usage, RawUsage: []byte(`{"generated_tokens":2,"input_length":17}`)}},
		{"nothing after the last token counts", hi + end + hi, providers.Reply{Text: "Hi", Finish: providers.FinishStop, FinishRaw: "eos_token", Usage: usage, RawUsage: []byte(`{"generated_tokens":2,"input_length":17}`)}},
		{"the last token is text", `data:{"token":{"text":"Hi"},"generated_text":"Hi","details":{"finish_reason":"length","generated_tokens":1}}`, providers.Reply{Text: "Hi", Finish: providers.FinishLength, FinishRaw: "length", Usage: providers.Usage{Output: 1}, RawUsage: []byte(`{"generated_tokens":1}`)}},
		{"the last text says more", hi + `data:{"token":{"text":""},"generated_text":"Hi é"}`, providers.Reply{Text: "Hi é", Finish: providers.FinishOther}},
		{"the prompt repeated is no text", hi + `data:{"token":{"text":"!"},"generated_text":"Say: Hi!"}`, providers.Reply{Text: "Hi!", Finish: providers.FinishOther}},
		{"comments and names are passed over", ":ok\n\nevent: message\n" + hi + end, providers.Reply{Text: "Hi", Finish: providers.FinishStop, FinishRaw: "eos_token", Usage: usage, RawUsage: []byte(`{"generated_tokens":2,"input_length":17}`)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := wire.Decode(&decoder{}, wire.Events, []byte(c.body), true, "")
			require.NoError(t, err)
			require.True(t, complete)
			require.Equal(t, c.want, got)
		})
	}
	_, complete, err := wire.Decode(&decoder{}, wire.Events, []byte(hi), true, "")
	require.NoError(t, err)
	require.False(t, complete)
}

func TestNotAReply(t *testing.T) {
	for name, body := range map[string]string{
		"no text":          `{"details":{}}`,
		"text is a number": `{"generated_text":1}`,
		"an empty list":    `[]`,
		"a list of text":   `["a"]`,
		"null":             `null`,
		"no token":         `data: {"generated_text":"a"}`,
		"no JSON":          `data: upstream is resting`,
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := wire.Decode(&decoder{}, wire.Events, []byte(body), false, "")
			require.Error(t, err)
			var f *wire.Fault
			require.NotErrorAs(t, err, &f)
		})
	}
}

func fuzz(f *testing.F, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, complete, err := wire.Decode(&decoder{}, wire.Events, body, true, "")
		require.GreaterOrEqual(t, min(r.Usage.Input, r.Usage.Output), int64(0))
		if err == nil && complete {
			require.NotEmpty(t, r.Finish)
		}
	})
}

func FuzzWhole(f *testing.F) {
	fuzz(f, `[{"generated_text":"a","details":{"finish_reason":"length","generated_tokens":2,"prefill":[],"tokens":[{"text":"a"}]}}]`,
		`{"generated_text":"a"}`, `{"error":"Model is overloaded","error_type":"overloaded"}`)
}

func FuzzStream(f *testing.F) {
	fuzz(f, hi+end, hi+`data:{"error":"Incomplete generation","error_type":"incomplete_generation"}`)
}
