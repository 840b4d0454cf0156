package bfcl

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Call is a call of an answer: the name and the text of the arguments, as a model wrote them.
type Call struct{ Name, Args string }

// Answer is the accepted answer of a question. It is immutable and safe for concurrent use.
type Answer struct {
	functions []Function
	accepted  []accepted
}

// accepted is an accepted call.
type accepted struct {
	name string
	of   *Function // nil if no function is declared for it, or it has no arguments
	args []argument
}

// argument is an argument of an accepted call, with the values that it may have.
type argument struct {
	name   string
	values []any
	// optional reports that the argument may be left out.
	optional bool
}

// New reads an accepted answer to a question with these functions: an object with the
// accepted values of each argument, by the name of the function, or a list of such objects.
// An empty list accepts only an answer without calls. Several calls of a function in one
// object have a suffix, such as play_1 and play_2.
func New(functions []Function, text json.RawMessage) (*Answer, error) {
	root, shape, ok := tool.ParseJSON(string(text))
	if !ok || shape.TooLarge() || shape.TooDeep() {
		return nil, errors.New("must be JSON of at most 64 KiB and 64 levels")
	}
	list := root.Elems
	if root.Kind == '{' {
		list = []tool.JSON{root}
	} else if root.Kind != '[' {
		return nil, errors.New("must be an object of accepted calls, or a list of such objects")
	}
	a := &Answer{functions: functions}
	for _, object := range list {
		if len(object.Members) == 0 {
			return nil, errors.New("an object of accepted calls must have a function; [] accepts no call")
		}
		for _, m := range object.Members {
			call, err := a.read(m)
			if err != nil {
				return nil, err
			}
			a.accepted = append(a.accepted, call)
		}
	}
	return a, nil
}

func (a *Answer) read(m tool.Member) (accepted, error) {
	out := accepted{name: m.Name, of: a.declared(m.Name)}
	if m.Value.Kind != '{' {
		out.of = nil // no call fits, which Defects reports
	}
	for _, arg := range m.Value.Members {
		if arg.Value.Kind != '[' {
			return out, fmt.Errorf("%s.%s: must be a list of accepted values", tool.Label(m.Name), tool.Label(arg.Name))
		}
		read := argument{name: arg.Name}
		for _, v := range arg.Value.Elems {
			if value := v.Decoded(); value == "" {
				read.optional = true
			} else {
				read.values = append(read.values, value)
			}
		}
		out.args = append(out.args, read)
	}
	return out, nil
}

// declared is the declaration for an accepted call: the only one, or the first whose name is
// contained in that of the call.
func (a *Answer) declared(name string) *Function {
	if len(a.functions) == 1 {
		return &a.functions[0]
	}
	i := slices.IndexFunc(a.functions, func(f Function) bool { return strings.Contains(name, f.Name) })
	if i < 0 {
		return nil
	}
	return &a.functions[i]
}

// made is a call that could be read.
type made struct {
	name string
	args map[string]any
}

// What an answer is wrong by, with which the text of Wrong begins.
const (
	unreadable      = "unreadable call: "
	wrongNumber     = "number of calls: "
	wrongFunction   = "wrong function: "
	missingArgument = "missing argument: "
	unknownArgument = "unknown argument: "
	wrongType       = "wrong type: "
	wrongValue      = "wrong value: "
)

// Wrong says why the calls are not the accepted answer; empty if they are. What cannot be
// read as a call makes the whole answer unreadable, which is an answer without calls.
func (a *Answer) Wrong(calls []Call) string {
	answer := make([]made, len(calls))
	for i, c := range calls {
		args, ok := readArgs(c.Args)
		if !ok {
			if len(a.accepted) == 0 {
				return ""
			}
			return unreadable + fmt.Sprintf("the arguments of %s are not a JSON object: %s", shownName(c.Name), clip.Bytes(c.Args, 100))
		}
		answer[i] = made{c.Name, args}
	}
	if len(answer) != len(a.accepted) {
		return wrongNumber + fmt.Sprintf("want %d, got %d", len(a.accepted), len(answer))
	}
	used := make([]bool, len(answer))
	for _, want := range a.accepted {
		if why := want.taken(answer, used); why != "" {
			return why
		}
	}
	return ""
}

// taken marks the first unused call that fits. If none does, it says why not: of a call of the
// same function, if there is one.
func (c accepted) taken(answer []made, used []bool) (why string) {
	if c.of == nil {
		return wrongFunction + "the accepted call " + shownName(c.name) + " is not one of a declared function"
	}
	same := false
	for i, got := range answer {
		if used[i] {
			continue
		}
		wrong := c.wrong(got)
		if wrong == "" {
			used[i] = true
			return ""
		}
		if why == "" || !same && got.name == c.of.Offered {
			why, same = wrong, got.name == c.of.Offered
		}
	}
	return why
}

// readArgs reads the arguments of a call; no text is an empty object.
func readArgs(text string) (map[string]any, bool) {
	if strings.TrimSpace(text) == "" {
		return map[string]any{}, true
	}
	root, shape, ok := tool.ParseJSON(text)
	if !ok || root.Kind != '{' || shape.TooLarge() || shape.TooDeep() {
		return nil, false
	}
	return root.Decoded().(map[string]any), true
}

// wrong says why a call is not the accepted one; empty if it is.
func (c accepted) wrong(got made) string {
	if got.name != c.of.Offered {
		return wrongFunction + fmt.Sprintf("want %s, got %s", c.of.Offered, shownName(got.name))
	}
	for _, name := range c.of.required {
		if _, ok := got.args[name]; !ok {
			return missingArgument + label(name) + " is required"
		}
	}
	known := 0
	for _, arg := range c.args {
		value, ok := got.args[arg.name]
		p, declared := c.of.params[arg.name]
		switch {
		case !ok && !arg.optional:
			return missingArgument + label(arg.name)
		case !ok:
			continue
		case !declared:
			return unknownArgument + label(arg.name) + " is not declared"
		}
		known++
		if class, why := p.wrong(value, arg.values); why != "" {
			return class + label(arg.name) + ": " + why
		}
	}
	if known < len(got.args) {
		return unknownArgument + "the accepted call " + shownName(c.name) + " has fewer"
	}
	return ""
}

// label is the name of an argument, of unknown origin, for a message. shownName is that of a
// function, which may have dots.
func label(name string) string { return clip.Bytes(tool.Label(name), 100) }

func shownName(name string) string {
	parts := strings.Split(clip.Bytes(name, 200), ".")
	for i, part := range parts {
		parts[i] = tool.Label(part)
	}
	return strings.Join(parts, ".")
}
