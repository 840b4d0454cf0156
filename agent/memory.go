package agent

// The bounds of what is remembered of a session, unless told otherwise.
const (
	defaultMemoryTurns  = 10
	defaultMemoryTokens = 2000
)

// Remember returns the latest exchanges of all that fit: no more than turns of them,
// 0 meaning 10, and no more than tokens, 0 meaning 2,000, estimated as 4 bytes each.
// One that does not fit hides those before it. The result shares memory with all.
func Remember(all []Exchange, turns, tokens int) []Exchange {
	if turns <= 0 {
		turns = defaultMemoryTurns
	}
	if tokens <= 0 {
		tokens = defaultMemoryTokens
	}
	size, from := 0, len(all)
	for from > 0 && len(all)-from < turns {
		size += len(all[from-1].Request) + len(all[from-1].Answer)
		if size > tokens*bytesPerToken {
			break
		}
		from--
	}
	return all[from:]
}
