// Package bfcl judges calls of functions by the rules of the Berkeley Function Calling
// Leaderboard (version of August 2024), which docs/functions.md lists. It knows no episode.
package bfcl

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
)

// kind is the type of a parameter.
type kind string

const (
	aText    kind = "string"
	anInt    kind = "integer"
	aFloat   kind = "float"
	aBoolean kind = "boolean"
	aList    kind = "array"
	anObject kind = "dict"
	unknown  kind = ""
)

// types has the kind and the type in JSON Schema of each type of a declaration. The value of
// an "any" is a text, and JSON has no tuples.
var types = map[string]struct {
	kind   kind
	schema string
}{
	"string": {aText, "string"}, "any": {aText, "string"}, "integer": {anInt, "integer"}, "boolean": {aBoolean, "boolean"},
	"float": {aFloat, "number"}, "number": {aFloat, "number"}, "array": {aList, "array"}, "tuple": {aList, "array"},
	"dict": {anObject, "object"}, "object": {anObject, "object"},
}

// keywords are the members of a declared type that models see, besides type.
var keywords = []string{
	"description", "properties", "required", "items", "enum", "default", "format", "pattern",
	"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
}

// Function is a declared function.
type Function struct {
	// Name is as declared, Offered as models see it: interfaces forbid dots in names.
	Name, Offered, Description string
	// Schema is the JSON Schema of the arguments, with the members in the declared order.
	Schema json.RawMessage

	params   map[string]param
	order    []string // names of params, as declared
	required []string
	ignored  []string // members that are not keywords
}

// param is a declared parameter.
type param struct {
	kind  kind
	items kind // of a list, unknown if it declares none
	enum  []any
}

// maxFunctions bounds the functions of a task.
const maxFunctions = 128

var offeredName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Functions reads a declaration, or a list of them. The error joins all problems.
func Functions(text json.RawMessage) ([]Function, error) {
	root, shape, ok := tool.ParseJSON(string(text))
	if !ok || shape.TooLarge() || shape.TooDeep() {
		return nil, errors.New("must be JSON of at most 64 KiB and 64 levels")
	}
	list := root.Elems
	if root.Kind == '{' {
		list = []tool.JSON{root}
	}
	if len(list) == 0 || len(list) > maxFunctions {
		return nil, fmt.Errorf("must be a function, or a list of 1 to %d", maxFunctions)
	}
	out := make([]Function, len(list))
	var errs []error
	for i, v := range list {
		errs = append(errs, out[i].read(v, i+1))
		same := func(f Function) bool { return f.Offered == out[i].Offered }
		if k := slices.IndexFunc(out[:i], same); k >= 0 && out[i].Name != "" {
			errs = append(errs, fmt.Errorf("function %d: %s and %s have the same name where dots are underscores", i+1, shownName(out[k].Name), shownName(out[i].Name)))
		}
	}
	return out, errors.Join(errs...)
}

// read reads the n-th declaration.
func (f *Function) read(v tool.JSON, n int) error {
	name, _ := v.Get("name")
	description, _ := v.Get("description")
	params, ok := v.Get("parameters")
	f.Name, f.Description = name.Text(), description.Text()
	f.Offered = strings.ReplaceAll(f.Name, ".", "_")
	if !offeredName.MatchString(f.Offered) {
		return fmt.Errorf("function %d: its name is %q; must be 1 to 64 letters, digits, dots, dashes and underscores", n, clip.Bytes(f.Name, 100))
	}
	for _, m := range v.Members {
		if !slices.Contains([]string{"name", "description", "parameters"}, m.Name) {
			f.ignored = append(f.ignored, m.Name)
		}
	}
	if kind, _ := params.Get("type"); !ok || types[kind.Text()].kind != anObject {
		return fmt.Errorf("function %s: its parameters must have the type dict or object", f.Name)
	}
	f.params = map[string]param{}
	if required, ok := params.Get("required"); ok {
		for _, r := range required.Elems {
			f.required = append(f.required, r.Text())
		}
	}
	properties, _ := params.Get("properties")
	for _, m := range properties.Members {
		f.params[m.Name] = readParam(m.Value)
		f.order = append(f.order, m.Name)
	}
	schema, err := f.schema(params, "function "+f.Name+": parameters")
	f.Schema = json.RawMessage(schema)
	return err
}

func readParam(v tool.JSON) (p param) {
	text, _ := v.Get("type")
	p.kind = types[text.Text()].kind
	if items, ok := v.Get("items"); ok && p.kind == aList {
		text, _ = items.Get("type")
		p.items = types[text.Text()].kind
	}
	if enum, ok := v.Get("enum"); ok {
		p.enum, _ = enum.Decoded().([]any)
	}
	return p
}

// schema is a declared type as JSON Schema. It leaves out what is not a keyword of it, and a
// required parameter that is not declared, which no call could have.
func (f *Function) schema(v tool.JSON, at string) (string, error) {
	text, _ := v.Get("type")
	known, ok := types[text.Text()]
	if v.Kind != '{' || !ok {
		return "", fmt.Errorf("%s: its type must be one of string, integer, float, boolean, array, tuple, dict and any", at)
	}
	members := []string{`"type":"` + known.schema + `"`}
	var errs []error
	for _, m := range v.Members {
		part := m.Value.Raw
		var err error
		switch {
		case m.Name == "type":
			continue
		case !slices.Contains(keywords, m.Name):
			f.ignored = append(f.ignored, m.Name)
			continue
		case m.Name == "properties":
			part, err = f.properties(m.Value, at)
		case m.Name == "items":
			part, err = f.schema(m.Value, at+"[]")
		case m.Name == "required":
			part = demands(v, m.Value)
		}
		errs = append(errs, err)
		members = append(members, plain(m.Name)+":"+part)
	}
	return "{" + strings.Join(members, ",") + "}", errors.Join(errs...)
}

func (f *Function) properties(v tool.JSON, at string) (string, error) {
	var members []string
	var errs []error
	for _, m := range v.Members {
		part, err := f.schema(m.Value, at+"."+tool.Label(m.Name))
		errs = append(errs, err)
		members = append(members, plain(m.Name)+":"+part)
	}
	return "{" + strings.Join(members, ",") + "}", errors.Join(errs...)
}

// demands are the required members that an object declares.
func demands(object, required tool.JSON) string {
	properties, _ := object.Get("properties")
	names := []string{}
	for _, r := range required.Elems {
		if _, ok := properties.Get(r.Text()); ok {
			names = append(names, r.Text())
		}
	}
	return plain(names)
}
