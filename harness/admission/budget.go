package admission

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrCapped means that a request's worst case exceeds the rest of a cap. The error that
// wraps it names the cap.
var ErrCapped = errors.New("the cap on spending is reached")

// Spend is money in nano-USD, tokens of all classes, and requests with every attempt. None of
// them is negative.
type Spend struct {
	CostNanoUSD int64 `json:"cost_nano_usd"`
	Tokens      int64 `json:"tokens"`
	Requests    int64 `json:"requests"`
}

// Plus returns the sum; a sum that would overflow is the largest number.
func (s Spend) Plus(t Spend) Spend {
	return Spend{add(s.CostNanoUSD, t.CostNanoUSD), add(s.Tokens, t.Tokens), add(s.Requests, t.Requests)}
}

// minus subtracts an amount that was added before.
func (s Spend) minus(t Spend) Spend {
	return Spend{s.CostNanoUSD - t.CostNanoUSD, s.Tokens - t.Tokens, s.Requests - t.Requests}
}

func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// measures are what caps bound, in the order in which they are named.
var measures = []struct {
	name string
	of   func(Spend) int64
}{
	{"cost", func(s Spend) int64 { return s.CostNanoUSD }},
	{"tokens", func(s Spend) int64 { return s.Tokens }},
	{"requests", func(s Spend) int64 { return s.Requests }},
}

// over names the first cap that a sum exceeds; "" if there is none.
func (c Caps) over(s Spend) (measure string, of func(Spend) int64) { return c.above(s, Spend(c)) }

// budget is what is spent and reserved under one set of caps.
type budget struct {
	of                string // the owner, for errors
	caps              Caps
	spent, reserved   Spend
	inFlight, waiting int
	// capped is the reason to start no further episodes; nil until a cap is reached.
	capped error
	// shared is the process's part of caps that several processes share, and short the worst
	// case of a waiting request that it does not cover; nil, and none, unless Options.Shared.
	// bounds has an amount for each measure that a cap of the provider or of the run bounds.
	shared *Part
	short  Spend
	bounds Caps
	// models are the reported usages of a provider's models; nil for the run.
	models map[modelKey]*observations
}

// refuse returns an error if a request would exceed a cap even if every reservation settled
// at zero.
func (b *budget) refuse(worst Spend) error {
	measure, value := b.caps.over(b.spent.Plus(worst))
	if measure == "" {
		return b.refusePart(worst)
	}
	err := fmt.Errorf("%w: %s of %s: %s of %s spent, the next request may need %s: raise the cap and resume the run",
		ErrCapped, measure, b.of, amount(measure, value(b.spent)), amount(measure, value(Spend(b.caps))), amount(measure, value(worst)))
	if b.capped == nil {
		b.capped = err
	}
	return err
}

// fits reports whether a request fits in addition to the reservations.
func (b *budget) fits(worst Spend) bool {
	measure, _ := b.caps.over(b.spent.Plus(b.reserved).Plus(worst))
	return measure == "" && b.granted(worst)
}

func (b *budget) reserve(worst Spend) {
	b.reserved = b.reserved.Plus(worst)
	b.inFlight++
}

// settle replaces a reservation by the actual spending, which may be larger.
func (b *budget) settle(worst, actual Spend) {
	b.reserved = b.reserved.minus(worst)
	b.inFlight--
	b.spend(actual)
}

func (b *budget) spend(actual Spend) {
	b.spent = b.spent.Plus(actual)
	if measure, value := b.caps.over(b.spent); measure != "" && b.capped == nil {
		b.capped = fmt.Errorf("%w: %s of %s: %s of %s spent: raise the cap and resume the run",
			ErrCapped, measure, b.of, amount(measure, value(b.spent)), amount(measure, value(Spend(b.caps))))
	}
}

// amount formats money in USD, and other measures unchanged.
func amount(measure string, n int64) string {
	if measure != "cost" {
		return fmt.Sprint(n)
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%09d", n/1e9, n%1e9), "0"), ".") + " USD"
}
