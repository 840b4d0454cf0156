package strategy

import "strings"

// Exchange is an earlier request of a session, and its answer.
type Exchange struct{ Request, Answer string }

// BytesPerToken is the estimate of how long a token is.
const BytesPerToken = 4

// Remember returns the latest exchanges of all that fit: no more than turns of them,
// 0 meaning 10, and no more than tokens, 0 meaning 2,000, estimated as 4 bytes each.
// One that does not fit hides those before it; one without an answer is left out. An
// exchange is kept whole or not at all, so what is left begins with the user.
func Remember(all []Exchange, turns, tokens int) []Exchange {
	if turns <= 0 {
		turns = MemoryTurns.Default
	}
	if tokens <= 0 {
		tokens = MemoryTokens.Default
	}
	var kept []Exchange
	for _, x := range all {
		if strings.TrimSpace(x.Request) != "" && strings.TrimSpace(x.Answer) != "" {
			kept = append(kept, x)
		}
	}
	size, from := 0, len(kept)
	for from > 0 && len(kept)-from < turns {
		size += len(kept[from-1].Request) + len(kept[from-1].Answer)
		if size > tokens*BytesPerToken {
			break
		}
		from--
	}
	return kept[from:]
}
