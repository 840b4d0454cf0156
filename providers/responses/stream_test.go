package responses

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// stream writes events with data lines only.
func stream(events ...string) string {
	return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
}

// decode reads a body, complete or streamed. The fault is one that the provider
// reported.
func decode(body []byte, forced string) (providers.Reply, *wire.Fault, error) {
	r, complete, err := wire.Decode(&decoder{from: "openai-responses"}, wire.Events, body, true, forced)
	var f *wire.Fault
	switch {
	case errors.As(err, &f):
		return r, f, nil
	case err == nil && !complete:
		return r, nil, errCut
	}
	return r, nil, err
}

var errCut = errors.New("cut off")

const (
	created = `{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress","output":[],"usage":null}}`
	message = `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}`
)

func completed(output string) string {
	return `{"type":"response.completed","response":{"id":"resp_1","model":"m-1","status":"completed","output":[` + output + `],"usage":{"input_tokens":3,"output_tokens":2}}}`
}

func delta(kind, text string) string {
	return fmt.Sprintf(`{"type":"response.%s.delta","output_index":0,"item_id":"i","delta":%q}`, kind, text)
}

func call(index int, id, args string) string {
	return fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":%q,"name":"f%d","arguments":%q}`, index, id, index, args)
}

func added(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, index, item)
}

// completedUsage is the usage that completed reports.
var completedUsage = providers.Usage{Reported: true, Input: 3, Output: 2}

// streamed is a stream and its reply.
type streamed struct {
	name   string
	events []string
	want   providers.Reply
}

func checkStreams(t *testing.T, list []streamed) {
	t.Helper()
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(stream(c.events...)), "")
			require.NoError(t, err)
			require.Nil(t, fault)
			got.Model, got.RequestID, got.RawUsage, got.Continuation = "", "", nil, nil
			require.Equal(t, c.want, got)
		})
	}
}

func TestStreams(t *testing.T) {
	usage := completedUsage
	hello := providers.Reply{Text: "Hello", Finish: providers.FinishStop, FinishRaw: "completed", Usage: usage}
	searched := hello
	searched.Usage = used(usage, map[string]int64{"web_search": 1})
	checkStreams(t, []streamed{
		{"text", []string{created, delta("output_text", "Hel"), delta("output_text", "lo"), completed(message)}, hello},
		{"text that is not repeated", []string{created, delta("output_text", "Hello"), completed("")}, hello},
		{"text that was not streamed", []string{created, completed(message)}, hello},
		{"text half streamed", []string{delta("output_text", "He"), completed(message)}, hello},
		{"text in the finished item only", []string{`{"type":"response.output_item.done","output_index":0,"item":` + message + `}`, completed("")}, hello},
		{"text that differs in the end", []string{delta("output_text", "Hello"), completed(strings.Replace(message, "Hello", "Bye", 1))}, hello},
		{"unknown events", []string{created, `{"type":"response.new_thing","delta":{"a":1},"item":7}`, `{"type":"keepalive","sequence_number":3}`, delta("output_text", "Hello"), completed(message), "after the end"}, hello},
		{"a word of another wire", []string{delta("output_text", "Hello"), "[DONE]", completed(message)}, hello},
		{"items of other types", []string{added(0, `{"type":"web_search_call","id":"w","action":{},"content":5}`), delta("output_text", "Hello"), completed(`{"type":"web_search_call","id":"w","content":5,"summary":"x","arguments":{}},` + message)}, searched},
		{
			"refusal", []string{delta("refusal", "I"), delta("refusal", " won't"), completed(`{"type":"message","content":[{"type":"refusal","refusal":"I won't"}]}`)},
			providers.Reply{Refusal: "I won't", Finish: providers.FinishRefusal, FinishRaw: "completed", Usage: usage},
		},
		{
			"reasoning and its summary", []string{delta("reasoning_summary_text", "sum"), delta("reasoning_text", "raw"), delta("output_text", "Hello"), completed(`{"type":"reasoning","summary":[{"type":"summary_text","text":"sum"}],"content":[{"type":"reasoning_text","text":"raw"}]},` + message)},
			providers.Reply{Text: "Hello", Reasoning: "sumraw", Finish: providers.FinishStop, FinishRaw: "completed", Usage: usage},
		},
		{
			"a summary that is written again in the end", []string{delta("reasoning_summary_text", "first"), delta("reasoning_summary_text", " thoughts"), delta("output_text", "Hello"), completed(`{"type":"reasoning","summary":[{"type":"summary_text","text":"First thoughts, revised"}]},` + message)},
			providers.Reply{Text: "Hello", Reasoning: "First thoughts, revised", Finish: providers.FinishStop, FinishRaw: "completed", Usage: usage},
		},
		{
			"a summary that the end leaves out", []string{delta("reasoning_summary_text", "first"), delta("output_text", "Hello"), completed(`{"type":"reasoning","summary":[]},` + message)},
			providers.Reply{Text: "Hello", Reasoning: "first", Finish: providers.FinishStop, FinishRaw: "completed", Usage: usage},
		},
		{
			"cut by a limit", []string{delta("output_text", "Hel"), `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[],"usage":{"input_tokens":3,"output_tokens":2}}}`},
			providers.Reply{Text: "Hel", Finish: providers.FinishLength, FinishRaw: "max_output_tokens", Usage: usage},
		},
		{
			"an end without a response", []string{delta("output_text", "Hel"), `{"type":"response.completed"}`},
			providers.Reply{Text: "Hel", Finish: providers.FinishStop, FinishRaw: "completed"},
		},
	})
}

