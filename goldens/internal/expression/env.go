package expression

import (
	"encoding/json"
	"slices"
)

// Env holds the values of names during evaluations, one after the other. It must not be used by
// several at the same time. The zero value has no names.
type Env struct {
	meter
	names  []string
	values []any          // of the names, in their order
	byName map[string]any // the same for a machine; nil until one is needed
	item   any            // of the innermost predicate
	texts  []byte         // those that Text, JSON and Keep have returned, one after the other
}

// Reset makes it an environment for programs that were compiled with these names, or with
// those that begin them. All values are null.
func (e *Env) Reset(names []string) {
	e.names, e.byName, e.texts = names, nil, nil
	e.values = append(e.values[:0], make([]any, len(names))...)
}

// Set sets the value of the name at an index of the names.
func (e *Env) Set(i int, v any) {
	e.values[i] = v
	if e.byName != nil {
		e.byName[e.names[i]] = v
	}
}

// Text returns a value as AppendJSON writes it.
func (e *Env) Text(v any) json.RawMessage {
	return e.written(AppendJSON(e.room(32), v))
}

// room returns where a text of about n bytes may be written.
func (e *Env) room(n int) []byte {
	const most = 256 // bytes of the texts of a usual call
	if cap(e.texts)-len(e.texts) < n {
		e.texts = make([]byte, 0, max(n, most))
	}
	return e.texts[len(e.texts):]
}

// written returns a text that was written in room.
func (e *Env) written(text []byte) json.RawMessage {
	e.texts = text
	return slices.Clip(text)
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
