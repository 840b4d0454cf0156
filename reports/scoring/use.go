package scoring

// Use is what the calls of judges or of simulated users came to in all episodes. A number is null if
// that of any episode is unknown.
type Use struct {
	Calls     int64  `json:"calls"`
	TokensIn  *int64 `json:"tokens_in"`
	TokensOut *int64 `json:"tokens_out"`
	Cost      *int64 `json:"cost_nanousd"`
}

// Uses adds them up. The zero value is empty.
type Uses struct {
	calls         int64
	in, out, cost sum
}

// Add adds those of an episode.
func (u *Uses) Add(calls int32, in, out, cost *int64) {
	u.calls += int64(calls)
	u.in.add(in)
	u.out.add(out)
	u.cost.add(cost)
}

// Use returns the sums; nil without calls.
func (u *Uses) Use() *Use {
	if u.calls == 0 {
		return nil
	}
	return &Use{Calls: u.calls, TokensIn: u.in.value(), TokensOut: u.out.value(), Cost: u.cost.value()}
}

// sum is a sum that is unknown if any part is.
type sum struct {
	n       int64
	unknown bool
}

func (s *sum) add(v *int64) {
	if v == nil {
		s.unknown = true
		return
	}
	s.n += *v
}

func (s *sum) value() *int64 {
	if s.unknown {
		return nil
	}
	return &s.n
}
