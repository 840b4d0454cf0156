package declared

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/expression"
	"github.com/cupel-eval/cupel/goldens/internal/state"
	"github.com/cupel-eval/cupel/goldens/world"
)

// operation is what a write does at its path.
type operation string

// The operations, in the order in which a rule's writes are applied.
const (
	set      operation = "set"
	appendTo operation = "append"
	remove   operation = "delete"
)

// write is one write of a rule.
type write struct {
	operation
	path  state.Path
	keys  []key // those of the path that are computed
	value program
}

// key computes the key of a path that has this index.
type key struct {
	program
	index int
}

// change is a write whose path and value are computed.
type change struct {
	operation
	path  state.Path
	value any
	text  json.RawMessage // of value
}

// write computes the paths and values of a rule's writes, before any is applied.
func (e *evaluation) write(r *rule) error {
	e.keys = e.keys[:0]
	for _, w := range r.writes {
		c, err := change{operation: w.operation}, error(nil)
		if c.path, err = e.path(w); err == nil && w.operation != remove {
			if err = e.define(w.value); err == nil {
				c.value, c.text, err = w.value.Keep(&e.env, maxState)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w.operation, err)
		}
		e.changes = append(e.changes, c)
	}
	return nil
}

// path computes the keys of a write's path.
func (e *evaluation) path(w write) (state.Path, error) {
	from := len(e.keys)
	e.keys = append(e.keys, w.path...)
	out := e.keys[from:]
	for _, key := range w.keys {
		v, err := e.eval(key.program)
		if err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case string:
			out[key.index] = strings.ToValidUTF8(v, "\uFFFD")
		case int:
			out[key.index] = strconv.Itoa(v)
		default:
			return nil, fmt.Errorf("key %d of the path must be a string or a whole number, but is %s", key.index+1, expression.Kind(v))
		}
	}
	return out, nil
}

// make makes the changes in the state, one after the other. If one does not fit, it takes
// back those before it.
func (e *evaluation) make() error {
	e.slots = e.slots[:0]
	for i := range e.changes {
		c := &e.changes[i]
		s, err := e.world.change(c)
		if err != nil {
			e.restore()
			return fmt.Errorf("%s %s: %w", c.operation, c.path, err)
		}
		e.slots = append(e.slots, s)
	}
	return nil
}

// restore takes back changes that were made. Parts that the world owned may be shared ones again.
func (e *evaluation) restore() {
	e.world.own = nil
	for _, s := range slices.Backward(e.slots) {
		s.restore()
	}
}

// apart reports whether the changes are of parts of the state that have nothing in common,
// and no deletions, which may renumber a list: each is then what it says.
func apart(changes []change) bool {
	for i, c := range changes {
		if c.operation == remove {
			return false
		}
		for _, other := range changes[:i] {
			if c.path.Under(other.path) || other.path.Under(c.path) {
				return false
			}
		}
	}
	return true
}

// list lists changes that are apart and have been made, in the order of world.Diff.
func (e *evaluation) list() []world.Change {
	e.found = e.found[:0]
	for i, c := range e.changes {
		var from json.RawMessage
		path, slot := c.path, &e.slots[i]
		if c.operation == appendTo {
			e.keys = append(append(e.keys, path...), strconv.Itoa(len(slot.old.([]any))))
			path = e.keys[len(e.keys)-len(path)-1:]
		} else if slot.exists {
			from = e.env.Text(slot.old)
		}
		e.found = state.DiffAt(e.found, path, from, c.text)
	}
	slices.SortFunc(e.found, func(a, b state.Change) int { return inOrder(e.world.state, a.Path, b.Path) })
	out := slices.Grow([]world.Change(nil), len(e.found))
	for _, c := range e.found {
		out = append(out, world.Change{Path: c.Path.String(), From: c.From, To: c.To})
	}
	return out
}

