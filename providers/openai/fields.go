package openai

import (
	"slices"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// UsageFields returns what becomes of each number that the services of this wire report
// in a usage object, in a fresh slice. A number that is not among them, and is not 0,
// is not understood: audio and output images, for instance, have separate prices.
func UsageFields() []wire.UsageField { return slices.Clone(fields.List()) }

var fields = wire.NewFields(slices.Concat(counted(), checked(), harmless())...)

// counted are the numbers that are read.
func counted() []wire.UsageField {
	const (
		in, out, read, write  = "tokens_in", "tokens_out", "tokens_cache_read", "tokens_cache_write"
		reasoning, cost, uses = "tokens_reasoning", "cost_reported_nanousd", "server_tools"
	)
	const same = "the largest of its names; others that are not 0 must be equal"
	return []wire.UsageField{
		{Path: "prompt_tokens", Column: in, Reason: "without those of the cache, unless the total shows them beside it"},
		{Path: "citation_tokens", Column: in, Reason: "priced as the prompt, beside it"},
		{Path: "completion_tokens", Column: out, Reason: "without reasoning, unless the total or the documentation shows it beside it"},

		{Path: "prompt_tokens_details.cached_tokens", Column: read, Reason: same},
		{Path: "prompt_token_details.cached_tokens", Column: read, Reason: same},
		{Path: "num_cached_tokens", Column: read, Reason: same},
		{Path: "cached_tokens", Column: read, Reason: same},
		{Path: "prompt_cache_hit_tokens", Column: read, Reason: same},
		{Path: "cache_read_input_tokens", Column: read, Reason: same},

		{Path: "prompt_tokens_details.cache_write_tokens", Column: write, Reason: same},
		{Path: "prompt_tokens_details.cache_creation_tokens", Column: write, Reason: same},
		{Path: "prompt_tokens_details.cache_creation_input_tokens", Column: write, Reason: same},
		{Path: "cache_creation_input_tokens", Column: write, Reason: same},
		{Path: "cache_creation.ephemeral_5m_input_tokens", Column: write, Reason: "checked: a part of the writes"},
		{Path: "cache_creation.ephemeral_1h_input_tokens", Column: write, Reason: "priced as kept for an hour"},
		{Path: "prompt_tokens_details.cache_creation.ephemeral_5m_input_tokens", Column: write, Reason: "checked: a part of the writes"},
		{Path: "prompt_tokens_details.cache_creation.ephemeral_1h_input_tokens", Column: write, Reason: "priced as kept for an hour"},
		{Path: "prompt_tokens_details.cache_creation_token_details.ephemeral_5m_input_tokens", Column: write, Reason: "checked: a part of the writes"},
		{Path: "prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens", Column: write, Reason: "priced as kept for an hour"},

		{Path: "completion_tokens_details.reasoning_tokens", Column: reasoning, Reason: same},
		{Path: "reasoning_tokens", Column: reasoning, Reason: same},

		{Path: "cost", Column: cost},
		{Path: "cost.total_cost", Column: cost, Reason: "checked: the sum of its parts"},
		{Path: "cost_in_usd_ticks", Column: cost, Reason: "10,000,000,000 to the dollar"},
		{Path: "cost_details.upstream_inference_cost", Column: cost, Reason: "added where the caller brought the key; else a part of cost"},

		{Path: "num_search_queries", Column: uses, Reason: "web_search"},
		{Path: "num_sources_used", Column: uses, Reason: "live_search: a fee for each source"},
		{Path: "server_tool_use.web_search_requests", Column: uses, Reason: "web_search"},
		{Path: "server_tool_use.tool_calls_executed", Column: uses, Reason: "other: those that are not searches"},
		{Path: "server_tool_use_details.web_search_requests", Column: uses, Reason: "web_search"},
		{Path: "server_tool_use_details.tool_calls_executed", Column: uses, Reason: "other: those that are not searches"},
		{Path: "server_side_tool_usage_details.*", Column: uses, Reason: "by the name without _calls"},
		{Path: "num_server_side_tools_used", Column: uses, Reason: "checked: the sum of the details; other without them"},
	}
}

// checked are the numbers that repeat or divide others.
func checked() []wire.UsageField {
	const part = "checked: a part of prompt_tokens, priced as the rest"
	return []wire.UsageField{
		{Path: "total_tokens", Reason: "checked: the sum, which shows what is counted beside what"},
		{Path: "prompt_cache_miss_tokens", Reason: "checked: prompt_tokens without the cached ones"},
		{Path: "prompt_tokens_details.text_tokens", Reason: part},
		{Path: "prompt_tokens_details.image_tokens", Reason: part},
		{Path: "completion_tokens_details.text_tokens", Reason: "checked: a part of completion_tokens, priced as the rest"},
		{Path: "cost.*", Reason: "checked: a part of cost.total_cost"},
	}
}

// harmless are the numbers that change no cost.
func harmless() []wire.UsageField {
	const (
		part = "a part of completion_tokens, priced as the rest"
		time = "a time"
		rate = "a rate"
	)
	list := []wire.UsageField{
		{Path: "completion_tokens_details.accepted_prediction_tokens", Reason: part},
		{Path: "completion_tokens_details.rejected_prediction_tokens", Reason: part},
		{Path: "sram_cached_tokens", Reason: "where the cache is: a part of the cached tokens"},
		{Path: "dram_cached_tokens", Reason: "where the cache is: a part of the cached tokens"},
		{Path: "prompt_tokens_details.cached_tokens_details.text_tokens", Reason: "a part of the cached tokens"},
		{Path: "cost_details.*", Reason: "a part of cost"},
		{Path: "market_cost", Reason: "what the reply would cost without the gateway's discounts"},
		{Path: "estimated_cost", Reason: "an estimate"},
		{Path: "server_tool_use.tool_calls_requested", Reason: "only those that were executed have a fee"},
		{Path: "server_tool_use_details.tool_calls_requested", Reason: "only those that were executed have a fee"},
		{Path: "draft_tokens", Reason: "guesses of a smaller model; those accepted are in completion_tokens"},
		{Path: "draft_tokens_acceptance", Reason: rate},
		{Path: "acceptance_rate", Reason: rate},
		{Path: "latency_checkpoint.*", Reason: time},
	}
	for _, path := range []string{
		"queue_time", "prompt_time", "completion_time", "total_time", "total_latency", "time_to_first_token", "start_time", "end_time",
		"time_to_first_token_ms", "time_per_output_token_ms",
	} {
		list = append(list, wire.UsageField{Path: path, Reason: time})
	}
	for _, path := range []string{
		"tokens_per_second", "prompt_tokens_per_second", "completion_tokens_per_sec", "total_tokens_per_sec", "completion_tokens_after_first_per_sec",
		"completion_tokens_after_first_per_sec_first_ten", "completion_tokens_after_first_per_sec_graph",
	} {
		list = append(list, wire.UsageField{Path: path, Reason: rate})
	}
	return list
}
