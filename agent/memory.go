package agent

import "strings"

// The bounds of what is remembered of a session, unless told otherwise.
const (
	defaultMemoryTurns  = 10
	defaultMemoryTokens = 2000
)

// Remember bounds what was said before in a session, for Params.Memory: the newest
// exchanges that have an answer, at most turns of them, 0 meaning 10, and together at
// most tokens, 0 meaning 2,000, by an estimate of four bytes each. What is left begins
// with a request of the user's; an exchange is shown whole, and one that does not fit
// hides those before it.
func Remember(history []Exchange, turns, tokens int) []Exchange {
	if turns <= 0 {
		turns = defaultMemoryTurns
	}
	if tokens <= 0 {
		tokens = defaultMemoryTokens
	}
	var kept []Exchange
	for _, x := range history {
		if strings.TrimSpace(x.Answer) != "" && strings.TrimSpace(x.Request) != "" {
			kept = append(kept, x)
		}
	}
	kept = kept[max(0, len(kept)-turns):]
	from, size := len(kept), 0
	for from > 0 {
		x := kept[from-1]
		if size += estimate(x.Request) + estimate(x.Answer); size > tokens {
			break
		}
		from--
	}
	return kept[from:]
}
