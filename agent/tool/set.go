package tool

// Set is a fixed list of tools with compiled schemas. It is immutable and safe
// for concurrent use.
type Set struct {
	specs []Spec
}

// NewSet compiles the schemas of specs. It reports every problem: a name used
// twice, an empty name, a schema that is not valid JSON Schema.
func NewSet(specs []Spec) (*Set, error) { return &Set{specs: specs}, nil }

// Specs returns the tools in the order given to NewSet; the caller must not
// change the slice.
func (s *Set) Specs() []Spec { return s.specs }

// Has reports whether a tool of exactly this name is on offer.
func (s *Set) Has(name string) bool { panic("skeleton") }

// Spec returns the tool of exactly this name.
func (s *Set) Spec(name string) (Spec, bool) { panic("skeleton") }

// Validate checks raw arguments against the tool's schema and returns field
// errors such as args.label:enum, sorted, or none. An unknown tool is a field
// error too.
func (s *Set) Validate(c Call) []string { panic("skeleton") }

// Canonical returns the canonical form of an arguments object (RFC 8785 member
// order by UTF-16 code unit, numbers kept exactly), and refuses anything but an
// object without duplicate keys.
func Canonical(args []byte) ([]byte, error) { panic("skeleton") }

// Key returns the idempotency key of a call, name|canonical arguments, and the
// SHA-256 hex of the canonical arguments.
func Key(c Call) (key, argsHash string, err error) { panic("skeleton") }
