package price

import (
	"cmp"
	"math"
	"math/bits"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/providers"
)

// Cost is what a request cost on a day, in whole nano-USD: its tokens, or those of
// each of its parts, and the fees of the provider's own tools. It is exact up to one
// rounding of each part, half away from zero. ok is false, and the cost unknown rather
// than zero, when the usage was not reported, is not understood or is negative,
// when no entry prices a model on that day, when a tool has no known fee, when the
// request was served at a tier without a price, or when the sum exceeds an int64.
func (p Table) Cost(provider, model string, u providers.Usage, at time.Time) (nanoUSD int64, ok bool) {
	if !u.Reported || len(u.NotUnderstood) > 0 || u.Other != nil {
		return 0, false
	}
	parts := u.Parts
	if parts == nil {
		parts = []providers.UsagePart{{Usage: u}} // which does not escape
	}
	for _, part := range parts {
		part.Usage.Tier = cmp.Or(part.Usage.Tier, u.Tier)
		cost, ok := p.partCost(provider, cmp.Or(part.Model, model), part.Usage, at)
		if nanoUSD += cost; !ok || nanoUSD < 0 {
			return 0, false
		}
	}
	for tool, count := range u.ServerTools {
		fee, ok := p.toolFee(provider, tool)
		hi, cost := bits.Mul64(uint64(fee), uint64(count))
		if !ok || count < 0 || hi > 0 || cost > math.MaxInt64-uint64(nanoUSD) {
			return 0, false
		}
		nanoUSD += int64(cost)
	}
	return nanoUSD, true
}

// partCost is what the tokens of one request cost.
func (p Table) partCost(provider, model string, u providers.Usage, at time.Time) (nanoUSD int64, ok bool) {
	if min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWriteLong, u.Reasoning) < 0 || u.CacheWriteLong > u.CacheWrite {
		return 0, false
	}
	e := p.find(provider, model, at)
	if e == nil {
		return 0, false
	}
	factor, ok := e.factor(u.Tier)
	if !ok {
		return 0, false
	}
	r := e.ratesFor(u)
	var sum total
	sum.add(u.Input, r.input*factor)
	sum.add(u.Output, r.output*factor)
	sum.add(u.CacheRead, r.cacheRead*e.cacheFactor(u.Tier, factor))
	sum.add(u.CacheWrite-u.CacheWriteLong, r.cacheWrite*factor)
	sum.add(u.CacheWriteLong, r.cacheWriteLong*factor)
	sum.add(u.Reasoning, r.reasoning*factor)
	sum.add(1_000_000*wholeFactor, e.request)
	return sum.nano()
}

// toolFee is what a use of one of the provider's own tools costs, in nano-USD.
func (p Table) toolFee(provider, tool string) (nanoUSD int64, ok bool) {
	for _, l := range p.layers {
		for _, of := range []string{provider, l.same[provider]} {
			if fee, ok := l.fees[key{of, tool}]; ok {
				return fee, true
			}
		}
	}
	return 0, false
}

// wholeFactor is the factor of the ordinary service tier, in thousandths.
const wholeFactor = 1000

// factor is what a service tier multiplies the prices by, in thousandths.
func (e *Entry) factor(tier string) (int64, bool) {
	switch tier = strings.ToLower(tier); tier {
	case "", "default", "standard", "on_demand", "on-demand", "auto":
		return wholeFactor, true
	}
	f, ok := e.services[tier]
	return f, ok
}

// cacheFactor is the factor of a service tier's cache reads, where it is not that of the tier.
func (e *Entry) cacheFactor(tier string, factor int64) int64 {
	if f, ok := e.services[strings.ToLower(tier)+"_cache_read"]; ok && tier != "" {
		return f
	}
	return factor
}

// ratesFor picks the tier by the length of the prompt, cache included.
func (e *Entry) ratesFor(u providers.Usage) rates {
	prompt := uint64(u.Input) + uint64(u.CacheRead) // two int64 fit
	if prompt > math.MaxInt64 || prompt+uint64(u.CacheWrite) > math.MaxInt64 {
		prompt = math.MaxInt64
	} else {
		prompt += uint64(u.CacheWrite)
	}
	r := e.base
	for _, t := range e.tiers {
		if prompt > uint64(t.above) {
			r = t.rates
		}
	}
	return r
}

// total sums tokens × rate × factor in 128 bits. Seven products of at most 2^63 ×
// 10^15 × 5000 could be too much: over remembers it.
type total struct {
	hi, lo uint64
	over   bool
}

func (t *total) add(tokens, rate int64) {
	hi, lo := bits.Mul64(uint64(tokens), uint64(rate))
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, lo, 0)
	t.hi, carry = bits.Add64(t.hi, hi, carry)
	t.over = t.over || carry != 0
}

// nano divides by a million tokens and a thousand thousandths, rounding half up:
// nothing here is negative.
func (t total) nano() (int64, bool) {
	const unit = 1_000_000 * wholeFactor
	lo, carry := bits.Add64(t.lo, unit/2, 0)
	hi, carry := bits.Add64(t.hi, 0, carry)
	if hi >= unit || carry != 0 || t.over {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, unit)
	return int64(q & math.MaxInt64), q <= math.MaxInt64
}
