package recorder

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// minSecret is the length in bytes below which a credential is not looked for.
const minSecret = 8

// Hidden stands where a credential was.
const Hidden = "[secret]"

// configured is the kind of a credential that Secrets was told of.
const configured = "a configured secret"

// Secrets finds credentials in text: those it was told of, as they stand or in
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

// Add tells of further credentials. One shorter than 8 bytes is left out: it
// would be found everywhere.
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

// Find says what kind of credential text holds, "" for none: as it stands, in
// base64, hex, percent-encoded, as HTML or JSON escapes, also several times over.
func (s *Secrets) Find(text string) string {
	return s.needles().find(text, true)
}

func (s *Secrets) needles() *needles {
	if s == nil {
		return noNeedles()
	}
	return s.known.Load()
}

var noNeedles = sync.OnceValue(func() *needles { return newNeedles(nil) })

// Redact returns text with every credential replaced by Hidden. What stands
// beneath escapes takes its whole line with it. What was found is counted under
// the field.
func (s *Secrets) Redact(field, text string) string {
	n := s.needles()
	kind := n.find(text, true)
	if kind == "" {
		return text
	}
	if s != nil {
		s.mu.Lock()
		s.tally[Withheld{Field: field, Kind: kind}]++
		s.mu.Unlock()
	}
	text = n.replace(text)
	if n.find(text, true) == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if n.find(line, true) == "" {
			b.WriteString(line)
			continue
		}
		b.WriteString(Hidden)
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	if n.find(b.String(), true) != "" { // it runs over several lines
		return Hidden
	}
	return b.String()
}

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
