package wire

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/providers"
)

// Numbers are the numbers of a usage object by their path, see Leaves. What is not
// there is 0.
type Numbers map[string]string

// ReadNumbers reads the numbers of a JSON value. A later one of the same path counts.
func ReadNumbers(raw []byte, fields *Fields) Numbers {
	n := Numbers{}
	leaves(raw, func(path, number []byte) {
		known, ok := fields.exact[string(path)]
		if !ok {
			known = printable(path)
		}
		n[known] = string(number)
	})
	return n
}

// Count is the count at a path; what is not a count is doubted.
func (n Numbers) Count(u *providers.Usage, path string) Count {
	text, ok := n[path]
	if !ok {
		return 0
	}
	c, err := parseCount(text)
	if err != nil {
		u.Doubt(path, "is not a count")
	}
	return c
}

// Has reports whether there is a number at a path.
func (n Numbers) Has(path string) bool { return n[path] != "" }

// Largest is a count that appears at several paths; two that are not 0 must be equal.
func (n Numbers) Largest(u *providers.Usage, paths ...string) Count {
	var largest Count
	for _, path := range paths {
		c := n.Count(u, path)
		if c != largest && c != 0 && largest != 0 {
			u.Doubt(path, "differs from another count of the same tokens")
		}
		largest = max(largest, c)
	}
	return largest
}

// Sum adds the counts at several paths.
func (n Numbers) Sum(u *providers.Usage, paths ...string) Count {
	var sum Count
	for _, path := range paths {
		sum += n.Count(u, path)
	}
	return sum
}

// Under are the counts of the members of an object that are not 0.
func (n Numbers) Under(u *providers.Usage, object string) map[string]int64 {
	prefix, paths := object+".", []string(nil)
	for path := range n {
		if strings.HasPrefix(path, prefix) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	counts := map[string]int64{}
	for _, path := range paths {
		if c := n.Count(u, path); c > 0 {
			counts[path[len(prefix):]] = int64(c)
		}
	}
	return counts
}

// ServerToolUses are the uses of the provider's own tools: xAI's
// (docs.x.ai/developers/pricing), and the sources that its former Live Search read, which
// has a fee for each; OpenRouter's and Perplexity's searches.
func (n Numbers) ServerToolUses(u *providers.Usage) map[string]int64 {
	uses, sum := map[string]int64{}, int64(0)
	add := func(name string, count int64) {
		if count > 0 {
			uses[name] += count
		}
	}
	for name, count := range n.Under(u, "server_side_tool_usage_details") {
		if tool, ok := strings.CutSuffix(name, "_calls"); ok {
			name = tool
			sum += count
		}
		add(name, count)
	}
	all := int64(n.Count(u, "num_server_side_tools_used"))
	if sum == 0 {
		add("other", all) // without the details
	} else if all != sum {
		u.Doubt("num_server_side_tools_used", "is not the sum of its details")
	}
	searches := n.Largest(u, "server_tool_use.web_search_requests", "server_tool_use_details.web_search_requests")
	executed := n.Largest(u, "server_tool_use.tool_calls_executed", "server_tool_use_details.tool_calls_executed")
	add("other", int64(executed-searches))
	add("web_search", int64(searches+n.Count(u, "num_search_queries")))
	add("live_search", int64(n.Count(u, "num_sources_used")))
	return uses
}

// Cost is what a usage object says the reply costs, in nano-USD; nil if it does not say:
// OpenRouter's and Vercel's cost in dollars, to which OpenRouter's own counts what the
// upstream charges where the caller brought its key (openrouter.ai/docs, Usage
// Accounting); Perplexity's total_cost in dollars; xAI's ticks, of which a dollar has ten
// thousand million (docs.x.ai/developers/cost-tracking).
func (n Numbers) Cost(u *providers.Usage, ownKey bool) *int64 {
	cost := n.nano("cost", 1)
	switch {
	case n.Has("cost_in_usd_ticks"):
		return n.nano("cost_in_usd_ticks", 1e10)
	case n.Has("cost.total_cost"):
		cost = n.nano("cost.total_cost", 1)
		n.checkParts(u, cost)
	case cost != nil && ownKey:
		if upstream := n.nano("cost_details.upstream_inference_cost", 1); upstream != nil {
			*cost += *upstream
		}
	}
	return cost
}

// checkParts compares Perplexity's total with its parts. Each is rounded.
func (n Numbers) checkParts(u *providers.Usage, total *int64) {
	const rounding = 10_000 // nano-USD, as much as a hundredth of a cent
	var sum int64
	for path := range n {
		if strings.HasPrefix(path, "cost.") && path != "cost.total_cost" {
			if part := n.nano(path, 1); part != nil {
				sum += *part
			}
		}
	}
	if total == nil || max(sum-*total, *total-sum) > max(sum/100, rounding) {
		u.Doubt("cost.total_cost", "is not the sum of its parts")
	}
}

// nano is an amount in nano-USD, of which there are so many to the dollar; nil without
// one that makes sense: more than a million dollars for a reply are not believed.
func (n Numbers) nano(path string, toTheDollar float64) *int64 {
	v, err := strconv.ParseFloat(n[path], 64)
	if v = v / toTheDollar * 1e9; err != nil || !(v >= 0 && v <= 1e15) {
		return nil
	}
	return new(int64(math.Round(v)))
}
