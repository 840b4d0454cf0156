package sim

import (
	"strings"
	"unicode/utf8"
)

// outputLimit is the most tokens a simulated model puts out, whatever
// max_tokens allows.
const outputLimit = 2048

// simulatedWindow is the context, in tokens, that the models are listed with. Longer
// prompts are not refused, except by the wire of TGI beyond tgiWindow.
const simulatedWindow = 128_000

// estimateTokens estimates how many tokens a text is: a quarter token for each
// ASCII character, one for any other, rounded up. It is an estimate for budgets
// and prices, made by no tokenizer.
func estimateTokens(text string) int {
	quarters := 0
	for i := 0; i < len(text); i++ {
		quarters += quartersOf(text[i])
	}
	return (quarters + 3) / 4
}

// quartersOf counts a character at its first byte.
func quartersOf(b byte) int {
	switch {
	case b < utf8.RuneSelf:
		return 1
	case utf8.RuneStart(b):
		return 4
	}
	return 0
}

// cutTokens cuts a text after limit estimated tokens and says whether it had to.
func cutTokens(text string, limit int) (string, bool) {
	quarters := 0
	for i := 0; i < len(text); i++ {
		if quarters += quartersOf(text[i]); quarters > 4*limit {
			return text[:i], true
		}
	}
	return text, false
}

// cutStop ends a text before the first stop sequence in it, and names that.
func cutStop(text string, stop []string) (string, string) {
	at, found := len(text), ""
	for _, s := range stop {
		if i := strings.Index(text, s); s != "" && i >= 0 && i < at {
			at, found = i, s
		}
	}
	return text[:at], found
}
