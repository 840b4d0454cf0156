package agent

import "strings"

// Remember bounds what was said before in a session, for Params.Memory: the newest
// exchanges that have an answer, at most turns of them, and together at most tokens
// by an estimate of four bytes each. 0 is no bound. What is left begins with a
// request of the user's; an exchange is shown whole or not at all.
func Remember(history []Exchange, turns, tokens int) []Exchange {
	var kept []Exchange
	for _, x := range history {
		if strings.TrimSpace(x.Answer) != "" && strings.TrimSpace(x.Request) != "" {
			kept = append(kept, x)
		}
	}
	if turns > 0 && len(kept) > turns {
		kept = kept[len(kept)-turns:]
	}
	if tokens <= 0 {
		return kept
	}
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
