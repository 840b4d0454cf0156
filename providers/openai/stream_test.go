package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// events makes a stream of chunks. Chunks that are not objects are sent unchanged.
func events(chunks ...string) []byte {
	var b strings.Builder
	for _, c := range chunks {
		if strings.HasPrefix(c, "{") || c == "[DONE]" {
			c = "data: " + c
		}
		b.WriteString(c + "\n\n")
	}
	return []byte(b.String())
}

// delta returns a chunk with one choice; more is added next to its delta.
func delta(fields, more string) string {
	return `{"id":"x","model":"m","choices":[{"index":0,"delta":{` + fields + `}` + more + `}]}`
}

func decodeStream(t *testing.T, d Dialect, body []byte) (providers.Reply, bool) {
	t.Helper()
	r, complete, err := wire.Decode(newDecoder(d, true), wire.Events, body, true, "")
	require.NoError(t, err)
	return r, complete
}

func TestStreamForms(t *testing.T) {
	const (
		stop = `,"finish_reason":"stop"`
		done = "[DONE]"
	)
	for _, c := range []struct {
		name   string
		chunks []string
		want   providers.Reply
	}{
		{"text", []string{delta(`"role":"assistant","content":""`, ``), delta(`"content":"a"`, `,"finish_reason":null`), delta(`"content":"b"`, ``), delta(``, stop), done}, providers.Reply{Text: "ab"}},
		{"content null", []string{delta(`"content":null`, ``), delta(`"content":"a"`, stop), done}, providers.Reply{Text: "a"}},
		{"content parts", []string{delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`, ``), delta(`"content":[{"type":"text","text":"a"}]`, ``), delta(`"content":"b"`, stop), done}, providers.Reply{Text: "ab", Reasoning: "hm"}},
		{"reasoning_content", []string{delta(`"content":null,"reasoning_content":"h"`, ``), delta(`"reasoning_content":"m"`, ``), delta(`"content":"a","reasoning_content":null`, stop), done}, providers.Reply{Text: "a", Reasoning: "hm"}},
		{"reasoning told twice", []string{delta(`"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0}]`, ``), delta(`"content":"a","reasoning":null,"reasoning_details":[]`, stop), done}, providers.Reply{Text: "a", Reasoning: "hm"}},
		{"tags stay in the text", []string{delta(`"content":"<think>hm</think>a"`, stop), done}, providers.Reply{Text: "<think>hm</think>a"}},
		{"refusal", []string{delta(`"refusal":"no"`, ``), delta(`"refusal":" way"`, stop), done}, providers.Reply{Refusal: "no way", Finish: providers.FinishRefusal}},
		{"no end but a finish reason", []string{delta(`"content":"a"`, stop)}, providers.Reply{Text: "a"}},
		{"no finish reason but an end", []string{delta(`"content":"a"`, `,"finish_reason":""`), done}, providers.Reply{Text: "a", Finish: providers.FinishOther, FinishRaw: "-"}},
		{"finish reason twice", []string{delta(`"content":"a"`, stop), delta(`"content":""`, stop), done}, providers.Reply{Text: "a"}},
		{"comments and a keep-alive", []string{": PROCESSING", delta(`"content":"a"`, stop), ": more", `{"choices":[]}`, done}, providers.Reply{Text: "a"}},
		{"other choices", []string{
			`{"model":"m","id":"x","choices":[{"index":1,"delta":{"content":"second"},"finish_reason":"length"}]}`, delta(`"content":"a"`, ``),
			`{"choices":[{"index":1,"delta":{"content":"!"}},{"index":0,"delta":{"content":"b"}}]}`, delta(``, stop), done,
		}, providers.Reply{Text: "ab"}},
		{"no index", []string{`{"id":"x","model":"m","choices":[{"delta":{"content":"a"}}]}`, delta(``, stop), done}, providers.Reply{Text: "a"}},
		{"a message besides that repeats it all", []string{delta(`"content":"a"`, `,"message":{"content":"a"}`), delta(`"content":"b"`, stop+`,"message":{"content":"ab"}`)}, providers.Reply{Text: "ab"}},
		{"all at once", []string{`{"id":"x","model":"m","choices":[{"message":{"content":"ab"},"finish_reason":"stop"}]}`, done}, providers.Reply{Text: "ab"}},
		{"filter results without a delta", []string{`{"id":"x","model":"m","choices":[{"index":0,"finish_reason":null,"content_filter_offsets":{"end_offset":1}}]}`, delta(`"content":"a"`, stop), done}, providers.Reply{Text: "a"}},
		{"legacy completion", []string{`{"id":"x","model":"m","choices":[{"index":0,"text":"a","finish_reason":null}]}`, `{"choices":[{"index":0,"text":"b","finish_reason":"stop"}]}`, done}, providers.Reply{Text: "ab"}},
		{"text besides the delta", []string{delta(`"content":"a"`, `,"text":"a"`), delta(``, stop+`,"text":""`), done}, providers.Reply{Text: "a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete := decodeStream(t, Dialect{}, events(c.chunks...))
			require.True(t, complete)
			switch c.want.FinishRaw {
			case "-":
				c.want.FinishRaw = ""
			default:
				c.want.FinishRaw = "stop"
			}
			if c.want.Finish == "" {
				c.want.Finish = providers.FinishStop
			}
			c.want.Model, c.want.RequestID = "m", "x"
			require.Equal(t, c.want, got)
		})
	}
}

func TestStreamsOfCalls(t *testing.T) {
	call := func(fields string) string { return delta(`"tool_calls":[`+fields+`]`, ``) }
	for _, c := range []struct {
		name   string
		chunks []string
		want   []providers.ToolCall
	}{
		{"in pieces", []string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`), call(`{"index":0,"function":{"arguments":"{\"x\":"}}`), call(`{"index":0,"function":{"arguments":"1}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}}},
		{"two, mixed", []string{call(`{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"id":"b","function":{"name":"g"}}`), call(`{"index":1,"function":{"arguments":"[2]"}}`), call(`{"index":0,"function":{"arguments":"{}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{}`}, {ID: "b", Name: "g", Args: `[2]`}}},
		{"no arguments", []string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":null}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{}`}}},
		{"no index", []string{call(`{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`), call(`{"id":"b","function":{"name":"f","arguments":"{\"x\":1}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}, {ID: "b", Name: "f", Args: `{"x":1}`}}},
		{"no index, in pieces by id", []string{call(`{"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), call(`{"id":"a","function":{"arguments":":1}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}}},
		{"neither index nor id", []string{call(`{"function":{"name":"f","arguments":"{\"x\":1}"}}`), call(`{"function":{"name":"f","arguments":"{\"x\":2}"}}`)}, []providers.ToolCall{{ID: "call_1", Name: "f", Args: `{"x":1}`}, {ID: "call_2", Name: "f", Args: `{"x":2}`}}},
		{"empty ids", []string{call(`{"index":0,"id":"","function":{"name":"f","arguments":"{}"}}`), call(`{"index":1,"id":"","function":{"name":"f","arguments":"{}"}}`)}, []providers.ToolCall{{ID: "call_1", Name: "f", Args: `{}`}, {ID: "call_2", Name: "f", Args: `{}`}}},
		{"an id that comes late", []string{call(`{"index":0,"function":{"name":"f","arguments":"{"}}`), call(`{"index":0,"id":"a","function":{"arguments":"}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{}`}}},
		{"one index for parallel calls", []string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`), call(`{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}, {ID: "b", Name: "f", Args: `{"x":2}`}}},
		{"one index and no ids", []string{call(`{"index":0,"function":{"name":"f","arguments":"{\"x\":\"}\"}"}}`), call(`{"index":0,"function":{"name":"g","arguments":"{}"}}`), call(`{"index":0,"function":{"name":"g","arguments":"{\"y\":[1]}"}}`)}, []providers.ToolCall{{ID: "call_1", Name: "f", Args: `{"x":"}"}`}, {ID: "call_2", Name: "g", Args: `{}`}, {ID: "call_3", Name: "g", Args: `{"y":[1]}`}}},
		{"one index and one id", []string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`), call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":2}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}, {ID: "call_2", Name: "f", Args: `{"x":2}`}}},
		{"repeated when whole", []string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), call(`{"index":0,"function":{"arguments":":1}"}}`), call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}}},
		{"name and id in every piece", []string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\\\"{\""}}`), call(`{"index":0,"id":"a","function":{"name":"f","arguments":":1"}}`), call(`{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x\"{":1}`}}},
		{"name in every piece, an object for a list", []string{delta(`"tool_calls":{"index":0,"id":"","function":{"name":"f","arguments":"{"}}`, ``), delta(`"tool_calls":{"index":0,"id":"","function":{"name":"f","arguments":"}"}}`, ``)}, []providers.ToolCall{{ID: "call_1", Name: "f", Args: `{}`}}},
		{"a stand-in before the arguments", []string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), call(`{"index":0,"function":{"arguments":"{\"x\":"}}`), call(`{"index":0,"function":{"arguments":"1}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}}},
		{"parsed arguments", []string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":{"x": 1}}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x": 1}`}}},
		{"cut", []string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\": \"un"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x": "un`}}},
		{"function_call", []string{delta(`"function_call":{"name":"f","arguments":"{"}`, ``), delta(`"function_call":{"arguments":"}"}`, ``)}, []providers.ToolCall{{ID: "call_1", Name: "f", Args: `{}`}}},
		{"numbers written another way", []string{call(`{"index":0.0,"id":7,"function":{"name":"f","arguments":"{"}}`), call(`{"index":0,"id":7,"function":{"arguments":"}"}}`)}, []providers.ToolCall{{ID: "7", Name: "f", Args: `{}`}}},
		{"an index of -1", []string{call(`{"index":-1,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), call(`{"index":-1,"function":{"arguments":":1}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}}},
		{"two of an index of -1", []string{call(`{"index":-1,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":-1,"id":"b","function":{"name":"f","arguments":"{}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{}`}, {ID: "b", Name: "f", Args: `{}`}}},
		{"what is not an index", []string{call(`{"index":null,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":0.5,"id":"b","function":{"name":"f","arguments":"{}"}},{"index":"x","id":"c","function":{"name":"f","arguments":"{}"}},{"index":1e300,"id":"d","function":{"name":"f","arguments":"{}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{}`}, {ID: "b", Name: "f", Args: `{}`}, {ID: "c", Name: "f", Args: `{}`}, {ID: "d", Name: "f", Args: `{}`}}},
		{"a custom tool", []string{call(`{"index":0,"id":"a","type":"custom","custom":{"name":"f","input":""}}`), call(`{"index":0,"custom":{"input":"{\"x\":"}}`), call(`{"index":0,"custom":{"input":"1}"}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}}},
		{"a function beside an empty custom tool", []string{call(`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"custom":{"name":"","input":""}}`)}, []providers.ToolCall{{ID: "a", Name: "f", Args: `{}`}}},
		{"a function of another type", []string{call(`{"index":0,"id":"a","type":"builtin_function","function":{"name":"$web_search","arguments":"{}"}}`)}, []providers.ToolCall{{ID: "a", Name: "$web_search", Args: `{}`}}},
		{"nothing in it", []string{call(`{}`), call(`{"index":0,"type":"function"}`)}, nil},
		{"empty function_call", []string{delta(`"content":"","function_call":{"name":"","arguments":""},"tool_calls":null`, ``)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete := decodeStream(t, Dialect{}, events(append(c.chunks, delta(``, `,"finish_reason":"stop"`), "[DONE]")...))
			require.True(t, complete)
			require.Equal(t, c.want, got.Calls)
			require.Equal(t, map[bool]providers.Finish{true: providers.FinishTools, false: providers.FinishStop}[len(c.want) > 0], got.Finish)
		})
	}
}

// TestAFinishReasonNeedsACleanEnd: usage or another call can follow the finish reason,
// and could be lost.
func TestAFinishReasonNeedsACleanEnd(t *testing.T) {
	reset := iotest.ErrReader(errors.New("connection reset"))
	finished := events(delta(`"content":"a"`, `,"finish_reason":"stop"`))
	done := events("[DONE]")
	for name, c := range map[string]struct {
		body io.Reader
		ok   bool
	}{
		"clean":                    {bytes.NewReader(finished), true},
		"broken":                   {io.MultiReader(bytes.NewReader(finished), reset), false},
		"broken in the next event": {io.MultiReader(bytes.NewReader(finished), strings.NewReader(`data: {"choices":[],"usage":{"prom`), reset), false},
		"broken after the end":     {io.MultiReader(bytes.NewReader(finished), bytes.NewReader(done), reset), true},
		"cut in the next event":    {io.MultiReader(bytes.NewReader(finished), strings.NewReader(`data: {"choices":[],"usage":{"prom`)), false},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := New(providers.Options{BaseURL: "http://served.test/v1", HTTP: &http.Client{Transport: testkit.Body(c.body)}})
			require.NoError(t, err)
			got, err := m.Call(context.Background(), providers.Call{Model: "m", Stream: true})
			require.Equal(t, "a", got.Text)
			if c.ok {
				require.NoError(t, err)
				return
			}
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, fault.Transport, e.Kind)
			require.True(t, e.Partial)
		})
	}
}

