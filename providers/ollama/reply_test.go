package ollama

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

func TestReplyForms(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       providers.Reply
	}{
		{"text", `{"message":{"role":"assistant","content":"a"},"done":true,"done_reason":"stop"}`, providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"cut", `{"message":{"content":"a"},"done":true,"done_reason":"length"}`, providers.Reply{Text: "a", Finish: providers.FinishLength, FinishRaw: "length"}},
		{"thinking", `{"message":{"content":"a","thinking":"hm"},"done":true,"done_reason":"stop"}`, providers.Reply{Text: "a", Reasoning: "hm", Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"thinking left in the text stays there", `{"message":{"content":"<think>hm</think>a"},"done":true,"done_reason":"stop"}`, providers.Reply{Text: "<think>hm</think>a", Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"generate", `{"response":"a","thinking":"hm","done":true,"done_reason":"stop","context":[1,2]}`, providers.Reply{Text: "a", Reasoning: "hm", Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"only loaded", `{"message":{"content":""},"done":true,"done_reason":"load"}`, providers.Reply{Finish: providers.FinishOther, FinishRaw: "load"}},
		{"an old server gives no reason", `{"message":{"content":"a"},"done":true}`, providers.Reply{Text: "a", Finish: providers.FinishOther}},
		{
			"calls come with the reason stop", `{"message":{"content":"","thinking":"hm","tool_calls":[{"function":{"name":"f","arguments":{ "a" : 1.0 }}},{"id":"x","function":{"index":1,"name":"f","arguments":{}}}]},"done":true,"done_reason":"stop"}`,
			providers.Reply{
				Reasoning: "hm", Finish: providers.FinishTools, FinishRaw: "stop", Continuation: []byte(`{"ollama":{"thinking":"hm"}}`),
				Calls: []providers.ToolCall{{ID: "call_1", Name: "f", Args: `{ "a" : 1.0 }`}, {ID: "x", Name: "f", Args: `{}`}},
			},
		},
		{"calls of an old server", `{"message":{"tool_calls":[{"function":{"name":"f","arguments":null}}]},"done":true}`, providers.Reply{Finish: providers.FinishTools, Calls: []providers.ToolCall{{ID: "call_1", Name: "f", Args: "{}"}}}},
		{"arguments written as text", `{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}}]},"done":true}`, providers.Reply{Finish: providers.FinishTools, Calls: []providers.ToolCall{{ID: "call_1", Name: "f", Args: `{"a":1}`}}}},
		{"an unasked stream", "{\"response\":\"a\",\"done\":false}\n{\"response\":\"b\",\"done\":false}\n{\"response\":\"\",\"done\":true,\"done_reason\":\"stop\"}\n", providers.Reply{Text: "ab", Finish: providers.FinishStop, FinishRaw: "stop"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, asked := range []bool{false, true} {
				got, complete, err := wire.Decode(&decoder{}, wire.Lines, []byte(c.body), asked, "")
				require.NoError(t, err)
				require.True(t, complete)
				require.Equal(t, c.want, got)
			}
		})
	}
}

// The calls of a reply can come in several lines, and can have the same name and
// arguments.
func TestStreamedCalls(t *testing.T) {
	line := `{"model":"m","message":{"content":"","tool_calls":[{"function":{"index":0,"name":"add","arguments":{"x":2,"y":3}}}]},"done":false}` + "\n"
	got, complete, err := wire.Decode(&decoder{}, wire.Lines, []byte(line+line+`{"model":"m","message":{"content":""},"done":true,"done_reason":"stop"}`), true, "")
	require.NoError(t, err)
	require.True(t, complete)
	require.Equal(t, "m", got.Model)
	require.Equal(t, providers.FinishTools, got.Finish)
	require.Equal(t, []providers.ToolCall{{ID: "call_1", Name: "add", Args: `{"x":2,"y":3}`}, {ID: "call_2", Name: "add", Args: `{"x":2,"y":3}`}}, got.Calls)
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		name, fields string
		want         providers.Usage
		raw          string
		warnings     int
	}{
		{"all", `,"total_duration":9,"prompt_eval_count":16,"prompt_eval_duration":3,"eval_count":51,"eval_duration":4`, providers.Usage{Reported: true, Input: 16, Output: 51}, `{"total_duration":9,"prompt_eval_count":16,"prompt_eval_duration":3,"eval_count":51,"eval_duration":4}`, 0},
		{"the prompt was cached", `,"eval_count":38`, providers.Usage{Output: 38}, `{"eval_count":38}`, 0},
		{"nothing said", `,"prompt_eval_count":5`, providers.Usage{Input: 5}, `{"prompt_eval_count":5}`, 0},
		{"zero is a count", `,"prompt_eval_count":0,"eval_count":0`, providers.Usage{Reported: true}, `{"prompt_eval_count":0,"eval_count":0}`, 0},
		{"null is none", `,"prompt_eval_count":null,"eval_count":1`, providers.Usage{Output: 1}, `{"prompt_eval_count":null,"eval_count":1}`, 0},
		{"none", ``, providers.Usage{}, ``, 0},
		{"a count to come", `,"prompt_eval_count":16,"eval_count":51,"cached_count":7,"zero_count":0,"context":[1,2]`, providers.Usage{Reported: true, Input: 16, Output: 51, NotUnderstood: []string{"cached_count: not understood"}}, `{"prompt_eval_count":16,"eval_count":51}`, 0},
		{"no counts", `,"prompt_eval_count":"16","eval_count":-1`, providers.Usage{}, `{"prompt_eval_count":"16","eval_count":-1}`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := wire.Decode(&decoder{}, wire.Lines, []byte(`{"message":{"content":"paid for"},"done":true`+c.fields+`}`), false, "")
			require.NoError(t, err)
			require.Equal(t, c.want, got.Usage)
			require.Equal(t, c.raw, string(got.RawUsage))
			require.Equal(t, "paid for", got.Text)
			require.Len(t, got.Warnings, c.warnings)
		})
	}
}

