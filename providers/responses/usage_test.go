package responses

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func reported(in, out, read, write, reasoning int64) providers.Usage {
	return providers.Usage{Reported: true, Input: in, Output: out, CacheRead: read, CacheWrite: write, Reasoning: reasoning}
}

func doubted(u providers.Usage, doubts ...string) providers.Usage {
	u.NotUnderstood = doubts
	return u
}

func used(u providers.Usage, tools map[string]int64) providers.Usage {
	u.ServerTools = tools
	return u
}

func otherwise(u, second providers.Usage) providers.Usage {
	u.Other = &second
	return u
}

// TestUsageOfServices checks the usage format of each service, and that all of its
// numbers are accounted for.
func TestUsageOfServices(t *testing.T) {
	for _, c := range []struct {
		name, usage string
		want        providers.Usage
	}{
		{"OpenAI", `{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"output_tokens":50,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":150}`, reported(30, 30, 60, 10, 20)},
		{"audio, and a number that is new", `{"input_tokens":100,"output_tokens":50,"total_tokens":150,"input_tokens_details":{"audio_tokens":4,"text_tokens":90},"new":[{"n":3}]}`, doubted(reported(100, 50, 0, 0, 0), "input_tokens_details.audio_tokens: not understood", "new[].n: not understood")},
		{"xAI", `{"input_tokens":7583,"input_tokens_details":{"cached_tokens":3072},"output_tokens":3192,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":10775,"num_sources_used":0,"num_server_side_tools_used":4,"cost_in_usd_ticks":292331500,"server_side_tool_usage_details":{"web_search_calls":0,"x_search_calls":3,"mcp_calls":1},"context_details":{"input_tokens":5993,"output_tokens":2995}}`, used(reported(4511, 3192, 3072, 0, 0), map[string]int64{"mcp": 1, "x_search": 3})},
		{"xAI, more context than tokens", `{"input_tokens":10,"output_tokens":5,"total_tokens":15,"context_details":{"input_tokens":11,"output_tokens":5}}`, doubted(reported(10, 5, 0, 0, 0), "context_details: has more tokens than the usage")},
		{"OpenRouter", `{"input_tokens":10,"output_tokens":5,"total_tokens":15,"cost":0.02,"is_byok":false,"cost_details":{"upstream_inference_cost":0.02,"upstream_inference_input_cost":0.01,"upstream_inference_output_cost":0.01},"server_tool_use":{"web_search_requests":1}}`, used(reported(10, 5, 0, 0, 0), map[string]int64{"web_search": 1})},
		{"turns of vLLM", `{"input_tokens":10,"input_tokens_details":{"cached_tokens":2,"input_tokens_per_turn":[4,6],"cached_tokens_per_turn":[0,2]},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":1,"tool_output_tokens":3,"output_tokens_per_turn":[2,3],"tool_output_tokens_per_turn":[0,3]},"total_tokens":15}`, reported(8, 4, 2, 0, 1)},
		{"more reasoning than output", `{"input_tokens":100,"output_tokens":50,"output_tokens_details":{"reasoning_tokens":275},"total_tokens":150}`, otherwise(reported(100, 50, 0, 0, 275), reported(100, 0, 0, 0, 50))},
		{"more reasoning than output, beside it", `{"input_tokens":100,"output_tokens":50,"output_tokens_details":{"reasoning_tokens":275},"total_tokens":425}`, reported(100, 50, 0, 0, 275)},
		{"a total of its own", `{"input_tokens":100,"output_tokens":50,"total_tokens":120}`, doubted(reported(100, 50, 0, 0, 0), "total_tokens: is less than the sum of what it counts")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(`{"status":"completed","output":[],"usage":`+c.usage+`}`), "")
			require.NoError(t, err)
			require.Nil(t, fault)
			require.Equal(t, c.want, got.Usage)
		})
	}
}

func TestUsageFields(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range UsageFields() {
		require.NotEmpty(t, f.Column+f.Reason, f.Path)
		require.False(t, seen[f.Path], f.Path)
		seen[f.Path] = true
	}
	changed := UsageFields()
	changed[0].Path = "x"
	require.NotEqual(t, "x", UsageFields()[0].Path)
}