func TestStreamedCalls(t *testing.T) {
	calls := func(c ...providers.ToolCall) providers.Reply {
		return providers.Reply{Calls: c, Finish: providers.FinishTools, FinishRaw: "completed", Usage: completedUsage}
	}
	argsDelta := func(index int, item, text string) string {
		return fmt.Sprintf(`{"type":"response.function_call_arguments.delta","output_index":%d,"item_id":%q,"delta":%q}`, index, item, text)
	}
	checkStreams(t, []streamed{
		{
			"two calls at once", []string{added(0, call(0, "a", "")), added(1, call(1, "b", "")), argsDelta(1, "fc_1", `{"y"`), argsDelta(0, "fc_0", `{"x":1}`), argsDelta(1, "fc_1", `:2}`), completed(call(0, "a", `{"x":1}`) + "," + call(1, "b", `{"y":2}`))},
			calls(providers.ToolCall{ID: "a", Name: "f0", Args: `{"x":1}`}, providers.ToolCall{ID: "b", Name: "f1", Args: `{"y":2}`}),
		},
		{
			"ids that change between events", []string{added(0, call(0, "a", "")), argsDelta(0, "other", `{"x":1}`), completed("")},
			calls(providers.ToolCall{ID: "a", Name: "f0", Args: `{"x":1}`}),
		},
		{
			"no index", []string{`{"type":"response.output_item.added","item":` + call(0, "a", "") + `}`, `{"type":"response.function_call_arguments.delta","item_id":"fc_0","delta":"{}"}`, completed(call(0, "a", "{}"))},
			calls(providers.ToolCall{ID: "a", Name: "f0", Args: "{}"}),
		},
		{
			"arguments whole at once and again", []string{added(0, call(0, "a", `{"x":1}`)), argsDelta(0, "fc_0", `{"x":1}`), `{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"x\":1}"}`, completed(call(0, "a", `{"x":1}`))},
			calls(providers.ToolCall{ID: "a", Name: "f0", Args: `{"x":1}`}),
		},
		{
			"arguments done only", []string{added(0, call(0, "a", "")), `{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"x\":1}"}`, completed("")},
			calls(providers.ToolCall{ID: "a", Name: "f0", Args: `{"x":1}`}),
		},
		{
			"a call that was not announced", []string{argsDelta(0, "fc_0", `{"x":1}`), `{"type":"response.output_item.done","output_index":0,"item":` + call(0, "a", `{"x":1}`) + `}`, completed("")},
			calls(providers.ToolCall{ID: "a", Name: "f0", Args: `{"x":1}`}),
		},
		{
			"one id for two calls", []string{added(0, call(0, "same", "")), added(1, call(1, "same", "")), argsDelta(0, "fc_0", `{"x":1}`), argsDelta(1, "fc_1", `{"y":2}`), completed(call(0, "same", `{"x":1}`) + "," + call(1, "same", `{"y":2}`))},
			calls(providers.ToolCall{ID: "same", Name: "f0", Args: `{"x":1}`}, providers.ToolCall{ID: "call_2", Name: "f1", Args: `{"y":2}`}),
		},
		{
			"a further call in the end", []string{added(0, call(0, "a", "")), completed(call(1, "b", "{}") + "," + call(0, "a", "{}"))},
			calls(providers.ToolCall{ID: "a", Name: "f0", Args: "{}"}, providers.ToolCall{ID: "b", Name: "f1", Args: "{}"}),
		},
	})
}