// TestCallsThatAreLeftOut checks that a call of another kind is reported.
func TestCallsThatAreLeftOut(t *testing.T) {
	got, complete, err := wire.Decode(&decoder{}, wire.Lines, []byte(`{"message":{"tool_calls":[{"type":"custom","custom":{"name":"n"}},{"type":"function","function":{"name":"f","arguments":{}}}]},"done":true}`), true, "")
	require.True(t, complete)
	require.Contains(t, fmt.Sprint(err, got.Warnings), "does not read: custom")
	require.Len(t, got.Calls, 1)
}

// TestAReplyWithoutItsMessage checks that the usage is kept, because it is paid for.
func TestAReplyWithoutItsMessage(t *testing.T) {
	const last = `{"model":"m","done":true,"done_reason":"stop","prompt_eval_count":16,"eval_count":2}`
	for _, asked := range []bool{false, true} {
		got, _, err := wire.Decode(&decoder{}, wire.Lines, []byte(last), asked, "")
		require.EqualError(t, err, "decode reply: no message")
		require.Equal(t, providers.Usage{Reported: true, Input: 16, Output: 2}, got.Usage)
		for _, first := range []string{`{"message":{"content":"a"}}`, `{"response":"a"}`} {
			got, complete, err := wire.Decode(&decoder{}, wire.Lines, []byte(first+"\n"+last), asked, "")
			require.NoError(t, err, "the last line need not have one")
			require.True(t, complete)
			require.Equal(t, "a", got.Text)
		}
	}
}

func TestNotAReply(t *testing.T) {
	for name, body := range map[string]string{
		"no message":          `{"model":"m","done":false}`,
		"a message of text":   `{"message":"a","done":true}`,
		"content is a number": `{"message":{"content":1},"done":true}`,
		"something follows":   `{"message":{"content":"a"},"done":true}{"message":{"content":"b"},"done":true}`,
		"a list":              `[]`,
		"null":                `null`,
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := wire.Decode(&decoder{}, wire.Lines, []byte(body), false, "")
			require.Error(t, err)
			var f *wire.Fault
			require.NotErrorAs(t, err, &f)
		})
	}
}

func fuzz(f *testing.F, asked bool) {
	f.Add([]byte(`{"model":"m","message":{"content":"a","thinking":"t","tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":true,"done_reason":"stop","eval_count":1}`))
	f.Add([]byte("{\"response\":\"a\",\"done\":false}\n{\"response\":\"\",\"done\":true}\n"))
	f.Add([]byte(`{"error":"model 'x' not found"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, complete, err := wire.Decode(&decoder{}, wire.Lines, body, asked, "")
		require.GreaterOrEqual(t, min(r.Usage.Input, r.Usage.Output), int64(0))
		if err == nil && complete {
			require.NotEmpty(t, r.Finish)
		}
		if len(r.RawUsage) > 0 {
			require.True(t, json.Valid(r.RawUsage))
		}
	})
}

func FuzzWhole(f *testing.F)  { fuzz(f, false) }
func FuzzStream(f *testing.F) { fuzz(f, true) }
