package admission

import (
	"math"

	"github.com/cupel-eval/cupel/providers"
)

// The cost of a request without reported usage is unknown. It is estimated from requests to
// the same model with reported usage.
const (
	// minReported is the number of reports that an estimate needs. Before, a request without a
	// report counts at its worst case.
	minReported = 8
	// safety multiplies the largest observation.
	safety = 1.5
	// maxUnreported bounds the requests without a report that wait for an estimate; further
	// ones keep their worst case.
	maxUnreported = 1024
)

// modelKey names a model behind one key and address: one tokeniser.
type modelKey struct {
	lane  *Lane
	model string
}

// observations are the reported usages of one model.
type observations struct {
	reported int
	// perByte is the maximum of input tokens per byte of ASCII text, least the minimum of
	// input tokens per request, longest the maximum of output tokens per reply.
	perByte        float64
	least, longest int64
	// waiting are requests without a report from before minReported was reached.
	waiting []*Permit
}

// observe adds a reported usage. It reports whether an estimate has just become possible.
func (o *observations) observe(r Request, u providers.Usage) (enough bool) {
	input := max(0, u.Input) + max(0, u.CacheRead) + max(0, u.CacheWrite)
	if r.Text <= 0 || input == 0 {
		return false
	}
	if o.reported++; o.reported == 1 {
		o.least = input
	}
	o.perByte = max(o.perByte, float64(input)/float64(r.Text))
	o.least = min(o.least, input)
	o.longest = max(o.longest, max(0, u.Output)+max(0, u.Reasoning))
	return o.reported == minReported
}

// estimate bounds the billed usage of a request without a report, never above its worst
// case. A prompt shorter than all observed ones counts as the smallest observation, because
// what a provider adds to a prompt does not depend on its length. Non-ASCII text and images
// count at their worst case, because they do not predict each other. So does the output of
// a request that timed out, because the timeout may be due to a long output.
func (o *observations) estimate(p *Permit, timedOut bool) Spend {
	r := p.request
	if o.reported < minReported || r.Text <= 0 {
		return p.worst
	}
	input := r.Other + int64(math.Ceil(safety*max(o.perByte*float64(r.Text), float64(o.least))))
	input, output := min(input, max(0, r.Input)), max(0, r.Output)
	if !timedOut {
		output = min(output, int64(math.Ceil(safety*float64(o.longest))))
	}
	s := Spend{CostNanoUSD: p.worst.CostNanoUSD, Tokens: min(p.worst.Tokens, input+output), Requests: 1}
	if r.Price != nil {
		if cost, ok := r.Price(input, output); ok {
			s.CostNanoUSD = min(s.CostNanoUSD, cost)
		}
	}
	return s
}

// observations returns the observations of a permit's model.
func (p *Permit) observations() *observations {
	b, key := p.lane.budget, modelKey{p.lane, p.request.Model}
	o := b.models[key]
	if o == nil {
		if b.models == nil {
			b.models = map[modelKey]*observations{}
		}
		o = &observations{}
		b.models[key] = o
	}
	return o
}

// settleWaiting settles the requests that waited for an estimate.
func (o *observations) settleWaiting(c *Control) {
	for _, p := range o.waiting {
		estimate := o.estimate(p, p.timedOut)
		c.run.spent = c.run.spent.minus(p.worst).Plus(estimate)
		p.lane.budget.spent = p.lane.budget.spent.minus(p.worst).Plus(estimate)
		if log := c.options.Log; log != nil {
			log.settle(p.record, estimate)
		}
	}
	o.waiting = nil
}
