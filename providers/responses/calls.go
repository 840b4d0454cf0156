package responses

import (
	"strings"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// served are the tools that xAI carries out itself although it writes their calls as
// those of custom tools, each with what it is billed as (docs.x.ai/developers/tools).
var served = map[string]string{
	"x_keyword_search": "x_search", "x_semantic_search": "x_search", "x_user_search": "x_search", "x_thread_fetch": "x_search",
	"view_image": "view_image", "view_x_video": "view_x_video",
}

// calls reports whether an item is a call for us to carry out.
func (o outputItem) calls() bool {
	return o.Type == "function_call" || o.Type == "custom_tool_call" && served[o.Name] == ""
}

// otherCalls counts the calls that the server carried out, and names those that were
// left to us and that no agent can carry out (OpenAI API reference, "The response
// object"): the latter have a call_id, and no output in the same response.
func otherCalls(b *wire.Builder, output []outputItem) {
	answered := map[string]bool{}
	for _, o := range output {
		if strings.HasSuffix(o.Type, "_output") && o.CallID != "" {
			answered[o.CallID] = true
		}
	}
	for _, o := range output {
		name, isCall := strings.CutSuffix(o.Type, "_call")
		tool, ofRouter := strings.CutPrefix(o.Type, "openrouter:")
		switch {
		case o.calls(), strings.HasSuffix(o.Type, "_output"):
		case o.Type == "custom_tool_call":
			b.ServerTool(served[o.Name])
		case o.Type == "mcp_approval_request", o.CallID != "" && !answered[o.CallID] && o.Execution != "server":
			b.LeftOut(o.Type)
		case o.Type == "web_search_call" && (o.Action.Type == "open_page" || strings.HasPrefix(o.Action.Type, "find")):
			// a part of the search that found the page
		case isCall:
			b.ServerTool(name)
		case ofRouter:
			b.ServerTool(tool)
		}
	}
}
