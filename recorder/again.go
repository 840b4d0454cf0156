package recorder

import (
	"context"
	"slices"

	"github.com/cupel-eval/cupel/recorder/cassette"
)

type digestKey struct{}

// WithDigest returns a context whose requests are answered, in replay, by the next unused
// recording with a digest, whatever they say.
func WithDigest(ctx context.Context, digest string) context.Context {
	return context.WithValue(ctx, digestKey{}, digest)
}

// Again returns a Recorder that replays what r has recorded so far, without exchanges that
// are not finished or cannot be saved, or what r replays. If save is set, its Save saves r.
func (r *Recorder) Again(save bool) *Recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	data := &cassette.Data{Header: r.o.Header}
	if r.index != nil {
		data.Interactions = slices.Clone(r.index.data.Interactions)
	}
	for _, t := range r.ordered() {
		if t.done && t.err == nil {
			data.Interactions = append(data.Interactions, t.it)
		}
	}
	for i := range data.Interactions {
		h := &data.Interactions[i].Response.Headers
		*h = h.Clone() // those who replay may change them
	}
	again := &Recorder{o: r.o, index: newRecordingIndex(data)}
	if again.o.Mode = Replay; save {
		again.origin = r
	}
	return again
}

// Recording returns the first recording with a digest that a replay has, or with an empty
// digest its last; nil if there is none. It must not be changed.
func (r *Recorder) Recording(digest string) *cassette.Interaction {
	all := r.index.data.Interactions
	if same := r.index.byDigest[digest]; same != nil {
		return &all[same.indexes[0]]
	}
	if digest != "" || len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}
