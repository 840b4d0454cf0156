package responses

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// loop sends the message for a reply back, and returns the input of the request.
func loop(t *testing.T, to providers.Factory, m providers.Message) string {
	t.Helper()
	got, warnings := body(t, dialectOf(t, to), providers.Call{Model: "m", Messages: []providers.Message{m}})
	require.Empty(t, warnings)
	var r struct{ Input json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(got), &r))
	return string(r.Input)
}

func said(r providers.Reply) providers.Message {
	return providers.Message{Role: providers.RoleAssistant, Text: r.Text, Calls: r.Calls, Continuation: r.Continuation}
}

const (
	thought = `{"type":"reasoning","id":"rs_1","status":null,"summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"c2VhbGVk"}`
	spoken  = `{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"let me see","annotations":[],"logprobs":[]}]}`
	called  = `{"type":"function_call","id":"fc_1","status":"completed","call_id":"call_1","name":"f","arguments":"{\"a\": 1}","item_id":"odd"}`

	sentThought = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"c2VhbGVk"}`
	sentSpoken  = `{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"let me see"}]}`
	sentCalled  = `{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"a\": 1}"}`
)

// whole reads an output as OpenAI's server sends it.
func whole(t *testing.T, output string) providers.Reply {
	t.Helper()
	r, fault, err := decode([]byte(`{"id":"resp_1","model":"m","status":"completed","output":[`+output+`]}`), "")
	require.NoError(t, err)
	require.Nil(t, fault)
	return r
}

func TestOutputGoesBackInItsOrder(t *testing.T) {
	for _, c := range []struct{ name, output, want string }{
		{"all in order", thought + "," + spoken + "," + called, "[" + sentThought + "," + sentSpoken + "," + sentCalled + "]"},
		{"reasoning in between", spoken + "," + thought + "," + called, "[" + sentSpoken + "," + sentThought + "," + sentCalled + "]"},
		{"plain reasoning", `{"type":"reasoning","id":"x","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},` + called, `[{"type":"reasoning","id":"x","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},` + sentCalled + "]"},
		{"compacted", `{"type":"compaction","id":"cmp_1","encrypted_content":"eA=="},` + spoken, `[{"type":"compaction","id":"cmp_1","encrypted_content":"eA=="},` + sentSpoken + "]"},
		{"search in between", thought + `,{"type":"web_search_call","id":"ws_1","action":{"type":"search"}},` + spoken, "[" + sentThought + "," + sentSpoken + "]"},
		{"refusal", `{"type":"message","phase":"final_answer","content":[{"type":"refusal","refusal":"no"}]}`, `[{"type":"message","role":"assistant","phase":"final_answer","content":[{"type":"refusal","refusal":"no"}]}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, loop(t, New, said(whole(t, c.output))))
		})
	}
}

func TestNothingToCarry(t *testing.T) {
	for name, output := range map[string]string{
		"text":                 `{"type":"message","content":[{"type":"output_text","text":"a"}]}`,
		"a call":               called,
		"reasoning by id only": `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]},` + called,
		"nothing":              ``,
	} {
		require.Nil(t, whole(t, output).Continuation, name)
	}
}

func TestContinuationOfOthersIsLeftOut(t *testing.T) {
	own := said(whole(t, thought+","+called))
	require.Equal(t, "["+sentCalled+"]", loop(t, XAI, own), "another server cannot read sealed reasoning")
	for name, text := range map[string]string{
		"another wire": `{"wire":"anthropic","items":[{"type":"reasoning"}]}`, "a list": `[1]`, "no JSON": `{"wire`, "nothing": ``,
		"wrong types": `{"wire":"openai.responses","from":"openai-responses","items":[1]}`,
	} {
		m := own
		m.Continuation = json.RawMessage(text)
		require.Equal(t, "["+sentCalled+"]", loop(t, New, m), name)
	}
}

// TestChangedMessages: the message is used, and its reasoning comes before it.
func TestChangedMessages(t *testing.T) {
	original := said(whole(t, spoken+","+thought+","+called))
	for _, c := range []struct {
		name   string
		change func(*providers.Message)
		want   string
	}{
		{"text", func(m *providers.Message) { m.Text = "other" }, `[` + sentThought + `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"other"}]},` + sentCalled + `]`},
		{"no calls", func(m *providers.Message) { m.Calls = nil }, `[` + sentThought + `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"let me see"}]}]`},
		{"another id", func(m *providers.Message) {
			m.Calls = []providers.ToolCall{{ID: "mine", Name: "f", Args: `{"a": 1}`}}
		}, `[` + sentThought + `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"let me see"}]},{"type":"function_call","call_id":"mine","name":"f","arguments":"{\"a\": 1}"}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := original
			c.change(&m)
			require.Equal(t, c.want, loop(t, New, m))
		})
	}
}

// TestStreamedAndWholeCarryTheSame also covers a last event that does not repeat the
// output.
func TestStreamedAndWholeCarryTheSame(t *testing.T) {
	want := whole(t, thought+","+called)
	for name, last := range map[string]string{"repeated": thought + "," + called, "left out": ""} {
		got, fault, err := decode([]byte(stream(
			`{"type":"response.output_item.done","output_index":0,"item":`+thought+`}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":""}}`,
			`{"type":"response.output_item.done","output_index":1,"item":`+called+`}`,
			`{"type":"response.completed","response":{"id":"resp_1","model":"m","status":"completed","output":[`+last+`]}}`,
		)), "")
		require.NoError(t, err)
		require.Nil(t, fault)
		require.Equal(t, want, got, name)
	}
}
