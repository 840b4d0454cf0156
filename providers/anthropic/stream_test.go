package anthropic

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/plainjson"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// events writes a stream of data lines, each named by its type.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		_, rest, _ := strings.Cut(d, `"type":"`)
		name, _, _ := strings.Cut(rest, `"`)
		b.WriteString("event: " + name + "\ndata: " + d + "\n\n")
	}
	return b.String()
}

const (
	begun  = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":3,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}}`
	ended  = `{"type":"message_stop"}`
	ping   = `{"type":"ping"}`
	text0  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	close0 = `{"type":"content_block_stop","index":0}`
)

func stopped(reason, usage string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":` + usage + `}`
}

func blockDelta(delta string) string {
	return `{"type":"content_block_delta","index":0,"delta":` + delta + `}`
}

func decodeStream(body string) (providers.Reply, bool, error) {
	return wire.Decode(&decoder{}, wire.Events, []byte(body), true, "")
}

func TestStreamedBlocks(t *testing.T) {
	const endTurn = `{"output_tokens":2}`
	for _, c := range []struct {
		name   string
		events []string
		want   providers.Reply
	}{
		{"text", []string{text0, ping, blockDelta(`{"type":"text_delta","text":"p"}`), blockDelta(`{"type":"text_delta","text":"ong"}`), close0}, providers.Reply{Text: "pong"}},
		{"text of its beginning", []string{`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`, blockDelta(`{"type":"text_delta","text":"b"}`)}, providers.Reply{Text: "ab"}},
		{"text that was not begun", []string{blockDelta(`{"type":"text_delta","text":"a"}`)}, providers.Reply{Text: "a"}},
		{"citations", []string{text0, blockDelta(`{"type":"citations_delta","citation":{"type":"char_location"}}`), blockDelta(`{"type":"text_delta","text":"a"}`), close0}, providers.Reply{Text: "a"}},
		{
			"thinking, signed", []string{
				`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
				blockDelta(`{"type":"thinking_delta","thinking":"h"}`), blockDelta(`{"type":"thinking_delta","thinking":"m"}`), blockDelta(`{"type":"thinking_delta","thinking":""}`), blockDelta(`{"type":"signature_delta","signature":"s<"}`), close0,
			},
			providers.Reply{Reasoning: "hm", Continuation: []byte(`{"anthropic_content":[{"signature":"s<","thinking":"hm","type":"thinking"}]}`)},
		},
		{
			"redacted thinking", []string{`{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"x"}}`, close0, text0, blockDelta(`{"type":"text_delta","text":"a"}`)},
			providers.Reply{Text: "a", Continuation: []byte(`{"anthropic_content":[{"data":"x","type":"redacted_thinking"},{"text":"a","type":"text"}]}`)},
		},
		{
			"a server's tool", []string{
				`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}`, blockDelta(`{"type":"input_json_delta","partial_json":"{\"q\":1}"}`), close0,
				`{"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"s","content":[{"text":5}]}}`, `{"type":"content_block_stop","index":1}`,
				`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"a","citations":[]}}`, `{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"n":1}}}`,
			},
			providers.Reply{Text: "a", Continuation: []byte(`{"anthropic_content":[{"id":"s","input":{"q":1},"name":"web_search","type":"server_tool_use"},` +
				`{"content":[{"text":5}],"tool_use_id":"s","type":"web_search_tool_result"},{"citations":[{"n":1}],"text":"a","type":"text"}]}`)},
		},
		{"events and deltas to come", []string{
			`{"type":"message_pause","index":"x","delta":7}`, text0, blockDelta(`{"type":"mood_delta","text":{"a":1}}`), blockDelta(`{"type":"mood_delta","mood":1}`), blockDelta(`{"type":"text_delta","text":"a"}`),
			`{"type":"content_block_delta","index":9,"delta":{"type":"mood_delta"}}`, `{"type":"content_block_stop","index":9}`,
		}, providers.Reply{Text: "a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := decodeStream(events(append(append([]string{begun}, c.events...), stopped("end_turn", endTurn), ended)...))
			require.NoError(t, err)
			require.True(t, complete)
			c.want.Finish, c.want.FinishRaw, c.want.Model, c.want.RequestID = providers.FinishStop, "end_turn", "m", "msg_1"
			c.want.Usage, c.want.RawUsage = got.Usage, got.RawUsage
			require.Equal(t, c.want, got)
		})
	}
}