// TestCallsThatAreLeftOut: such calls are always reported, and never count against the
// model.
func TestCallsThatAreLeftOut(t *testing.T) {
	for name, c := range map[string]struct{ calls, left string }{
		"function is text":       {`[{"index":0,"function":"f"}]`, "tool_calls of an unknown form"},
		"another type":           {`[{"index":0,"id":"a","type":"mcp","mcp":{"name":"f"}}]`, "mcp"},
		"two of other types":     {`[{"index":0,"id":"a","type":"mcp"},{"index":1,"id":"b","type":"web_search"}]`, "mcp, web_search"},
		"free text":              {`[{"index":0,"id":"a","type":"custom","custom":{"name":"run","input":"print(1)"}}]`, "custom tool run"},
		"no name":                {`[{"index":0,"id":"a","type":"function","function":{"arguments":"{}"}}]`, "a call without a name"},
		"nothing but an id":      {`[{"id":"a"}]`, "a call without a name"},
		"a list of texts":        {`["f"]`, "tool_calls of an unknown form"},
		"a custom call, nothing": {`[{"id":"a","type":"custom","custom":{"name":"","input":""}}]`, "a call without a name"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, body := range [][]byte{
				events(delta(`"content":"a","tool_calls":`+c.calls, `,"finish_reason":"tool_calls"`), "[DONE]"),
				[]byte(`{"choices":[{"message":{"content":"a","tool_calls":` + c.calls + `},"finish_reason":"tool_calls"}]}`),
			} {
				got, _, err := wire.Decode(newDecoder(Dialect{}, true), wire.Events, body, true, "")
				require.ErrorContains(t, err, "the reply has a call that cupel does not read: ")
				require.ErrorContains(t, err, c.left)
				require.Equal(t, "a", got.Text)
			}
		})
	}
}

