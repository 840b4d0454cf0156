package openai

import (
	"encoding/json"
	"math"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// logProbs is the mean log probability of the tokens that have come. A nil one, of a
// reply for which none were asked, adds nothing.
type logProbs struct {
	sum float64
	n   int
}

// add takes those of a choice, or of a chunk of one. What has another form, as of some
// servers, is left out.
func (l *logProbs) add(b *wire.Builder, raw json.RawMessage) {
	if l == nil || !wire.Given(raw) {
		return
	}
	var list struct {
		Content []struct {
			LogProb *float64 `json:"logprob"`
		} `json:"content"`
	}
	if wire.Unmarshal(raw, &list) != nil {
		return
	}
	for _, t := range list.Content {
		if t.LogProb != nil && *t.LogProb <= 0 && *t.LogProb > -math.MaxFloat32 {
			l.sum += *t.LogProb
			l.n++
		}
	}
	if l.n > 0 {
		b.Reply.LogProb = new(l.sum / float64(l.n))
	}
}
