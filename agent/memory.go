package agent

import "strings"

// The bounds of what is remembered of a session, unless told otherwise.
const (
	defaultMemoryTurns  = 10
	defaultMemoryTokens = 2000
)

// Remember returns the latest exchanges of all that fit: no more than turns of them,
// 0 meaning 10, and no more than tokens, 0 meaning 2,000, estimated as 4 bytes each.
// One that does not fit hides those before it; one without an answer is left out. An
// exchange is kept whole or not at all, so what is left begins with the user.
func Remember(all []Exchange, turns, tokens int) []Exchange {
	if turns <= 0 {
		turns = defaultMemoryTurns
	}
	if tokens <= 0 {
		tokens = defaultMemoryTokens
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
		if size > tokens*bytesPerToken {
			break
		}
		from--
	}
	return kept[from:]
}
