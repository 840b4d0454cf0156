package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/match"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// Operators are the names of what an assertion can demand.
var Operators = []string{"is", "not", "count", "matches", "exists", "every", "some"}

// Assertion is what a state must be at a path.
type Assertion struct {
	Path string
	// Wants holds, by operator, what is demanded: JSON values, numbers as json.Number.
	// All demands must be met.
	//
	//   is       the value, or a matcher such as {"$gte": 2}
	//   not      a value, or a matcher, that the path has another one than
	//   count    how many members or items the value has, or a matcher of that
	//   matches  an expression of RE2 that is found in the value, a string
	//   exists   whether there is a value
	//   every    what every member or item is: of objects, the members that are named
	//   some     what at least one member or item is, in the same way
	Wants map[string]any
}

// Check returns what the state is instead, with path, want and got; empty if the
// assertion holds. The error is that of Validate.
func (a Assertion) Check(state json.RawMessage) (string, error) {
	p, err := ParsePath(a.Path)
	if err != nil {
		return "", err
	}
	value, reached, found := Get(state, p)
	var wrong []string
	for _, op := range slices.Sorted(maps.Keys(a.Wants)) {
		holds, err := compile(op, a.Wants[op])
		if err != nil {
			return "", fmt.Errorf("%s: %w", a.Path, err)
		}
		if !holds(value, found) {
			wrong = append(wrong, a.want(op)+", got "+got(op, value, p[:min(len(p), len(reached)+1)], found))
		}
	}
	if len(wrong) == 0 {
		return "", nil
	}
	return a.Path + ": " + strings.Join(wrong, "; "), nil
}

// Validate reports a path or a demand that no state could be checked against.
func (a Assertion) Validate() error {
	_, err := ParsePath(a.Path)
	errs := []error{err}
	if len(a.Wants) == 0 {
		errs = append(errs, fmt.Errorf("%s: has no operator; add one of %s", a.Path, strings.Join(Operators, ", ")))
	}
	for _, op := range slices.Sorted(maps.Keys(a.Wants)) {
		_, err := compile(op, a.Wants[op])
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// test reports whether a value, if one was found, is what an operator demands.
type test func(value json.RawMessage, found bool) bool

// compile makes the test of an operator. The error names the operator.
func compile(op string, want any) (test, error) {
	switch op {
	case "is", "not":
		p, err := match.Value(want, op)
		return func(value json.RawMessage, found bool) bool { return found && p(decode(value)) == (op == "is") }, err
	case "count":
		p, err := match.Value(want, op)
		return func(value json.RawMessage, found bool) bool {
			return found && holdsOthers(value) && p(json.Number(fmt.Sprint(size(value))))
		}, err
	case "matches":
		text, ok := want.(string)
		if !ok {
			return nil, errors.New("matches: must be a string")
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("matches: %w", err)
		}
		return func(value json.RawMessage, found bool) bool {
			s, ok := decode(value).(string)
			return found && ok && re.MatchString(s)
		}, nil
	case "exists":
		if _, ok := want.(bool); !ok {
			return nil, errors.New("exists: must be true or false")
		}
		return func(_ json.RawMessage, found bool) bool { return found == want }, nil
	case "every", "some":
		p, err := items(want, op)
		return func(value json.RawMessage, found bool) bool {
			if !found || !holdsOthers(value) {
				return false
			}
			for _, inner := range children(value) {
				if p(decode(inner)) == (op == "some") {
					return op == "some"
				}
			}
			return op == "every"
		}, err
	}
	return nil, fmt.Errorf("%s: unknown operator; allowed: %s", op, strings.Join(Operators, ", "))
}

// items compiles what items are: of an object, the members that want names.
func items(want any, at string) (match.Pattern, error) {
	members, ok := want.(map[string]any)
	if _, _, matcher := match.Matcher(want); !ok || matcher {
		return match.Value(want, at)
	}
	patterns, errs := map[string]match.Pattern{}, []error(nil)
	for _, key := range slices.Sorted(maps.Keys(members)) {
		p, err := match.Value(members[key], at+"."+key)
		patterns[key], errs = p, append(errs, err)
	}
	return func(v any) bool {
		got, ok := v.(map[string]any)
		for key, p := range patterns {
			inner, has := got[key]
			ok = ok && has && p(inner)
		}
		return ok
	}, errors.Join(errs...)
}

// want writes what an operator demands.
func (a Assertion) want(op string) string {
	text, _ := plainjson.Marshal(a.Wants[op]) // compile has read it
	switch op {
	case "is":
		return "want " + Show(text)
	case "exists":
		return map[bool]string{true: "want a value", false: "want no value"}[a.Wants[op] == true]
	}
	return "want " + op + " " + Show(text)
}

// got writes what an operator found; missing is the first part of the path that does not
// exist.
func got(op string, value json.RawMessage, missing Path, found bool) string {
	switch {
	case !found:
		return "nothing: there is no " + Shorten(missing)
	case op == "count" && holdsOthers(value):
		return fmt.Sprint(size(value))
	}
	return Show(value)
}

// maxShown bounds a value in a text, in bytes.
const maxShown = 120

// Show writes a value on one line, bounded; "nothing" where there is none.
func Show(value json.RawMessage) string {
	if value == nil {
		return "nothing"
	}
	return clip.Bytes(string(value), maxShown)
}

// Shorten writes a path, bounded: models choose keys.
func Shorten(p Path) string { return clip.Bytes(p.String(), maxShown) }

// size counts members or items.
func size(value json.RawMessage) (n int) {
	for range children(value) {
		n++
	}
	return n
}

// decode turns a value into Go values, with numbers as json.Number.
func decode(value json.RawMessage) (v any) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	_ = dec.Decode(&v) // of a canonical text
	return v
}
