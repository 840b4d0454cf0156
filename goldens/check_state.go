package goldens

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens/internal/state"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// StateCheck is what the final state of a task's world must be at a path.
type StateCheck struct {
	// Path has keys and indexes with dots between them, as in orders.O7.items.0.sku; a
	// dot that is part of a key has a backslash before it. A dot alone is the whole state.
	Path string
	// Wants has the demanded operands, by operator; all must be met. is and not
	// compare with a value or a matcher, count does so with the number of members or
	// items, matches is an expression of RE2 on a string, exists says whether there is a
	// value, and every and some say what the members or items are: of objects, the
	// members that they name.
	Wants map[string]any
}

// stateChecks is a list of assertions on the final state.
type stateChecks struct{}

func (stateChecks) set(e *Expect, p yamlfile.Place, _ bool) {
	e.State = nil
	for _, item := range p.Items() {
		before := len(p.Src.Found.List)
		o := item.Object(append([]string{"path"}, state.Operators...))
		c := StateCheck{Wants: map[string]any{}}
		if p, ok := o.Need("path"); ok {
			c.Path = p.Filled()
		}
		for _, op := range state.Operators {
			if p, ok := o.Get(op); ok {
				matcher(p)
				c.Wants[op] = yamlfile.DecodeJSON(p.JSON())
			}
		}
		if len(p.Src.Found.List) == before {
			item.Faulty(state.Assertion(c).Validate(), "")
		}
		e.State = append(e.State, c)
	}
}

func (stateChecks) takeAway(e *Expect) bool { e.State = nil; return true }

func (stateChecks) write(is, was *Expect) *yaml.Node {
	return changed(is.State, was.State, is.State == nil, func(list []StateCheck) *yaml.Node {
		out := yamlfile.Sequence(0)
		for _, c := range list {
			item := yamlfile.Fields(yaml.FlowStyle, "path", yamlfile.Name(c.Path))
			for _, op := range state.Operators {
				if want, ok := c.Wants[op]; ok {
					yamlfile.Add(item, op, yamlfile.ValueNode(want), "")
				}
			}
			out.Content = append(out.Content, item)
		}
		return out
	})
}

func (stateChecks) parts(key string, e *Expect) []Part {
	return itemParts(key, e.State, func(e *Expect) *[]StateCheck { return &e.State })
}

// statePaths reads a list of paths.
func statePaths(p yamlfile.Place) []string {
	out := p.Words()
	for i, item := range p.Items() {
		if _, err := state.ParsePath(out[i]); out[i] != "" {
			item.Faulty(err, "")
		}
	}
	return out
}

// hexDigest matches a SHA-256 as hashes of states are written.
var hexDigest = lazyregexp.New(`^[0-9a-f]{64}$`)

// stateHash reads the hash of a state.
func stateHash(p yamlfile.Place) string {
	s := p.Filled()
	if s != "" && !hexDigest.MatchString(s) {
		p.Failf("must be the SHA-256 of a state, 64 digits of 0-9 and a-f; the ledger has it in state_after")
	}
	return s
}

func validState(e Expect) error {
	var errs []error
	for i, c := range e.State {
		if err := state.Assertion(c).Validate(); err != nil {
			errs = append(errs, fmt.Errorf("state[%d]: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

func validUnchanged(e Expect) error {
	var errs []error
	for i, text := range e.Unchanged {
		if _, err := state.ParsePath(text); err != nil {
			errs = append(errs, fmt.Errorf("unchanged[%d]: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// noState is what a check of the state finds in a world that has none.
const noState = "want a state of the world, got a world without one"

// maxWrong bounds the faults that a detail lists.
const maxWrong = 5

// wrongState adds a check that passed if nothing is wrong.
func (s *scorer) wrongState(name string, wrong []string) {
	if len(wrong) > maxWrong {
		wrong = append(wrong[:maxWrong:maxWrong], fmt.Sprintf("… %d more", len(wrong)-maxWrong))
	}
	s.check(name, len(wrong) == 0, "%s", strings.Join(wrong, "; "))
}

// state checks the final state against the assertions.
func (s *scorer) state(e *Expect) {
	if len(e.State) == 0 {
		return
	}
	var wrong []string
	for _, c := range e.State {
		if s.o.StateAfter == nil {
			wrong = []string{noState}
			break
		}
		fault, err := state.Assertion(c).Check(s.o.StateAfter)
		if err != nil {
			s.broken("state", err)
			return
		}
		if fault != "" {
			wrong = append(wrong, fault)
		}
	}
	s.wrongState("state", wrong)
}

// unchanged checks that nothing differs from the initial state at or below some paths.
func (s *scorer) unchanged(e *Expect) {
	if len(e.Unchanged) == 0 {
		return
	}
	if err := validUnchanged(*e); err != nil {
		s.broken("unchanged", err)
		return
	}
	if s.o.StateAfter == nil {
		s.wrongState("unchanged", []string{noState})
		return
	}
	var wrong []string
	for _, text := range e.Unchanged {
		for _, c := range changesBelow(text, s.o) {
			wrong = append(wrong, fmt.Sprintf("%s: want %s as at the start, got %s", state.Shorten(c.Path), state.Show(c.From), state.Show(c.To)))
		}
	}
	s.wrongState("unchanged", wrong)
}

// changesBelow lists what an episode changed at or below a path.
func changesBelow(path string, o Outcome) []state.Change {
	p, err := state.ParsePath(path)
	if err != nil || bytes.Equal(o.StateBefore, o.StateAfter) {
		return nil // a path that cannot be read has been reported
	}
	from, _, was := state.Get(o.StateBefore, p)
	to, _, is := state.Get(o.StateAfter, p)
	if !was {
		from = nil
	}
	if !is {
		to = nil
	}
	out := state.Diff(from, to)
	for i := range out {
		out[i].Path = append(p[:len(p):len(p)], out[i].Path...)
	}
	return out
}

// stateHash checks the hash of the final state.
func (s *scorer) stateHash(e *Expect) {
	if e.StateHash != "" {
		got := state.Hash(s.o.StateAfter)
		s.check("state_hash", got == e.StateHash, "want %s, got %s", e.StateHash, orNone(got))
	}
}
