// Package secrets finds credentials in text and replaces them: those it was given or has
// seen in requests, in every encoding they are likely to appear in, and whatever looks
// like the credential of a known provider. Every search takes time in proportion to the
// text, however hostile that is.
package secrets

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// minSecret is the length in bytes below which a value is not a credential but a
// placeholder, such as "k", "EMPTY" or "ollama": it is a part of ordinary words, so
// looking for it would take texts apart.
const minSecret = 8

// Hidden stands where a credential was.
const Hidden = "[secret]"

// configured is the kind of a credential that Secrets was given.
const configured = "a configured secret"

// Finder finds credentials in text: those it was given, as they stand or in
// the encodings they are likely to appear in, and whatever looks like one. A
// run has one, shared by everything that writes. Safe for concurrent use; a nil
// *Secrets knows the looks only.
type Finder struct {
	known atomic.Pointer[knownSecrets] // replaced as a whole

	mu    sync.Mutex
	tally map[Redaction]int
}

// Redaction says where Redact found what, and how often: never the credential.
type Redaction struct {
	// Field is where the text belongs, Kind what was found in it, such as "a
	// configured secret".
	Field, Kind string
	// Count is the number of texts.
	Count int
}

// New returns Secrets that know the values; see Add.
func New(values ...string) *Finder {
	s := &Finder{tally: map[Redaction]int{}}
	s.known.Store(newKnownSecrets(nil))
	s.Add(values...)
	return s
}

// Add makes further credentials known. A value shorter than 8 bytes is taken for a
// placeholder and left out.
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

// Find says what kind of credential text holds, "" for none. It finds credentials
// as they stand, in upper or lower case, spaced out, in base64, base32 and hex,
// percent-encoded, as HTML or JSON escapes, also several times over.
func (s *Finder) Find(text string) string {
	return s.current().unredacted(text)
}

// Known returns the number of credentials that s was given or learned. It only grows.
func (s *Finder) Known() int { return len(s.current().values) }

func (s *Finder) current() *knownSecrets {
	if s == nil {
		return noneKnown()
	}
	return s.known.Load()
}

var noneKnown = sync.OnceValue(func() *knownSecrets { return newKnownSecrets(nil) })

// Redactions returns what Redact has found so far, by field and kind.
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
