package recorder

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

// Secrets finds credentials in text: those it was given, as they stand or in
// the encodings they are likely to appear in, and whatever looks like one. A
// run has one, shared by everything that writes. Safe for concurrent use; a nil
// *Secrets knows the looks only.
type Secrets struct {
	known atomic.Pointer[needles] // replaced as a whole

	mu    sync.Mutex
	tally map[Withheld]int
}

// Withheld says where Redact found what, and how often: never the credential.
type Withheld struct {
	// Field is where the text belongs, Kind what was found in it, such as "a
	// configured secret".
	Field, Kind string
	// Count is the number of texts.
	Count int
}

// NewSecrets returns Secrets that know the values; see Add.
func NewSecrets(values ...string) *Secrets {
	s := &Secrets{tally: map[Withheld]int{}}
	s.known.Store(newNeedles(nil))
	s.Add(values...)
	return s
}

// Add makes further credentials known. A value shorter than 8 bytes is taken for a
// placeholder and left out.
func (s *Secrets) Add(values ...string) {
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
	s.known.Store(newNeedles(all))
}

// Find says what kind of credential text holds, "" for none. It finds credentials
// as they stand, in upper or lower case, spaced out, in base64, base32 and hex,
// percent-encoded, as HTML or JSON escapes, also several times over.
func (s *Secrets) Find(text string) string {
	return s.needles().unredacted(text)
}

func (s *Secrets) needles() *needles {
	if s == nil {
		return noNeedles()
	}
	return s.known.Load()
}

var noNeedles = sync.OnceValue(func() *needles { return newNeedles(nil) })

// Withheld returns what Redact has found so far, by field and kind.
func (s *Secrets) Withheld() []Withheld {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Withheld
	for w, n := range s.tally {
		w.Count = n
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b Withheld) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}