// TestCallsOfTheServer: calls that the server executed can have a fee. Calls that are
// left to the client, and that no agent can execute, are always reported.
func TestCallsOfTheServer(t *testing.T) {
	const shell = `{"type":"shell_call","id":"s","call_id":"a","action":{"commands":["ls"]},"status":"completed"}`
	for _, c := range []struct {
		name, items string
		tools       map[string]int64
		left        string
	}{
		{"searches, and pages that they found", `{"type":"web_search_call","id":"1","action":{"type":"search"}},{"type":"web_search_call","id":"2","action":{"type":"open_page"}},{"type":"web_search_call","id":"3","action":{"type":"find_in_page"}},{"type":"web_search_call","id":"4"}`, map[string]int64{"web_search": 2}, ""},
		{"other tools", `{"type":"file_search_call","id":"1"},{"type":"code_interpreter_call","id":"2"},{"type":"mcp_list_tools","id":"3"},{"type":"mcp_call","id":"4"},{"type":"image_generation_call","id":"5"}`, map[string]int64{"code_interpreter": 1, "file_search": 1, "image_generation": 1, "mcp": 1}, ""},
		{"a search for tools by the server", `{"type":"tool_search_call","execution":"server","call_id":null},{"type":"tool_search_output","execution":"server","call_id":null}`, map[string]int64{"tool_search": 1}, ""},
		{"a search for tools by us", `{"type":"tool_search_call","execution":"client","call_id":"a"}`, nil, "tool_search_call"},
		{"a shell of the server", shell + `,{"type":"shell_call_output","call_id":"a","output":[]}`, map[string]int64{"shell": 1}, ""},
		{"a shell of ours", shell, nil, "shell_call"},
		{"others that are left to us", `{"type":"computer_call","call_id":"a"},{"type":"local_shell_call","call_id":"b"},{"type":"apply_patch_call","call_id":"c"},{"type":"mcp_approval_request","id":"d"}`, nil, "computer_call, local_shell_call, apply_patch_call, mcp_approval_request"},
		{"xAI's searches look like custom tools", `{"type":"custom_tool_call","call_id":"a","name":"x_keyword_search","input":"{}"},{"type":"custom_tool_call","call_id":"b","name":"x_thread_fetch","input":"{}"}`, map[string]int64{"x_search": 2}, ""},
		{"OpenRouter's", `{"type":"openrouter:web_search","id":"a"}`, map[string]int64{"web_search": 1}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := `{"status":"completed","output":[` + c.items + `]}`
			for _, body := range []string{whole, stream(`{"type":"response.completed","response":` + whole + `}`)} {
				got, fault, err := decode([]byte(body), "")
				require.Nil(t, fault)
				if c.left != "" {
					require.EqualError(t, err, "the reply has a call that cupel does not read: "+c.left)
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, c.tools, got.Usage.ServerTools)
				require.Empty(t, got.Calls)
			}
		})
	}
}

func TestCustomToolCalls(t *testing.T) {
	item := func(name, input string) string {
		return `{"type":"custom_tool_call","id":"ctc_1","call_id":"a","name":"` + name + `","input":"` + input + `"}`
	}
	piece := func(kind, field, text string) string {
		return `{"type":"response.custom_tool_call_input.` + kind + `","output_index":0,"item_id":"ctc_1","` + field + `":"` + text + `"}`
	}
	for _, c := range []struct {
		name, tool, input string
		want              []providers.ToolCall
		left              bool
	}{
		{"an object", "f", `{\"x\":1}`, []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}}, false},
		{"free text", "f", `print(1)`, []providers.ToolCall{{ID: "a", Name: "f", Args: `print(1)`}}, true},
		{"one of xAI's own", "x_semantic_search", `{}`, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, events := range map[string][]string{
				"whole":             {completed(item(c.tool, c.input))},
				"in pieces":         {added(0, item(c.tool, "")), piece("delta", "delta", c.input), piece("done", "input", c.input), completed(item(c.tool, c.input))},
				"done only":         {added(0, item(c.tool, "")), piece("done", "input", c.input), completed("")},
				"in its item alone": {added(0, item(c.tool, "")), `{"type":"response.output_item.done","output_index":0,"item":` + item(c.tool, c.input) + `}`, completed("")},
			} {
				got, fault, err := decode([]byte(stream(events...)), "")
				require.Nil(t, fault)
				require.Equal(t, c.want, got.Calls, how)
				if c.left {
					require.ErrorContains(t, err, "custom tool f", how)
				} else {
					require.NoError(t, err, how)
				}
			}
		})
	}
}
