// Package judge is the seam for kinds of worlds that check ends of episodes in ways of
// their own: what a task demands by a name of the kind's, such as workflow.
package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/state"
	"github.com/cupel-eval/cupel/goldens/world"
)

// Kind is a world.Kind with checks. It is asked once its state is bound.
type Kind interface {
	world.Kind
	// Initial returns the state of worlds that have just been opened.
	Initial() json.RawMessage
	// Lacks reports whether its worlds leave out a tool that others of the kind have.
	Lacks(tool string) bool
	// NoPath says why no state of its worlds has a value at a path; empty if one may.
	NoPath(keys []string) string
	// Demand reads a demand on the end of an episode: met says what is wrong with it. The
	// error joins a *world.StateError for each problem of the demand.
	Demand(name string, want json.RawMessage) (met func(initial, final json.RawMessage) []string, err error)
}

// Initial returns the state that worlds begin with, as far as it is known before one is
// open; nil if none is given.
func Initial(s world.Spec) json.RawMessage {
	if k, ok := s.Maker.(Kind); ok {
		return k.Initial()
	}
	return s.State
}

// Offered returns the tools that a world does not leave out.
func Offered(s world.Spec, tools []string) []string {
	k, ok := s.Maker.(Kind)
	if !ok || !slices.ContainsFunc(tools, k.Lacks) {
		return tools
	}
	return slices.DeleteFunc(slices.Clone(tools), k.Lacks)
}

// Check reports what a world cannot be asked for: demands by name, JSON as text, of which
// empty ones are none, and paths of its state by their places, keys with dots between them.
func Check(s world.Spec, demands, paths map[string]string, fail func(place []string, detail string)) {
	for _, name := range slices.Sorted(maps.Keys(demands)) {
		if demands[name] == "" {
			continue
		}
		_, err := demand(s, name, demands[name])
		for _, one := range each(err) {
			place := []string{name}
			if bad, ok := errors.AsType[*world.StateError](one); ok {
				keys, _ := state.ParsePath(bad.Path) // as kinds write them
				place, one = append(place, keys...), errors.New(bad.Detail)
			}
			fail(place, one.Error())
		}
	}
	k, ok := s.Maker.(Kind)
	for _, place := range slices.Sorted(maps.Keys(paths)) {
		if keys, err := state.ParsePath(paths[place]); ok && err == nil && k.NoPath(keys) != "" {
			fail(strings.Split(place, "."), "no state has this: "+k.NoPath(keys))
		}
	}
}

// each lists the errors that are joined.
func each(err error) []error {
	var joined interface{ Unwrap() []error }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &joined):
		return joined.Unwrap()
	}
	return []error{err}
}

// demand reads a demand, JSON as text, on the end of an episode in a world. The error says
// everything that is wrong with it.
func demand(s world.Spec, name, want string) (met func(initial, final json.RawMessage) []string, err error) {
	k, ok := s.Maker.(Kind)
	if !ok {
		return nil, fmt.Errorf("worlds of kind %q have no check %s", s.Kind, name)
	}
	return k.Demand(name, json.RawMessage(want))
}

// Wrong says what the end of an episode lacks of a demand.
func Wrong(s world.Spec, name, want string, initial, final json.RawMessage) []string {
	met, err := demand(s, name, want)
	switch {
	case err != nil:
		return []string{"the expectation is broken: " + err.Error()}
	case final == nil:
		return []string{"want a state of the world, got a world without one"}
	}
	return met(initial, final)
}
