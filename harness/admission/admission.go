// Package admission decides when a request may be sent: a request with its worst
// case goes in; a permit comes out once the provider's limits allow it, or an
// error when a cap on spending does not.
package admission

// Limits say how fast one provider may be asked, and how much it may be asked
// for in all.
type Limits struct {
	// Concurrency bounds requests in flight per provider and key, adapted downwards
	// while the provider pushes back; 0 means the run's own.
	Concurrency int
	// RequestsPerMinute and TokensPerMinute are the provider's limits per key; 0
	// means that none is known.
	RequestsPerMinute, TokensPerMinute int64
	// Caps bound what the provider is asked for in the run.
	Caps
}

// Caps bound the spending of a run. Zero is no cap.
type Caps struct {
	// CostNanoUSD is money in nano-USD.
	CostNanoUSD int64
	// Tokens of all classes, Requests with every attempt.
	Tokens, Requests int64
}
