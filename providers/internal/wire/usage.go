package wire

import (
	"encoding/json"

	"github.com/cupel-eval/cupel/providers"
)

// Usage sets the usage of a reply from the provider's object, which read makes
// disjoint classes of; ok false means that it holds no counts. What does not
// decode is kept and counted as not reported.
func (b *Builder) Usage(raw json.RawMessage, read func(json.RawMessage) (u providers.Usage, ok bool, err error)) {
	if !Given(raw) {
		return
	}
	b.Reply.RawUsage = raw
	u, ok, err := read(raw)
	switch {
	case err != nil:
		b.Warn("usage: not understood, counted as not reported")
	case ok:
		u.Reported = true
		b.Reply.Usage = u
	}
}
