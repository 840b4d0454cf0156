package responses

import (
	"slices"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// UsageFields returns what becomes of each number that the services of this wire report
// in a usage object, in a fresh slice. A number that is not among them, and is not 0,
// is not understood: audio and output images, for instance, have separate prices.
func UsageFields() []wire.UsageField { return slices.Clone(fields.List()) }

var fields = wire.NewFields(
	wire.UsageField{Path: "input_tokens", Column: "tokens_in", Reason: "without those of the cache, unless the total shows them beside it"},
	wire.UsageField{Path: "input_tokens_details.cached_tokens", Column: "tokens_cache_read"},
	wire.UsageField{Path: "input_tokens_details.cache_write_tokens", Column: "tokens_cache_write"},
	wire.UsageField{Path: "output_tokens", Column: "tokens_out", Reason: "without reasoning, unless the total shows it beside it"},
	wire.UsageField{Path: "output_tokens_details.reasoning_tokens", Column: "tokens_reasoning"},

	wire.UsageField{Path: "cost", Column: "cost_reported_nanousd"},
	wire.UsageField{Path: "cost_in_usd_ticks", Column: "cost_reported_nanousd", Reason: "10,000,000,000 to the dollar"},
	wire.UsageField{Path: "cost_details.upstream_inference_cost", Column: "cost_reported_nanousd", Reason: "added where the caller brought the key; else a part of cost"},
	wire.UsageField{Path: "cost_details.*", Reason: "a part of cost"},

	wire.UsageField{Path: "num_sources_used", Column: "server_tools", Reason: "live_search: a fee for each source"},
	wire.UsageField{Path: "num_server_side_tools_used", Column: "server_tools", Reason: "checked: the sum of the details; other without them"},
	wire.UsageField{Path: "server_side_tool_usage_details.*", Column: "server_tools", Reason: "by the name without _calls"},
	wire.UsageField{Path: "server_tool_use.web_search_requests", Column: "server_tools", Reason: "web_search"},
	wire.UsageField{Path: "server_tool_use.tool_calls_executed", Column: "server_tools", Reason: "other: those that are not searches"},
	wire.UsageField{Path: "server_tool_use_details.web_search_requests", Column: "server_tools", Reason: "web_search"},
	wire.UsageField{Path: "server_tool_use_details.tool_calls_executed", Column: "server_tools", Reason: "other: those that are not searches"},
	wire.UsageField{Path: "server_tool_use.tool_calls_requested", Reason: "only those that were executed have a fee"},
	wire.UsageField{Path: "server_tool_use_details.tool_calls_requested", Reason: "only those that were executed have a fee"},

	wire.UsageField{Path: "total_tokens", Reason: "checked: the sum, which shows what is counted beside what"},
	wire.UsageField{Path: "context_details.input_tokens", Reason: "checked: the last of several requests, a part of input_tokens"},
	wire.UsageField{Path: "context_details.output_tokens", Reason: "checked: the last of several requests, a part of output_tokens"},
	wire.UsageField{Path: "input_tokens_details.text_tokens", Reason: "a part of input_tokens, priced as the rest"},
	wire.UsageField{Path: "input_tokens_details.image_tokens", Reason: "a part of input_tokens, priced as the rest"},
	wire.UsageField{Path: "input_tokens_details.input_tokens_per_turn[]", Reason: "a part of input_tokens"},
	wire.UsageField{Path: "input_tokens_details.cached_tokens_per_turn[]", Reason: "a part of the cached tokens"},
	wire.UsageField{Path: "output_tokens_details.text_tokens", Reason: "a part of output_tokens, priced as the rest"},
	wire.UsageField{Path: "output_tokens_details.output_tokens_per_turn[]", Reason: "a part of output_tokens"},
	wire.UsageField{Path: "output_tokens_details.tool_output_tokens", Reason: "results of tools, a part of input_tokens"},
	wire.UsageField{Path: "output_tokens_details.tool_output_tokens_per_turn[]", Reason: "results of tools, a part of input_tokens"},
)
