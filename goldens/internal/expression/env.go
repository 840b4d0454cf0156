package expression

// Env holds the values of names during evaluations, one after the other. It must not be used by
// several at the same time. The zero value has no names.
type Env struct {
	meter
	names  []string
	values []any          // of the names, in their order
	byName map[string]any // the same for a machine; nil until one is needed
	item   any            // of the innermost predicate
}

// Reset makes it an environment for programs that were compiled with these names, or with
// those that begin them. All values are null.
func (e *Env) Reset(names []string) {
	e.names, e.byName = names, nil
	e.values = append(e.values[:0], make([]any, len(names))...)
}

// Set sets the value of the name at an index of the names.
func (e *Env) Set(i int, v any) {
	e.values[i] = v
	if e.byName != nil {
		e.byName[e.names[i]] = v
	}
}

// named returns the values as a machine reads them.
func (e *Env) named() map[string]any {
	if e.byName == nil {
		e.byName = map[string]any{meterName: &e.meter}
		for i, name := range e.names {
			e.byName[name] = e.values[i]
		}
	}
	return e.byName
}
