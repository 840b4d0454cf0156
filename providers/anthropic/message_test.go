package anthropic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/plainjson"
	"github.com/cupel-eval/cupel/providers"
)

// sent returns the body of a request for a model named m, without the fields that every
// request has.
func sent(t *testing.T, call providers.Call) (string, []string) {
	t.Helper()
	call.Model, call.MaxTokens = "m", 9
	body, warnings := newRequest(call)
	text, err := plainjson.Marshal(body)
	require.NoError(t, err)
	const begin, end = `{"model":"m","max_tokens":9,"messages":`, `}`
	require.Equal(t, begin, string(text[:len(begin)]))
	return string(text[len(begin) : len(text)-len(end)]), warnings
}

func TestConversations(t *testing.T) {
	user := func(text string) providers.Message { return providers.Message{Role: "user", Text: text} }
	result := func(id, text string) providers.Message {
		return providers.Message{Role: "tool", CallID: id, Name: "n", Text: text}
	}
	calls := func(c ...providers.ToolCall) providers.Message {
		return providers.Message{Role: "assistant", Calls: c}
	}
	png := providers.Image{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	const pngPart = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
	for _, c := range []struct {
		name     string
		messages []providers.Message
		want     string
		warnings []string
	}{
		{"text alone stays a string", []providers.Message{user("a"), {Role: "assistant", Text: " b "}, user("")}, `[{"role":"user","content":"a"},{"role":"assistant","content":" b "},{"role":"user","content":""}]`, nil},
		{
			"all results of a turn are one message", []providers.Message{
				calls(providers.ToolCall{ID: "t1", Name: "n", Args: `{ "a":1}`}, providers.ToolCall{ID: "t2", Name: "n", Args: "{}"}),
				result("t1", "7"), {Role: "tool", CallID: "t2", Text: "no", Failed: true}, user("go on"),
				calls(providers.ToolCall{ID: "t3", Name: "n", Args: "{}"}), result("t3", ""), {Role: "assistant", Text: "b"}, result("t4", "late"), user("c"), user("d"),
			},
			`[{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{"a":1}},{"type":"tool_use","id":"t2","name":"n","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"7"},{"type":"tool_result","tool_use_id":"t2","content":"no","is_error":true},{"type":"text","text":"go on"}]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"t3","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3"}]},` +
				`{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t4","content":"late"},{"type":"text","text":"c"},{"type":"text","text":"d"}]}]`, nil,
		},
		{
			"text before calls, none that is blank", []providers.Message{{Role: "assistant", Text: "so", Calls: []providers.ToolCall{{ID: "t", Name: "n", Args: "{}"}}}, {Role: "assistant", Text: " \n", Calls: []providers.ToolCall{{ID: "u", Name: "n", Args: "{}"}}}},
			`[{"role":"assistant","content":[{"type":"text","text":"so"},{"type":"tool_use","id":"t","name":"n","input":{}}]},{"role":"assistant","content":[{"type":"tool_use","id":"u","name":"n","input":{}}]}]`, nil,
		},
		{
			"arguments that are no object", []providers.Message{calls(providers.ToolCall{ID: "t", Name: "n", Args: `{"a<`}, providers.ToolCall{ID: "u", Name: "n", Args: `[1]`})},
			`[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"INVALID_JSON":"{\"a<"}},{"type":"tool_use","id":"u","name":"n","input":{"INVALID_JSON":"[1]"}}]}]`,
			[]string{"call n: the arguments are not a JSON object, sent as INVALID_JSON"},
		},
		{
			"ids of another provider", []providers.Message{calls(providers.ToolCall{ID: "functions.n:0", Name: "n", Args: "{}"}), result("functions.n:0", "7")},
			`[{"role":"assistant","content":[{"type":"tool_use","id":"functions_n_0","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_n_0","content":"7"}]}]`, nil,
		},
		{
			"pictures stand before the text", []providers.Message{{Role: "user", Text: "what?", Images: []providers.Image{png, {Data: png.Data}, {URL: "https://x.test/a.png"}}}, {Role: "user", Images: []providers.Image{png}}},
			`[{"role":"user","content":[` + pngPart + `,` + pngPart + `,{"type":"image","source":{"type":"url","url":"https://x.test/a.png"}},{"type":"text","text":"what?"}]},{"role":"user","content":[` + pngPart + `]}]`, nil,
		},
		{
			"a picture as a result", []providers.Message{{Role: "tool", CallID: "t", Text: "see", Images: []providers.Image{png}}},
			`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[` + pngPart + `,{"type":"text","text":"see"}]}]}]`, nil,
		},
		{
			"pictures that are not taken", []providers.Message{{Role: "user", Text: "a", Images: []providers.Image{{MediaType: "image/tiff", Data: []byte("x")}}}, {Role: "assistant", Text: "b", Images: []providers.Image{png}}},
			`[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`,
			[]string{"image: image/tiff is not taken, only JPEG, PNG, GIF and WebP are, not sent", "images: not taken of the assistant, not sent"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings := sent(t, providers.Call{Messages: c.messages})
			require.Equal(t, c.want, got)
			require.Equal(t, c.warnings, warnings)
		})
	}
}

func TestContinuations(t *testing.T) {
	const (
		thinking = `{"type":"thinking","thinking":"h<m","signature":"s"}`
		redacted = `{"type":"redacted_thinking","data":"x"}`
		unsigned = `{"type":"thinking","thinking":"cut","signature":""}`
		server   = `{"type":"server_tool_use","id":"srv","name":"web_search","input":{"q":1}}`
		text     = `{"type":"text","text":"a"}`
		use      = `{"type":"tool_use","id":"t","name":"n","input":{"b":1},"caller":{"type":"direct"}}`
		call     = `{"type":"tool_use","id":"t","name":"n","input":{"b":2}}`
	)
	one := []providers.ToolCall{{ID: "t", Name: "n", Args: `{"b":2}`}}
	for _, c := range []struct {
		name    string
		content string
		text    string
		calls   []providers.ToolCall
		want    string
	}{
		{"whole, as it came", thinking + `,` + redacted + `,` + text + `,` + server + `,` + use, "a", one, `[` + thinking + `,` + redacted + `,` + text + `,` + server + `,` + use + `]`},
		{"between blocks of text", text + `,` + thinking + `,` + text, "aa", nil, `[` + text + `,` + thinking + `,` + text + `]`},
		{"blank text is left out", thinking + `,{"type":"text","text":"\n"},` + use, "\n", one, `[` + thinking + `,` + use + `]`},
		{"other text", thinking + `,` + text + `,` + server, "b", nil, `[` + thinking + `,{"type":"text","text":"b"}]`},
		{"a call less", thinking + `,` + text + `,` + use, "a", nil, `[` + thinking + `,` + text + `]`},
		{"another call", thinking + `,` + `{"type":"tool_use","id":"u","name":"n","input":{}}`, "", one, `[` + thinking + `,` + call + `]`},
		{"unsigned thinking", unsigned + `,` + text, "a", nil, `[` + text + `]`},
		{"thinking at the end", text + `,` + thinking, "a", nil, `[` + text + `]`},
		{"nothing but thinking", thinking, "", nil, `""`},
		{"of calls without ids", thinking + `,{"type":"tool_use","name":"n","input":{}}`, "", one, `[` + thinking + `,` + call + `]`},
		{"blocks that are none", `5`, "a", nil, `"a"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings := sent(t, providers.Call{Messages: []providers.Message{{Role: "assistant", Text: c.text, Calls: c.calls, Continuation: []byte(`{"anthropic_content":[` + c.content + `]}`)}}})
			require.Equal(t, `[{"role":"assistant","content":`+c.want+`}]`, got)
			require.Empty(t, warnings)
		})
	}
	for _, foreign := range []string{`{"reasoning":[]}`, `[1]`, `"x"`, `null`, `{`, `{"anthropic_content":7}`} {
		got, warnings := sent(t, providers.Call{Messages: []providers.Message{{Role: "assistant", Text: "a", Continuation: []byte(foreign)}}})
		require.Equal(t, `[{"role":"assistant","content":"a"}]`, got, foreign)
		require.Empty(t, warnings)
	}
}

// TestAReplyGoesBackAsItCame checks that the blocks of a reply are sent again
// unchanged, both of a complete and of a streamed reply.
func TestAReplyGoesBackAsItCame(t *testing.T) {
	whole, _, err := decode([]byte(`{"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t","name":"n","input":{"a":1}}],"stop_reason":"tool_use"}`), "")
	require.Nil(t, err)
	streamed, complete, failed := decodeStream(events(begun,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		blockDelta(`{"type":"thinking_delta","thinking":"hm"}`), blockDelta(`{"type":"signature_delta","signature":"s"}`), close0,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`, stopped("tool_use", "{}"), ended))
	require.NoError(t, failed)
	require.True(t, complete)
	var bodies []string
	for _, r := range []providers.Reply{whole, streamed} {
		body, _ := sent(t, providers.Call{Messages: []providers.Message{{Role: "assistant", Text: r.Text, Calls: r.Calls, Continuation: r.Continuation}}})
		bodies = append(bodies, body)
	}
	require.JSONEq(t, `[{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t","name":"n","input":{"a":1}}]}]`, bodies[0])
	require.JSONEq(t, bodies[0], bodies[1])
}
