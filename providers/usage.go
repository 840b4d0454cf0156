package providers

import (
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// Usage counts tokens in disjoint classes: their sum is what was processed.
type Usage struct {
	// Reported is false when the provider sent no usage: the counts are then
	// unknown, not zero.
	Reported bool
	// Input excludes cache reads and writes; Output excludes reasoning. Of a provider
	// that bills another number of tokens than its model processed, they are the
	// billed ones.
	Input, Output, CacheRead, CacheWrite, Reasoning int64
	// CacheWriteLong is the part of CacheWrite that is kept for an hour rather
	// than for minutes, where the provider tells them apart.
	CacheWriteLong int64
	// Tier is the service tier that served, in the provider's word, such as
	// "priority" or "batch"; empty when it is not reported.
	Tier string
	// Processed are the tokens that the model read and wrote, where the provider
	// bills another number; nil where it bills them all.
	Processed *Processed
	// Parts are the requests that the counts are the sum of, where one reply took
	// several: the price of each depends on its own model and prompt. nil if it took one.
	Parts []UsagePart
	// ServerTools count the uses of the provider's own tools, such as web_search, that
	// may have a fee each, by name; no count is 0.
	ServerTools map[string]int64
	// NotUnderstood names what the counts do not account for, each as
	// "FIELD: REASON": a number whose meaning is unknown, or a sum that is not the
	// sum of its parts. If it is not empty, the cost is unknown.
	NotUnderstood []string
	// Other is a second reading of the same numbers, where the provider's convention
	// is not known; nil if there is one reading. See Prices.Settle.
	Other *Usage
}

// Processed are tokens that a model read and wrote.
type Processed struct{ Input, Output int64 }

// UsagePart is the usage of one of several requests behind a reply.
type UsagePart struct {
	// Model served the request; empty means the model that was asked.
	Model string
	// Usage has neither Parts nor ServerTools.
	Usage Usage
}

// Total is the sum of all classes.
func (u Usage) Total() int64 {
	return u.Input + u.Output + u.CacheRead + u.CacheWrite + u.Reasoning
}

// Doubt adds what the counts do not account for, once, at most 16 of them.
func (u *Usage) Doubt(field, reason string) {
	const most = 16
	field = clip.Bytes(field, 120)
	if text := field + ": " + reason; len(u.NotUnderstood) < most && !slices.Contains(u.NotUnderstood, text) {
		u.NotUnderstood = append(slices.Clip(u.NotUnderstood), text)
	}
}

// Plus is the usage of two requests together, each priced on its own.
func (u Usage) Plus(v Usage) Usage {
	parts := slices.Concat(u.parts(), v.parts())
	sum := u
	sum.add(v)
	sum.Parts, sum.Other = parts, nil
	return sum
}

// parts are the requests behind a usage.
func (u Usage) parts() []UsagePart {
	if u.Parts != nil {
		return u.Parts
	}
	u.ServerTools, u.NotUnderstood, u.Other = nil, nil, nil
	return []UsagePart{{Usage: u}}
}

// add adds the counts of v, regardless of its parts.
func (u *Usage) add(v Usage) {
	u.Input += v.Input
	u.Output += v.Output
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.CacheWriteLong += v.CacheWriteLong
	u.Reasoning += v.Reasoning
	if u.Processed != nil || v.Processed != nil {
		a, b := u.processed(), v.processed()
		u.Processed = &Processed{a.Input + b.Input, a.Output + b.Output}
	}
	for name, count := range v.ServerTools {
		u.AddServerTool(name, count)
	}
	for _, text := range v.NotUnderstood {
		field, reason, _ := strings.Cut(text, ": ")
		u.Doubt(field, reason)
	}
}

// SetTier sets the service tier of a usage that is reported, and of its parts.
func (u *Usage) SetTier(tier string) {
	if !u.Reported {
		return
	}
	u.Tier, u.Parts = tier, slices.Clone(u.Parts)
	for i := range u.Parts {
		u.Parts[i].Usage.Tier = tier
	}
	if u.Other != nil {
		other := *u.Other
		other.SetTier(tier)
		u.Other = &other
	}
}

// AddServerTool counts uses of one of the provider's own tools; 0 counts nothing.
func (u *Usage) AddServerTool(name string, count int64) {
	if count == 0 {
		return
	}
	tools := map[string]int64{name: u.ServerTools[name] + count} // copies of u share the map it has
	for other, count := range u.ServerTools {
		if other != name {
			tools[other] = count
		}
	}
	u.ServerTools = tools
}

// processed are the tokens that the model read and wrote.
func (u Usage) processed() Processed {
	if u.Processed != nil {
		return *u.Processed
	}
	return Processed{u.Input + u.CacheRead + u.CacheWrite, u.Output + u.Reasoning}
}
