package price

import (
	"time"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/providers"
)

// Worst is the most that a request can cost on a day, in whole nano-USD, if its
// prompt has at most so many tokens, cached ones included, and its answer, reasoning
// included: at the dearest token class, size of prompt and service tier that the
// model has a price for. Cost is never more. ok is false, and the cost unknown, when
// no entry prices the model on that day, when a count is negative, or when the sum
// exceeds an int64.
func (p Table) Worst(provider, model string, input, output int64, at time.Time) (nanoUSD int64, ok bool) {
	e := p.find(provider, model, at)
	if e == nil {
		return 0, false
	}
	factor := int64(wholeFactor)
	for _, f := range e.services {
		factor = max(factor, f)
	}
	return e.worst(factor, input, output)
}

// WorstOf is Worst of a request that is served at one service tier, such as batch. ok is also
// false if the model has no price at that tier.
func (p Table) WorstOf(tier, provider, model string, input, output int64, at time.Time) (nanoUSD int64, ok bool) {
	e := p.find(provider, model, at)
	if e == nil {
		return 0, false
	}
	factor, ok := e.factor(tier)
	if !ok {
		return 0, false
	}
	return e.worst(factor, input, output)
}

// worst is Worst at a factor.
func (e *Entry) worst(factor, input, output int64) (nanoUSD int64, ok bool) {
	if min(input, output) < 0 {
		return 0, false
	}
	r := e.base
	for i := 0; ; i++ {
		longest := input // of the prompts these rates apply to
		if i < len(e.tiers) {
			longest = min(input, e.tiers[i].above)
		}
		var sum total
		sum.add(longest, factor*max(r.input, r.cacheRead, r.cacheWrite, r.cacheWriteLong))
		sum.add(output, factor*max(r.output, r.reasoning))
		sum.add(1_000_000*wholeFactor, e.request)
		cost, fits := sum.nano()
		if !fits {
			return 0, false
		}
		nanoUSD = max(nanoUSD, cost)
		if i == len(e.tiers) || input <= e.tiers[i].above {
			return nanoUSD, true
		}
		r = e.tiers[i].rates
	}
}

// Tokens that a call's parts may take besides their text: what a provider's own
// prompt says around them, with room to spare.
const (
	callTokens    = 1024
	messageTokens = 64
	toolTokens    = 256
	// imageTokens is the most any provider counts for an image, regardless of its size.
	imageTokens = 50_000
)

// WorstTokens bounds the tokens of one request of a call. A token of text is at
// least a byte, so the input is at most the bytes that are sent as text and
// something for each part. Settings of the wire, such as Options.Extra, are not in
// the call. ok is false when the output has no bound: MaxTokens is 0.
func WorstTokens(call providers.Call) (input, output int64, ok bool) {
	ascii, other := TextBytes(call)
	input = callTokens + ascii + other + messageTokens*int64(len(call.Messages)) + toolTokens*int64(len(call.Tools))
	for _, m := range call.Messages {
		input += messageTokens * int64(len(m.Calls))
	}
	// Providers write a schema again in their own prompt.
	for _, t := range call.Tools {
		input += int64(len(t.Schema))
	}
	if f := call.Format; f != nil {
		input += toolTokens + int64(len(f.Schema))
	}
	return input, int64(call.MaxTokens), call.MaxTokens > 0
}

// TextBytes counts the bytes of ASCII text that a call sends, and bounds the tokens
// of everything else in it: of other text by its bytes, of an image by the most that
// any provider counts for one.
func TextBytes(call providers.Call) (ascii, other int64) {
	count := func(texts ...string) {
		for _, s := range texts {
			a, o := textBytes(s)
			ascii, other = ascii+a, other+o
		}
	}
	count(call.System)
	for _, m := range call.Messages {
		count(m.Text, m.CallID, m.Name, string(m.Continuation))
		other += imageTokens * int64(len(m.Images))
		for _, c := range m.Calls {
			count(c.ID, c.Name, c.Args)
		}
	}
	for _, t := range call.Tools {
		count(t.Name, t.Description, string(t.Schema))
	}
	if f := call.Format; f != nil {
		count(f.Name, string(f.Schema))
	}
	return ascii, other
}

// textBytes counts the ASCII and the other bytes of a text. Of text that is not
// UTF-8 each byte may be sent as three.
func textBytes(s string) (ascii, other int64) {
	if !utf8.ValidString(s) {
		return 0, 3 * int64(len(s))
	}
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			ascii++
		}
	}
	return ascii, int64(len(s)) - ascii
}
