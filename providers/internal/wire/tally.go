package wire

import "github.com/cupel-eval/cupel/providers"

// Tally is what OpenAI's usage objects count. Servers differ in whether the prompt
// includes what the cache had of it, and the completion its reasoning.
type Tally struct {
	// InputField names Input in doubts.
	InputField string
	// Total is 0 where it is not reported.
	Input, Output, Total Count
	// Read and Write are tokens of the cache, WriteLong those of Write that are kept
	// for an hour.
	Read, Write, WriteLong Count
	Reasoning              Count
	// Fed are tokens that the provider's own tools fed the model, priced as Input, which
	// neither Input nor Total includes.
	Fed Count
	// Apart reports that Output does not include Reasoning, by the documentation of the
	// provider, whether Total does or not.
	Apart bool
}

// Fill sets the classes of a usage, which become disjoint. The prompt includes the
// cache's tokens and the completion its reasoning, unless the total shows otherwise.
// Counts that contradict each other keep the larger figure, and make the usage not
// understood or give it a second reading:
//   - more tokens of the cache than of the prompt: the cache's, without other input;
//   - more reasoning than completion: both, or a completion that is all reasoning;
//   - a total above the sum: as reported, or with the rest as reasoning;
//   - a total below the sum: as reported.
func (t Tally) Fill(u *providers.Usage) {
	u.Output, u.Reasoning = int64(t.Output), int64(t.Reasoning)
	u.CacheRead, u.CacheWrite, u.CacheWriteLong = int64(t.Read), int64(max(t.Write, t.WriteLong)), int64(t.WriteLong)
	in, total, cache := int64(t.Input), int64(t.Total), u.CacheRead+u.CacheWrite
	sum := in + u.Output // of what includes the rest
	if total != sum && total != sum+u.Reasoning && (total == sum+cache || total == sum+cache+u.Reasoning) {
		sum += cache
		u.Input = in
	} else {
		u.Input = max(in-cache, 0)
		if cache > in {
			u.Doubt(t.InputField, "is less than what the cache had of it")
		}
	}
	u.Input += int64(t.Fed)
	counted := sum
	if t.Apart || total == sum+u.Reasoning || u.Reasoning > u.Output {
		counted += u.Reasoning
	} else {
		u.Output -= u.Reasoning
	}
	switch second := *u; {
	case total == 0 || total == counted || t.Apart && total == sum:
	case total == sum:
		second.Output, second.Reasoning = 0, u.Output
		u.Other = &second
	case total > counted:
		second.Reasoning += total - counted
		u.Other = &second
	default:
		u.Doubt("total_tokens", "is less than the sum of what it counts")
	}
}