func TestStreamedCalls(t *testing.T) {
	const begin = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"n","input":{}}}`
	input := func(s string) string { return blockDelta(`{"type":"input_json_delta","partial_json":"` + s + `"}`) }
	for _, c := range []struct {
		name   string
		events []string
		want   []providers.ToolCall
	}{
		{"in pieces", []string{begin, input(""), input(`{\"a\"`), input(`: 1.0}`), close0}, []providers.ToolCall{{ID: "toolu_1", Name: "n", Args: `{"a": 1.0}`}}},
		{"without arguments", []string{begin, input(""), close0}, []providers.ToolCall{{ID: "toolu_1", Name: "n", Args: "{}"}}},
		{"without a delta or an end", []string{begin}, []providers.ToolCall{{ID: "toolu_1", Name: "n", Args: "{}"}}},
		{"whole at the beginning", []string{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n","input":{"a":2}}}`, close0}, []providers.ToolCall{{ID: "t", Name: "n", Args: `{"a":2}`}}},
		{"cut", []string{begin, input(`{\"a`), close0}, []providers.ToolCall{{ID: "toolu_1", Name: "n", Args: `{"a`}}},
		{"one index twice, one id twice", []string{begin, input(`{\"a\":1}`), begin, input(`{\"a\":2}`), close0}, []providers.ToolCall{{ID: "toolu_1", Name: "n", Args: `{"a":1}`}, {ID: "call_2", Name: "n", Args: `{"a":2}`}}},
		{"side by side", []string{begin, `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","name":"o","input":{}}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, input(`{\"a\":1}`)}, []providers.ToolCall{{ID: "toolu_1", Name: "n", Args: `{"a":1}`}, {ID: "call_2", Name: "o", Args: `{}`}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := decodeStream(events(append(append([]string{begun}, c.events...), stopped("tool_use", `{"output_tokens":2}`), ended)...))
			require.NoError(t, err)
			require.True(t, complete)
			require.Equal(t, c.want, got.Calls)
			require.Equal(t, providers.FinishTools, got.Finish)
			require.Nil(t, got.Continuation)
		})
	}
}

func TestStreamedUsage(t *testing.T) {
	for _, c := range []struct {
		name, last, raw string
		want            providers.Usage
	}{
		{
			"output alone", `{"output_tokens":67}`,
			`{"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"cache_creation_input_tokens":0,"cache_read_input_tokens":3,"input_tokens":10,"output_tokens":67,"service_tier":"standard"}`,
			providers.Usage{Reported: true, Input: 10, Output: 67, CacheRead: 3, Tier: "standard"},
		},
		{
			"the input changes", `{"input_tokens":61,"cache_read_input_tokens":null,"output_tokens":20,"output_tokens_details":{"thinking_tokens":5}}`,
			`{"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"cache_creation_input_tokens":0,"cache_read_input_tokens":3,"input_tokens":61,"output_tokens":20,"output_tokens_details":{"thinking_tokens":5},"service_tier":"standard"}`,
			providers.Usage{Reported: true, Input: 61, Output: 15, Reasoning: 5, CacheRead: 3, Tier: "standard"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := decodeStream(events(begun, stopped("end_turn", c.last), ended))
			require.NoError(t, err)
			require.Equal(t, c.want, got.Usage)
			require.Equal(t, c.raw, string(got.RawUsage))
		})
	}
	t.Run("cut before the last", func(t *testing.T) {
		got, complete, err := decodeStream(events(begun, text0))
		require.NoError(t, err)
		require.False(t, complete)
		require.Equal(t, providers.Usage{Reported: true, Input: 10, Output: 1, CacheRead: 3, Tier: "standard"}, got.Usage)
		require.Contains(t, begun, string(got.RawUsage))
	})
}

func TestStreamedEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		last   []string
		finish providers.Finish
		raw    string
		end    bool
	}{
		{"refusal", []string{`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"no"}}}`, ended}, providers.FinishRefusal, "refusal", true},
		{"paused", []string{stopped("pause_turn", "null"), ended}, providers.FinishOther, "pause_turn", true},
		{"window full", []string{stopped("model_context_window_exceeded", "{}"), ended}, providers.FinishLength, "model_context_window_exceeded", true},
		{"no word for it", []string{ended}, providers.FinishOther, "", true},
		{"cut off after the reason", []string{stopped("end_turn", "{}")}, providers.FinishStop, "end_turn", false},
		{"cut off", nil, "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := decodeStream(events(append([]string{begun}, c.last...)...))
			require.NoError(t, err)
			require.Equal(t, c.end, complete)
			require.Equal(t, c.finish, got.Finish)
			require.Equal(t, c.raw, got.FinishRaw)
			require.Equal(t, c.finish == providers.FinishRefusal, got.Refusal == "no")
		})
	}
}

