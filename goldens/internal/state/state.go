// Package state reads the states of worlds: canonical JSON. It finds values by path, says
// what differs between two states, hashes them, and checks assertions. It works on the
// text: of what two states have in common nothing is decoded.
package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Hash is the SHA-256 hex of a canonical state; empty for a world without one.
func Hash(state json.RawMessage) string {
	if state == nil {
		return ""
	}
	sum := sha256.Sum256(state)
	return hex.EncodeToString(sum[:])
}

// Check reports what is wrong with the text of a state: it must be JSON of at most so many
// bytes, without spaces between its values.
func Check(state json.RawMessage, most int) error {
	switch {
	case len(state) > most:
		return fmt.Errorf("it has %d bytes of JSON, more than %d; leave out what never changes", len(state), most)
	case !json.Valid(state):
		return errors.New("it is not JSON")
	}
	for i := 0; i < len(state); i++ {
		switch state[i] {
		case '"':
			i = stringEnd(state, i)
		case ' ', '\t', '\r', '\n':
			return errors.New("it is not canonical JSON: there are spaces between its values; write it with json.Marshal")
		}
	}
	return nil
}

// Get returns the value at a path. Where there is none, ok is false and reached is the
// part of the path that exists, whose value is returned.
func Get(state json.RawMessage, p Path) (value json.RawMessage, reached Path, ok bool) {
	value = state
	for i, key := range p {
		inner, ok := child(value, key)
		if !ok {
			return value, p[:i], false
		}
		value = inner
	}
	return value, p, true
}

// child returns a member of an object or an item of a list.
func child(value json.RawMessage, key string) (found json.RawMessage, ok bool) {
	field, want, selects := selected(key)
	for name, inner := range children(value) {
		if !selects && name == key {
			return inner, true
		}
		if selects && bytes.HasPrefix(inner, []byte("{")) {
			if text, ok := child(inner, field); ok && bytes.HasPrefix(text, []byte(`"`)) && string(unquote(text)) == want {
				return inner, true
			}
		}
	}
	return nil, false
}

// children yields the members of an object, by key, or the items of a list, by index, in
// the order of the text. Other values have none.
func children(value json.RawMessage) func(yield func(string, json.RawMessage) bool) {
	return func(yield func(string, json.RawMessage) bool) {
		m := member{next: 1}
		for n := 0; m.read(value); n++ {
			key := strconv.Itoa(n)
			if m.key != nil {
				key = string(m.key)
			}
			if !yield(key, m.value) {
				return
			}
		}
	}
}

// member is a member of an object, with its key, or an item of a list.
type member struct {
	key   []byte // nil of an item
	value json.RawMessage
	next  int // where the text of the next one begins
}

// read goes on to the next member or item; false if there is none.
func (m *member) read(of json.RawMessage) bool {
	at := m.next
	if !holdsOthers(of) || at >= len(of)-1 {
		return false
	}
	if of[0] == '{' {
		end := valueEnd(of, at)
		m.key, at = unquote(of[at:end]), end+1 // the colon
	}
	end := valueEnd(of, at)
	if at >= end {
		return false
	}
	m.value, m.next = of[at:end], end+1 // the comma
	return true
}

// members appends the members of an object in the order of their keys, or the items of a list.
func members(out []member, value json.RawMessage) []member {
	for m := (member{next: 1}); m.read(value); {
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	return out
}

// holdsOthers reports whether a value is an object or a list.
func holdsOthers(value json.RawMessage) bool {
	return len(value) > 1 && (value[0] == '{' || value[0] == '[')
}

// unquote decodes a key.
func unquote(quoted []byte) []byte {
	if len(quoted) > 1 && bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var key string
	_ = json.Unmarshal(quoted, &key) // of a canonical text
	return []byte(key)
}

// valueEnd is where the value that begins at an index ends; the end of the text where it
// is not JSON.
func valueEnd(text []byte, at int) int {
	depth := 0
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '"':
			if i = stringEnd(text, i); depth == 0 {
				return min(i+1, len(text))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			} else if depth < 0 {
				return i
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// stringEnd is the index of the quote that ends a string.
func stringEnd(text []byte, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// Change is one difference between two states.
type Change struct {
	Path Path
	// From and To are the values as canonical JSON, nil where the path did not exist.
	From, To json.RawMessage
}

// Diff lists what differs between two canonical states, by the keys of objects in order
// of their bytes and the indexes of lists. A value that is in one of them only is one
// change, regardless of its content.
func Diff(from, to json.RawMessage) []Change { return DiffAt(nil, nil, from, to) }

// DiffAt appends to out the Diff of the two values at a path, of which one may be nil. Changes
// may share p.
func DiffAt(out []Change, p Path, from, to json.RawMessage) []Change {
	if bytes.Equal(from, to) {
		return out
	}
	return diff(out, p, from, to)
}

// diff appends how two values differ, which are not the same.
func diff(out []Change, p Path, from, to json.RawMessage) []Change {
	if !holdsOthers(from) || !holdsOthers(to) || from[0] != to[0] || len(p) == maxDepth {
		return append(out, Change{p, from, to})
	}
	var few [2][12]member
	was, is := members(few[0][:0], from), members(few[1][:0], to)
	for n := 0; len(was) > 0 || len(is) > 0; n++ {
		var key []byte
		var a, b json.RawMessage
		order := first(was, is)
		if order <= 0 {
			key, a, was = was[0].key, was[0].value, was[1:]
		}
		if order >= 0 {
			key, b, is = is[0].key, is[0].value, is[1:]
		}
		if bytes.Equal(a, b) {
			continue
		}
		name := string(key)
		if from[0] == '[' {
			name = strconv.Itoa(n)
		}
		out = diff(out, append(slices.Clip(p), name), a, b)
	}
	return out
}

// first compares the keys with which two lists of members begin.
func first(a, b []member) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return bytes.Compare(a[0].key, b[0].key)
}

// maxDepth is the depth below which a difference is not taken apart.
const maxDepth = 200