// inOrder compares two paths: keys of objects by their bytes, indexes of lists as numbers.
func inOrder(root map[string]any, a, b state.Path) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if len(a[i]) != len(b[i]) && mayBeIndex(a[i]) && mayBeIndex(b[i]) {
			if s, _, _ := find(root, a[:i+1], nil); s.object == nil {
				return len(a[i]) - len(b[i])
			}
		}
		return strings.Compare(a[i], b[i])
	}
	return len(a) - len(b)
}

// mayBeIndex reports whether a key is an index of a list, if it is a key of one.
func mayBeIndex(key string) bool { return key != "" && key[0] >= '0' && key[0] <= '9' }

// change makes a change and returns the slot that it changed.
func (w *declaredWorld) change(c *change) (slot, error) {
	if w.own == nil {
		w.own, w.state = &owned{}, maps.Clone(w.state)
	}
	s, own, err := find(w.state, c.path, w.own)
	switch {
	case err != nil:
		return s, err
	case !s.exists && (c.operation != set || s.object == nil):
		return s, missing(c.path)
	case c.operation == set:
		s.put(c.value)
	case c.operation == appendTo:
		s.take(own)
		list, ok := s.old.([]any)
		if !ok {
			return s, fmt.Errorf("there is %s, and only a list can be appended to", expression.Kind(s.old))
		}
		s.put(append(list, c.value))
	case s.object != nil:
		delete(s.object, s.key)
	default: // an item of a list: the list becomes shorter
		own.below = nil
		index, items := s.index, s.list
		if s, _, err = find(w.state, c.path[:len(c.path)-1], w.own); err != nil {
			return s, err
		}
		s.put(slices.Delete(slices.Clone(items), index, index+1))
	}
	return s, nil
}

// owned is an object or a list that a world has copied, with its key, and those below it.
// What a change puts into the state is a copy already.
type owned struct {
	key         string
	below, next *owned
}

// slot is a member of an object, or an item of a list, and what it held when it was found.
type slot struct {
	object map[string]any // nil for an item
	key    string
	list   []any
	index  int
	old    any
	exists bool
}

// take gives the world a copy of the object or list in the slot, unless it owns that, and
// returns what it owns there; nil if the slot holds neither.
func (s *slot) take(own *owned) *owned {
	for below := own.below; below != nil; below = below.next {
		if below.key == s.key {
			return below
		}
	}
	switch v := s.old.(type) {
	case map[string]any:
		s.old = maps.Clone(v)
	case []any:
		s.old = slices.Clone(v)
	default:
		return nil
	}
	s.put(s.old)
	own.below = &owned{key: s.key, next: own.below}
	return own.below
}

// find returns the slot that a path leads to. All but its last key must exist. If own is what
// the world owns of root, what is above the slot becomes its own, and above is that directly
// above.
func find(root map[string]any, path state.Path, own *owned) (s slot, above *owned, err error) {
	var node any = root
	for i, key := range path {
		if i > 0 {
			if !s.exists {
				return s, own, missing(path[:i])
			}
			if own != nil {
				own = s.take(own)
			}
			node = s.old
		}
		if s = at(node, key); s.object == nil && s.list == nil {
			return s, own, fmt.Errorf("%s is %s, which has no members", path[:i], expression.Kind(node))
		}
	}
	return s, own, nil
}

// at returns the slot of a key in an object or a list; the zero slot of any other value.
func at(node any, key string) (s slot) {
	switch node := node.(type) {
	case map[string]any:
		s = slot{object: node, key: key}
		s.old, s.exists = node[key]
	case []any:
		n, err := strconv.Atoi(key)
		s = slot{list: node, key: key, index: n, exists: err == nil && n >= 0 && n < len(node) && strconv.Itoa(n) == key}
		if s.exists {
			s.old = node[n]
		}
	}
	return s
}

func (s *slot) put(v any) {
	if s.object != nil {
		s.object[s.key] = v
	} else {
		s.list[s.index] = v
	}
}

// restore gives the slot what it held when it was found.
func (s *slot) restore() {
	if s.object != nil && !s.exists {
		delete(s.object, s.key)
		return
	}
	s.put(s.old)
}

func missing(path state.Path) error {
	return fmt.Errorf("the state has no %s; guard the rule with a when, or set what is above it first", path)
}
