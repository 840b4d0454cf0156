package admission

// Settle accounts for a request that an earlier process of the run sent, given its recorded
// reply. If the reservation of that ID is still open, its spending becomes the reply's
// report, or zero for a refusal that cannot have been billed. It does nothing for the empty
// ID.
func (l *Lane) Settle(id string, r Result) {
	c := l.control
	if c.options.Log == nil || id == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	number, worst, open := c.options.Log.found(id)
	if !open {
		return
	}
	actual := worst
	switch {
	case r.believable():
		if r.Usage.Reported {
			actual.Tokens = max(0, r.Usage.Total())
		}
		if r.CostNanoUSD != nil {
			actual.CostNanoUSD = max(0, *r.CostNanoUSD)
		}
	case r.unbilled():
		actual.Tokens, actual.CostNanoUSD = 0, 0
	}
	for _, b := range []*budget{&c.run, l.budget} {
		b.spent = b.spent.minus(worst).Plus(actual)
	}
	c.options.Log.settle(number, actual)
	c.serve(c.now())
}
