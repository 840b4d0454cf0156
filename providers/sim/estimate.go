package sim

import "strings"

// outputLimit is the most tokens a simulated model puts out, whatever
// max_tokens allows.
const outputLimit = 2048

// simulatedWindow is the context, in tokens, that the models are listed with. Longer
// prompts are not refused, except by the wire of TGI beyond tgiWindow.
const simulatedWindow = 128_000

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
