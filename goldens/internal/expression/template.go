package expression

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// Template compiles a string that holds expressions between {{ and }}. A string that is
// one expression and nothing else has that expression's value; any other is text with the
// values inserted, strings as they are and anything else as JSON. The error is an *Error
// with its place in text.
func Template(text string, names []string) (*Program, error) {
	parts, err := split(text, names)
	if err != nil {
		return nil, err
	}
	return joined(parts), nil
}

// joined is the program of a string's parts.
func joined(parts []*Program) *Program {
	if len(parts) == 1 {
		return parts[0]
	}
	return together(parts, func(env *Env) (any, error) { return insert(parts, env) })
}

// together is the program that eval computes with its parts.
func together(parts []*Program, eval func(*Env) (any, error)) *Program {
	p := &Program{eval: eval, needs: needsOf(parts)}
	for _, part := range parts {
		p.names, p.members = append(p.names, part.names...), append(p.members, part.members...)
		if part.scope != nil {
			p.scope = part.scope
		}
	}
	slices.Sort(p.names)
	p.names = slices.Compact(p.names)
	return p
}

// split returns the parts of a string: constant texts and compiled expressions.
func split(text string, names []string) (parts []*Program, err error) {
	rest := text
	for {
		before, inside, found := strings.Cut(rest, "{{")
		if before != "" || !found && len(parts) == 0 {
			parts = append(parts, &Program{constant: before})
		}
		if !found {
			return parts, nil
		}
		end := closing(inside)
		at := len(text) - len(inside)
		if end < 0 {
			line, column := place(text, at-2)
			return nil, &Error{Text: text, Line: line, Column: column, Detail: "the expression that {{ begins does not end; add }}"}
		}
		p, err := Compile(inside[:end], names)
		if wrong, ok := errors.AsType[*Error](err); ok {
			return nil, wrong.within(text, at)
		}
		line, column := place(text, at)
		for i, m := range p.members {
			if m.line == 1 {
				p.members[i].column += column - 1
			}
			p.members[i].line += line - 1
		}
		parts = append(parts, p)
		rest = inside[end+2:]
	}
}

// inPath is the first of the characters that replace expressions while a path is split.
// They are useless in texts.
const inPath = '\U000F0000'

// ReadPath compiles the path text, which is the string or the key at p; its keys may hold
// expressions. keys splits the path, in which one character represents each expression, so
// that no value can be more than a part of a key. It records a mistake and returns nil.
func ReadPath(p yamlfile.Place, text string, names []string, keys func(text string) ([]string, error)) []*Program {
	out, err := path(text, names, keys)
	record(p, err, out...)
	return out
}

func path(text string, names []string, keys func(text string) ([]string, error)) ([]*Program, error) {
	parts, err := split(text, names)
	if err != nil {
		return nil, err
	}
	var plain strings.Builder
	for i, part := range parts {
		if part.eval != nil {
			plain.WriteRune(inPath + rune(i))
		} else {
			plain.WriteString(part.constant.(string))
		}
	}
	split, err := keys(plain.String())
	if err != nil {
		return nil, err
	}
	var out []*Program
	for _, key := range split {
		var of []*Program
		from := 0
		for at, r := range key {
			if i := int(r - inPath); i >= 0 && i < len(parts) && parts[i].eval != nil {
				if at > from {
					of = append(of, &Program{constant: key[from:at]})
				}
				of, from = append(of, parts[i]), at+utf8.RuneLen(r)
			}
		}
		if from < len(key) || key == "" {
			of = append(of, &Program{constant: key[from:]})
		}
		out = append(out, joined(of))
	}
	return out, nil
}

// within returns the error with its place in the string around the expression, which
// begins at offset of text.
func (e *Error) within(text string, offset int) *Error {
	line, column := place(text, offset)
	if e.Line == 1 {
		e.Column += column - 1
	}
	return &Error{Text: text, Line: line + e.Line - 1, Column: e.Column, Detail: e.Detail}
}

// closing returns where the }} that ends an expression is, -1 if there is none. Braces and
// quotes within the expression are skipped.
func closing(s string) int {
	open, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case quote != 0 && b == '\\' && quote != '`':
			i++
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '"' || b == '\'' || b == '`':
			quote = b
		case b == '{':
			open++
		case b == '}' && open > 0:
			open--
		case b == '}' && strings.HasPrefix(s[i:], "}}"):
			return i
		}
	}
	return -1
}

