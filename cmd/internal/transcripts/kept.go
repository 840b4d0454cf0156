package transcripts

import (
	"sync"

	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/transcript"
)

// Kept has the details of the first episodes of a replay in progress, so that its report
// need not execute them again. Its methods may be called concurrently.
type Kept struct {
	redact func(field, text string) string
	mu     sync.Mutex
	left   int // bytes
	by     map[string]transcript.Detail
}

// maxKeptDetails bounds all details together, in bytes of text.
const maxKeptDetails = 32 << 20

// NewKept returns an empty Kept. redact removes credentials from texts.
func NewKept(redact func(field, text string) string) *Kept {
	return &Kept{redact: redact, left: maxKeptDetails, by: map[string]transcript.Detail{}}
}

// Keep is a harness.Options.Traced.
func (k *Kept) Keep(rows ledger.EpisodeRows, traces []episode.Trace) {
	k.mu.Lock()
	full := k.left <= 0
	k.mu.Unlock()
	if full || rows.Episode.InfraError {
		return
	}
	b := newDetailBuilder(k.redact)
	detail := b.detail(traces)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left -= maxDetail - b.left
	k.by[rows.Episode.EpisodeID] = detail
}

// Of returns the detail of the episode with this id, if it was kept. A nil Kept is empty.
func (k *Kept) Of(id string) (d transcript.Detail, ok bool) {
	if k != nil {
		d, ok = k.by[id]
	}
	return d, ok
}
