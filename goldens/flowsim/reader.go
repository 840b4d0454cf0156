package flowsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/internal/state"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// reader reads a state, and collects everything that is wrong with it.
type reader struct{ errs []error }

// maxProblems bounds how many problems of a state are reported.
const maxProblems = 100

func (r *reader) fail(at state.Path, format string, args ...any) {
	if len(r.errs) < maxProblems {
		r.errs = append(r.errs, world.BadState(at.String(), format, args...))
	}
}

// value is a value of the state, and where it is.
type value struct {
	*reader
	at state.Path
	v  any
}

// in is a member or an item of the value.
func (v value) in(key string, inner any) value {
	return value{v.reader, append(slices.Clip(v.at), key), inner}
}

func (v value) fail(format string, args ...any) { v.reader.fail(v.at, format, args...) }

// fields returns an object, which has no other fields than those that are allowed. What is
// not an object is a problem, except null.
func (v value) fields(allowed ...string) fields {
	o, ok := v.v.(map[string]any)
	if !ok && v.v != nil {
		v.fail("must be a mapping")
	}
	for _, name := range sortedKeys(o) {
		if !slices.Contains(allowed, name) {
			v.in(name, nil).fail("unknown field; allowed: %s", strings.Join(allowed, ", "))
		}
	}
	return fields{v, o}
}

// fields is an object of the state.
type fields struct {
	value
	o map[string]any
}

func (f fields) get(key string) value { return f.in(key, f.o[key]) }

func (f fields) has(key string) bool { _, ok := f.o[key]; return ok }

// text returns a field that is a text; one that is needed must be there and not be empty.
func (f fields) text(key string, needed bool) string {
	s, ok := f.o[key].(string)
	switch {
	case f.o[key] == nil && needed:
		f.get(key).fail("is missing")
	case f.o[key] != nil && !ok:
		f.get(key).fail("must be a text")
	case ok && needed && strings.TrimSpace(s) == "":
		f.get(key).fail("must not be empty")
	}
	return s
}

func (f fields) flag(key string) bool {
	b, ok := f.o[key].(bool)
	if !ok && f.o[key] != nil {
		f.get(key).fail("must be true or false")
	}
	return b
}

// choice returns a field that is one of some words; the first if the field is missing.
func (f fields) choice(key string, words ...string) string {
	s := f.text(key, false)
	if s == "" {
		return words[0]
	}
	if !slices.Contains(words, s) {
		f.get(key).fail("%q is not known; allowed: %s", clip.Runes(s, 64), strings.Join(words, ", "))
	}
	return s
}

func (f fields) whole(key string) int {
	n, ok := f.o[key].(float64)
	if f.o[key] != nil && (!ok || n < 0 || n != float64(int(n))) {
		f.get(key).fail("must be a whole number")
	}
	return int(n)
}

func (f fields) duration(key string) time.Duration {
	text := f.text(key, false)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		f.get(key).fail("must be a duration such as 500ms or 10m, but is %q", clip.Runes(text, 64))
	}
	return d
}

func (f fields) time(key string, fallback time.Time) time.Time {
	text := f.text(key, false)
	if text == "" {
		return fallback
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		f.get(key).fail("must be a time such as 2026-05-13T12:00:00Z, but is %q", clip.Runes(text, 64))
	}
	return t
}

// items returns the items of a list; null has none.
func (v value) items() (out []value) {
	list, ok := v.v.([]any)
	if !ok && v.v != nil {
		v.fail("must be a list")
	}
	for i, item := range list {
		out = append(out, v.in(fmt.Sprint(i), item))
	}
	return out
}

// words returns the items of a list of texts.
func (v value) words() (out []string) {
	for _, item := range v.items() {
		s, ok := item.v.(string)
		if !ok || strings.TrimSpace(s) == "" {
			item.fail("must be a text that is not empty")
		}
		out = append(out, s)
	}
	return out
}

// entry is a member of an object.
type entry struct {
	value
	key string
}

// entries returns the members of an object by their keys.
func (v value) entries() (out []entry) {
	o, ok := v.v.(map[string]any)
	if !ok && v.v != nil {
		v.fail("must be a mapping")
	}
	for _, key := range sortedKeys(o) {
		out = append(out, entry{v.in(key, o[key]), key})
	}
	return out
}

// idNumber matches the part of an id behind its prefix.
var idNumber = lazyregexp.New(`^[1-9][0-9]{0,5}$`)

// identified returns the members of an object whose keys are ids of a prefix, by their
// numbers, and counts them in last.
func (v value) identified(prefix string, last map[string]int) (out []entry) {
	for _, e := range v.entries() {
		number, ok := strings.CutPrefix(e.key, prefix+"_")
		if !ok || !idNumber.MatchString(number) {
			e.fail("is not an id: ids here are %s_1, %s_2 and so on", prefix, prefix)
			continue
		}
		var n int
		_, _ = fmt.Sscan(number, &n) // which is a number
		last[prefix] = max(last[prefix], n)
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b entry) int { return compareIDs(a.key, b.key) })
	return out
}

// compareIDs orders ids of one prefix by their numbers.
func compareIDs(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// decode reads the JSON of a state.
func decode(text json.RawMessage) (v any, err error) {
	if len(text) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, world.BadState(".", "is not JSON: %v", err)
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, world.BadState(".", "must be a mapping")
	}
	return v, nil
}

// all joins what is wrong.
func (r *reader) all() error { return errors.Join(r.errs...) }