func insert(parts []*Program, env *Env) (any, error) {
	m := meter{left: maxSteps}
	var out strings.Builder
	for _, p := range parts {
		v, err := p.EvalIn(env)
		if err != nil {
			return nil, err
		}
		text, err := m.asText(v)
		if err == nil {
			err = m.text(out.Len() + len(text))
		}
		if err != nil {
			return nil, &Error{Line: 1, Column: 1, Detail: err.Error()}
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// Read compiles the string at p as an expression. It records a mistake at its line and
// column of the file and returns nil.
func Read(p yamlfile.Place, names []string) *Program {
	before := len(p.Src.Found.List)
	text := p.Filled()
	if len(p.Src.Found.List) > before {
		return nil
	}
	out, err := Compile(text, names)
	record(p, err, out)
	return out
}

// ReadValue compiles any YAML value: its strings are templates, and a value without one is
// a constant. It records mistakes at their line and column of the file and returns nil.
func ReadValue(p yamlfile.Place, names []string) *Program {
	switch p.Value().Kind {
	case yaml.MappingNode:
		return readObject(p, names)
	case yaml.SequenceNode:
		return readList(p, names)
	}
	if text, tag, _ := p.Scalar(); tag == "!!str" {
		out, err := Template(text, names)
		record(p, err, out)
		return out
	}
	before := len(p.Src.Found.List)
	v, err := Decode(p.JSON())
	if err != nil {
		p.Failf("%v", err)
	}
	if len(p.Src.Found.List) > before {
		return nil
	}
	return &Program{constant: v}
}

// record records the error of compiling the string at p, and in programs without one where
// they come from.
func record(p yamlfile.Place, err error, programs ...*Program) {
	var wrong *Error
	switch {
	case errors.As(err, &wrong):
		p.FailInside(wrong.Line, wrong.Column, "%s", wrong.Detail)
	case err != nil:
		p.Failf("%v", err)
	default:
		for _, program := range programs {
			for i := range program.members {
				program.members[i].at = p
			}
		}
	}
}

func readObject(p yamlfile.Place, names []string) *Program {
	values := map[string]*Program{}
	before := len(p.Src.Found.List)
	for _, e := range p.Entries() {
		values[e.Key] = ReadValue(e.Value, names)
	}
	if len(p.Src.Found.List) > before {
		return nil
	}
	keys := slices.Sorted(maps.Keys(values))
	parts := make([]*Program, len(keys))
	for i, key := range keys {
		parts[i] = values[key]
	}
	return combined(keys, parts, func(env *Env) (any, error) {
		object := make(map[string]any, len(keys))
		for i, p := range parts {
			v, err := p.EvalIn(env)
			if err != nil {
				return nil, err
			}
			object[keys[i]] = v
		}
		return object, nil
	})
}

func readList(p yamlfile.Place, names []string) *Program {
	var parts []*Program
	before := len(p.Src.Found.List)
	for _, item := range p.Items() {
		parts = append(parts, ReadValue(item, names))
	}
	if len(p.Src.Found.List) > before {
		return nil
	}
	return combined(nil, parts, func(env *Env) (any, error) {
		list := make([]any, len(parts))
		for i, p := range parts {
			v, err := p.EvalIn(env)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	})
}

// combined is the program that evaluate computes with its parts: a constant if all of them
// are. keys are those of an object, nil for a list.
func combined(keys []string, parts []*Program, evaluate func(*Env) (any, error)) *Program {
	if !slices.ContainsFunc(parts, func(p *Program) bool { return p.eval != nil }) {
		v, _ := evaluate(nil) // constants do not fail
		return &Program{constant: v}
	}
	out := together(parts, evaluate)
	text, end := "[", "]"
	if keys != nil {
		text, end, out.object = "{", "}", make(map[string]any, len(keys))
	}
	for i, p := range parts {
		if i > 0 {
			text += ","
		}
		if keys != nil {
			text += string(appendString(nil, keys[i])) + ":"
			out.object[keys[i]] = p.constant
			if p.eval == nil && Kind(p.constant) != "an object" && Kind(p.constant) != "a list" {
				text += string(AppendJSON(nil, p.constant))
				continue
			}
			out.keys = append(out.keys, keys[i])
		}
		out.parts, out.before, text = append(out.parts, p), append(out.before, text), ""
	}
	out.after = text + end
	return out
}