// TestEventLines: the type can be in the event line only, which can come after the
// data.
func TestEventLines(t *testing.T) {
	text := `{"delta":"Hello"}`
	end := strings.Replace(completed(message), `"type":"response.completed",`, "", 1)
	for name, body := range map[string]string{
		"type in the event line": "event: response.output_text.delta\ndata: " + text + "\n\nevent: response.completed\ndata: " + end + "\n\n",
		"data before the event":  "data: " + text + "\nevent: response.output_text.delta\n\ndata: " + end + "\nevent: response.completed\n\n",
		"without the last line":  "data: " + text + "\nevent: response.output_text.delta\n\ndata: " + completed(message),
	} {
		got, fault, err := decode([]byte(body), "")
		require.NoError(t, err, name)
		require.Nil(t, fault)
		require.Equal(t, "Hello", got.Text)
		require.Equal(t, "m-1", got.Model)
		require.Equal(t, "resp_1", got.RequestID)
	}
}

func TestStreamsThatFail(t *testing.T) {
	said := delta("output_text", "Hel")
	for _, c := range []struct {
		name  string
		event string
		want  wire.Fault
	}{
		{"failed", `{"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"server_error","message":"boom"},"usage":{"input_tokens":3,"output_tokens":2}}}`, wire.Fault{Code: "server_error", Message: "boom"}},
		{"failed, error beside", `{"type":"response.failed","error":{"type":"t","code":"rate_limit_exceeded","message":"slow"}}`, wire.Fault{Type: "t", Code: "rate_limit_exceeded", Message: "slow"}},
		{"failed without a word", `{"type":"response.failed","response":{"status":"failed","error":null}}`, wire.Fault{Message: "the response failed without an explanation"}},
		{"failed in the end", `{"type":"response.completed","response":{"status":"failed","error":{"code":"c","message":"boom"}}}`, wire.Fault{Code: "c", Message: "boom"}},
		{"error, flat", `{"type":"error","code":"rate_limit_exceeded","message":"slow","param":null,"sequence_number":1}`, wire.Fault{Code: "rate_limit_exceeded", Message: "slow"}},
		{"error, flat, no code", `{"type":"error","code":null,"message":"slow","param":null}`, wire.Fault{Message: "slow"}},
		{"error, nested", `{"type":"error","sequence_number":2,"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"pay","param":null}}`, wire.Fault{Type: "insufficient_quota", Code: "insufficient_quota", Message: "pay"}},
		{"error of a router", `{"type":"response.error","error":{"code":502,"message":"upstream"}}`, wire.Fault{Code: "502", Message: "upstream"}},
		{"error without a type", `{"error":{"message":"boom","code":"c"}}`, wire.Fault{Code: "c", Message: "boom"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(stream(created, said, c.event)), "")
			require.NoError(t, err)
			require.Equal(t, &c.want, fault)
			require.Equal(t, "Hel", got.Text, "the text before the failure is kept")
			require.Equal(t, "resp_1", got.RequestID)
		})
	}
}

func TestStreamsThatAreNone(t *testing.T) {
	for name, event := range map[string]string{
		"no type": `{"a":1}`, "no JSON": `{"type":"response.out`, "a list": `[]`,
		"an invalid call":        `{"type":"response.output_item.added","item":{"type":"function_call","name":7}}`,
		"a response that is not": `{"type":"response.completed","response":7}`,
		"a beginning of numbers": `{"type":"response.created","response":{"id":7}}`,
	} {
		_, fault, err := decode([]byte(stream(event)), "")
		require.Error(t, err, name)
		require.NotErrorIs(t, err, errCut, name)
		require.Nil(t, fault)
	}
	for name, events := range map[string][]string{"no end": {created, delta("output_text", "Hel")}, "an end of another wire": {created, "[DONE]"}} {
		got, fault, err := decode([]byte(stream(events...)), "")
		require.ErrorIs(t, err, errCut, name)
		require.Nil(t, fault)
		require.Equal(t, "m", got.Model)
	}
}

// TestPieces checks that each piece is delivered once, in order.
func TestPieces(t *testing.T) {
	r, _, err := wire.Decode(&decoder{}, wire.Events, []byte(stream(created, delta("output_text", "He"), completed(message))), true, "")
	require.NoError(t, err)
	require.Equal(t, "Hello", r.Text)
	require.Equal(t, `{"input_tokens":3,"output_tokens":2}`, string(r.RawUsage), "byte for byte")
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(stream(created, delta("output_text", "Hel"), completed(message))))
	f.Add([]byte(stream(added(0, call(0, "a", "")), `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}`, completed(call(0, "a", "{}")))))
	f.Add([]byte(stream(`{"type":"error","error":{"code":"c"}}`)))
	f.Add([]byte("data: {\"delta\":\"a\"}\nevent: response.refusal.delta\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		reply, fault, err := decode(body, "")
		checkReply(t, reply)
		if fault == nil && err == nil {
			require.NotEmpty(t, reply.Finish)
		}
	})
}