func TestStreamedFaults(t *testing.T) {
	for _, c := range []struct {
		name, last string
		want       *wire.Fault // nil for an event that cannot be read
	}{
		{"overloaded", events(`{"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}`), &wire.Fault{Type: "overloaded_error", Message: "Overloaded"}},
		{"without a name", "data: " + `{"type":"error","error":{"type":"api_error","message":"m"}}` + "\n\n", &wire.Fault{Type: "api_error", Message: "m"}},
		{"named alone", "event: error\ndata: upstream is gone\n\n", &wire.Fault{Message: "upstream is gone"}},
		{"half an event", "data: {\"type\":\"content_bl\n\n", nil},
		{"text is a number", events(text0, blockDelta(`{"type":"text_delta","text":5}`)), nil},
		{"block is a list", events(`{"type":"content_block_start","index":0,"content_block":[]}`), nil},
		{"no block", events(`{"type":"content_block_start","index":0}`), nil},
		{"input of nothing", events(blockDelta(`{"type":"input_json_delta","partial_json":"{}"}`)), nil},
		{"no message", events(`{"type":"message_start"}`), nil},
		{"model is a number", events(`{"type":"message_start","message":{"model":5}}`), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := decodeStream(events(begun, text0, blockDelta(`{"type":"text_delta","text":"a"}`)) + c.last)
			require.Error(t, err)
			require.False(t, complete)
			require.Equal(t, "a", got.Text)
			var f *wire.Fault
			require.Equal(t, c.want != nil, errors.As(err, &f))
			require.Equal(t, c.want, f)
		})
	}
}

func TestOlderCompletions(t *testing.T) {
	part := func(text, stop string) string {
		return `{"type":"completion","id":"compl_1","completion":"` + text + `","stop_reason":` + stop + `,"model":"claude-2.1","stop":null}`
	}
	want := providers.Reply{Text: " Light.", Finish: providers.FinishStop, FinishRaw: "stop_sequence", Model: "claude-2.1", RequestID: "compl_1"}
	for name, body := range map[string]string{
		"whole":             part(" Light.", `"stop_sequence"`),
		"streamed":          events(part(" Light", "null"), ping, part(".", "null"), part("", `"stop_sequence"`)),
		"streamed, by CRLF": strings.ReplaceAll(events(part(" Light", "null"), part(".", `"stop_sequence"`)), "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			got, complete, err := decodeStream(body)
			require.NoError(t, err)
			require.True(t, complete)
			require.Equal(t, want, got)
		})
	}
	_, complete, err := decodeStream(events(part(" Light", "null")))
	require.NoError(t, err)
	require.False(t, complete)
}

func FuzzStream(f *testing.F) {
	f.Add(events(begun, text0, ping, blockDelta(`{"type":"text_delta","text":"a"}`), close0, stopped("end_turn", `{"output_tokens":2}`), ended))
	f.Add(events(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}`, blockDelta(`{"type":"input_json_delta","partial_json":"{}"}`), ended))
	f.Add(events(`{"type":"content_block_start","index":-1,"content_block":{"type":"thinking"}}`, `{"type":"content_block_delta","index":-1,"delta":{"type":"signature_delta","signature":"s"}}`, ended))
	f.Add(events(`{"type":"error","error":"x"}`) + events(`{"type":"completion","completion":"a","stop_reason":"max_tokens"}`))
	f.Fuzz(func(t *testing.T, body string) {
		r, complete, err := decodeStream(body)
		u := r.Usage
		require.GreaterOrEqual(t, min(u.Input, u.Output, u.CacheRead, u.CacheWrite-u.CacheWriteLong, u.CacheWriteLong, u.Reasoning), int64(0))
		if err != nil || !complete {
			return
		}
		require.NotEmpty(t, r.Finish)
		// The continuation is always a message that can be sent.
		_, warnings := messages([]providers.Message{{Role: "assistant", Text: r.Text, Calls: r.Calls, Continuation: r.Continuation}})
		_, err = plainjson.Marshal(warnings)
		require.NoError(t, err)
	})
}