func TestStreamUsage(t *testing.T) {
	const stop = `,"finish_reason":"stop"`
	with := func(usage string) string { return `{"choices":[],"usage":` + usage + `}` }
	for _, c := range []struct {
		name   string
		chunks []string
		want   providers.Usage
		raw    string
	}{
		{"in a chunk of its own", []string{delta(`"content":"a"`, stop), with(`{"prompt_tokens":3,"completion_tokens":2}`)}, providers.Usage{Reported: true, Input: 3, Output: 2}, `{"prompt_tokens":3,"completion_tokens":2}`},
		{"in the last chunk", []string{`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`}, providers.Usage{Reported: true, Input: 3, Output: 2}, `{"prompt_tokens":3,"completion_tokens":2}`},
		{"in many", []string{with(`{"prompt_tokens":3,"completion_tokens":1}`), delta(`"content":"a"`, stop), with(`null`), with(`{"prompt_tokens":3,"completion_tokens":2}`)}, providers.Usage{Reported: true, Input: 3, Output: 2}, `{"prompt_tokens":3,"completion_tokens":2}`},
		{"one side, then both", []string{with(`{"prompt_tokens":3,"completion_tokens":null,"total_tokens":null}`), delta(`"content":"a"`, stop), with(`{"prompt_tokens":3,"completion_tokens":2}`)}, providers.Usage{Reported: true, Input: 3, Output: 2}, `{"prompt_tokens":3,"completion_tokens":2}`},
		{"both, then one side", []string{with(`{"prompt_tokens":3,"completion_tokens":2}`), delta(`"content":"a"`, stop), with(`{"prompt_tokens":3}`)}, providers.Usage{Reported: true, Input: 3, Output: 2}, `{"prompt_tokens":3,"completion_tokens":2}`},
		{"one side only", []string{with(`{"prompt_tokens":3}`), delta(`"content":"a"`, stop)}, providers.Usage{Input: 3}, `{"prompt_tokens":3}`},
		{"Groq's own field", []string{delta(`"content":"a"`, stop), `{"choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":3,"completion_tokens":2}}}`}, providers.Usage{Reported: true, Input: 3, Output: 2}, `{"prompt_tokens":3,"completion_tokens":2}`},
		{"absent", []string{delta(`"content":"a"`, stop)}, providers.Usage{}, ``},
		{"with a tier", []string{delta(`"content":"a"`, stop), `{"choices":[],"service_tier":"flex","usage":{"prompt_tokens":3,"completion_tokens":2}}`}, providers.Usage{Reported: true, Input: 3, Output: 2, Tier: "flex"}, `{"prompt_tokens":3,"completion_tokens":2}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete := decodeStream(t, Dialect{}, events(append(c.chunks, "[DONE]")...))
			require.True(t, complete)
			require.Equal(t, c.want, got.Usage)
			require.Equal(t, c.raw, string(got.RawUsage))
		})
	}
}

func TestStreamFaults(t *testing.T) {
	for _, c := range []struct {
		name, last string
		want       wire.Fault
	}{
		{"error object", `{"error":{"message":"boom","type":"server_error","code":null}}`, wire.Fault{Type: "server_error", Message: "boom"}},
		{"beside a choice", `{"error":{"code":502,"message":"boom"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, wire.Fault{Code: "502", Message: "boom"}},
		{"in a choice", `{"choices":[{"index":0,"delta":{},"error":{"code":502,"message":"boom"},"finish_reason":"error"}]}`, wire.Fault{Code: "502", Message: "boom"}},
		{"error event", "event: error\ndata: {\"message\":\"boom\"}", wire.Fault{Message: "boom"}},
		{"error text", `{"error":"boom","error_type":"generation"}`, wire.Fault{Type: "generation", Message: "boom"}},
		{"no envelope", `{"object":"error","message":"boom","type":"BadRequestError","code":400}`, wire.Fault{Type: "BadRequestError", Code: "400", Message: "boom"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := wire.Decode(newDecoder(Dialect{}, true), wire.Events, events(delta(`"content":"a"`, ``), c.last, "[DONE]"), true, "")
			var f *wire.Fault
			require.ErrorAs(t, err, &f)
			require.Equal(t, c.want, *f)
			require.False(t, complete)
			require.Equal(t, "a", got.Text)
		})
	}
}

func TestStreamsThatAreNone(t *testing.T) {
	for name, body := range map[string][]byte{
		"nothing but an end":      events("[DONE]"),
		"not JSON":                events(delta(`"content":"a"`, ``), "data: oops", "[DONE]"),
		"content is a number":     events(delta(`"content":1`, ``), "[DONE]"),
		"whole message, unasked":  events(`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, "[DONE]"),
		"choices is not a list":   events(`{"choices":{"delta":{"content":"a"}}}`, "[DONE]"),
		"end before the last bit": append(events(delta(`"content":"a"`, ``)), `data: {"choices":[{"in`...),
	} {
		t.Run(name, func(t *testing.T) {
			_, complete, err := wire.Decode(newDecoder(Dialect{}, false), wire.Events, body, false, "")
			require.Error(t, err)
			require.False(t, complete)
		})
	}
	_, complete := decodeStream(t, Dialect{}, events(delta(`"content":"a"`, ``)))
	require.False(t, complete, "neither a finish reason nor an end")
}

func FuzzStream(f *testing.F) {
	f.Add(events(delta(`"content":"a","reasoning":"b"`, ``), delta(`"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]`, ``), delta(``, `,"finish_reason":"stop"`), `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, "[DONE]"))
	f.Add(events(`{"choices":[{"text":"a"}]}`, `{"error":{"message":"m","code":429}}`))
	f.Add(events(delta(`"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"arguments":"{}"}},{"id":"x","function":{"name":"f","arguments":"{}"}}]`, ``), "[DONE]"))
	f.Add(events(delta(`"reasoning_details":[{"type":"t","index":0,"text":"a"},{"type":"t","index":0,"text":"b"}],"extra_content":{}`, ``), "[DONE]"))
	d := Dialect{Keeps: []string{keepContent, keepDetails, keepExtra}}
	f.Fuzz(func(t *testing.T, body []byte) {
		reply, complete, err := wire.Decode(newDecoder(d, true), wire.Events, body, true, "")
		u := reply.Usage
		require.GreaterOrEqual(t, min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning), int64(0))
		ids := map[string]bool{}
		for _, c := range reply.Calls {
			require.NotEmpty(t, c.ID)
			require.False(t, ids[c.ID])
			ids[c.ID] = true
		}
		if err == nil && complete {
			require.NotEmpty(t, reply.Finish)
		}
		require.True(t, reply.Continuation == nil || json.Valid(reply.Continuation))
	})
}
