// Package secrets finds credentials in text and replaces them. It finds those that are
// configured or were seen in requests, in every encoding in which they are likely to appear, and
// texts that match the pattern of a known provider's credentials. Every search takes time in
// proportion to the text, also for hostile texts.
package secrets

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// minSecret is the length in bytes below which a value is a placeholder and not a credential,
// such as "k", "EMPTY" or "ollama". Replacing those would damage ordinary words that contain
// them.
const minSecret = 8

// Hidden replaces a credential.
const Hidden = "[secret]"

// configured is the kind of a credential that was passed to New or Add.
const configured = "a configured secret"

// Finder finds credentials in text: the known ones, plain or encoded, and those that match a
// pattern. A run has one, which everything that writes shares. It is safe for concurrent use. A
// nil *Finder only matches patterns.
type Finder struct {
	known atomic.Pointer[knownSecrets] // replaced as a whole

	mu    sync.Mutex
	tally map[Redaction]int
}

// Redaction counts the credentials of one kind that Redact found in one field. It does not
// contain them.
type Redaction struct {
	// Field is the caller's name of the text, Kind the kind of credential, such as "a configured
	// secret".
	Field, Kind string
	// Count is the number of texts with such a credential.
	Count int
}

// New returns a Finder that knows the values; see Add.
func New(values ...string) *Finder {
	s := &Finder{tally: map[Redaction]int{}}
	s.known.Store(newKnownSecrets(nil))
	s.Add(values...)
	return s
}

// Add adds known credentials. It ignores values shorter than 8 bytes, which are placeholders.
func (s *Finder) Add(values ...string) {
	fresh := func(v string) bool { return len(v) >= minSecret && !s.known.Load().values[v] }
	if !slices.ContainsFunc(values, fresh) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := maps.Clone(s.known.Load().values)
	for _, v := range values {
		if len(v) >= minSecret {
			all[v] = true
		}
	}
	s.known.Store(newKnownSecrets(all))
}

// Find returns the kind of a credential in text, "" if there is none. It finds credentials in any
// case, with spaces between characters, in base64, base32 and hex, percent-encoded, and as HTML
// or JSON escapes, also nested.
func (s *Finder) Find(text string) string {
	return s.current().unredacted(text)
}

// Known returns the number of known credentials, which never decreases.
func (s *Finder) Known() int { return len(s.current().values) }

func (s *Finder) current() *knownSecrets {
	if s == nil {
		return noneKnown()
	}
	return s.known.Load()
}

var noneKnown = sync.OnceValue(func() *knownSecrets { return newKnownSecrets(nil) })

// Redactions returns what Redact has found so far, sorted by field and kind.
func (s *Finder) Redactions() []Redaction {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Redaction
	for w, n := range s.tally {
		w.Count = n
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b Redaction) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}
