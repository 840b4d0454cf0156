package price

import (
	"fmt"
	"time"

	"github.com/cupel-eval/cupel/providers"
)

// Settle compares a reply's usage with the cost that the reply reports, on a day. Of
// two readings of the usage it keeps the one that the cost fits; where the cost does
// not tell, it keeps the one with more tokens, and the usage is not understood. A cost
// that fits no reading is not understood either. Without a price or a reported cost
// there is nothing to compare.
func (p Table) Settle(provider, model string, r *providers.Reply, at time.Time) {
	u, other := r.Usage, r.Usage.Other
	u.Other = nil
	defer func() { r.Usage = u }()
	cost, known := p.Cost(provider, model, u, at)
	fits := known && r.CostNanoUSD != nil && near(cost, *r.CostNanoUSD)
	if other == nil {
		if known && r.CostNanoUSD != nil && !fits {
			r.Warnings = append(r.Warnings, fmt.Sprintf("price: the provider says %d nano-USD, the price table %d", *r.CostNanoUSD, cost))
			u.Doubt("cost", "the provider reports another than the price table gives")
		}
		return
	}
	second, known := p.Cost(provider, model, *other, at)
	fitsToo := known && r.CostNanoUSD != nil && near(second, *r.CostNanoUSD)
	if fitsToo && !fits || fitsToo == fits && other.Total() > u.Total() {
		u = *other
		u.Other = nil
	}
	if fits == fitsToo {
		u.Doubt("usage", "has two readings, and no reported cost tells which is right")
	}
}

// near reports whether two costs are at most one percent apart, or a rounding of the
// reported one to a tenth of a millionth of a dollar.
func near(a, b int64) bool { return max(a-b, b-a) <= max(max(a, b)/100, 100) }
