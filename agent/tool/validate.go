package tool

import (
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Codes of field errors. Any other code is a schema keyword as written, such as
// enum, pattern or minLength.
const (
	codeType       = "type" // a value of the wrong type; it hides all others there
	codeRequired   = "required"
	codeAdditional = "additional"
	codeDuplicate  = "duplicate_key"

	// Codes of the arguments as a whole.
	codeNotJSON     = "not_json"
	codeNotObject   = "not_object"
	codeTooLarge    = "too_large"
	codeTooDeep     = "too_deep"
	codeNumberRange = "number_out_of_range"
	codeSchema      = "schema" // a failure without a keyword

	// codeUnknownTool is the code of the call's name.
	codeUnknownTool = "unknown_tool"
)

// maxFieldErrors bounds how many field errors of one call are reported.
const maxFieldErrors = 32

// Validate checks raw arguments against the tool's schema and returns field
// errors, or none. Absent arguments and null count as {}.
//
// A field error is args.FIELD:CODE, or args:CODE for the arguments as a whole;
// CODE is required, additional, type, enum, pattern, duplicate_key, or another
// schema keyword as written, such as minLength. Errors come in the order in
// which the schema declares the fields; undeclared fields, and those declared
// behind a $ref, come after them in the order written. A value of the wrong type has no further errors; a failed anyOf,
// oneOf or not is one error. At most 32 are returned. An unknown tool is the
// field error name:unknown_tool.
func (s *Set) Validate(c Call) []string {
	t, ok := s.find(c.Name)
	if !ok {
		return []string{"name:" + codeUnknownTool}
	}
	if s.valid.has(c) {
		return nil
	}
	args, code := parseArgs(c.Args)
	if code != "" {
		return []string{"args:" + code}
	}
	if hasHugeNumber(args) {
		return []string{"args:" + codeNumberRange}
	}
	var out []string
	for _, d := range args.Duplicates(maxFieldErrors) {
		out = append(out, "args"+d.Path+":"+codeDuplicate)
	}
	out = append(out, schemaErrors(t, args)...)
	if len(out) == 0 {
		s.valid.add(c)
	}
	return out[:min(len(out), maxFieldErrors)]
}

// parseArgs reads an arguments object within the limits of ParseJSON.
func parseArgs(raw []byte) (args JSON, code string) {
	text := strings.Trim(string(raw), " \n\t\r")
	if text == "" || text == "null" {
		text = "{}"
	}
	args, shape, ok := ParseJSON(text)
	switch {
	case !ok:
		return args, codeNotJSON
	case args.Kind != '{':
		return args, codeNotObject
	case shape.TooLarge():
		return args, codeTooLarge
	case shape.TooDeep():
		return args, codeTooDeep
	}
	return args, ""
}

// schemaErrors validates args and flattens what the library found, whose own
// order is random, into sorted codes.
func schemaErrors(t compiled, args JSON) []string {
	err := t.schema.Validate(args.Decoded())
	if err == nil {
		return nil
	}
	failed, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []string{"args:" + codeSchema}
	}
	found := flatten(failed, nil)
	for i := range found {
		found[i].rank = rank(t.tree, args, found[i].path)
	}
	slices.SortFunc(found, fieldError.compare)
	var out []string
	mistyped := -1 // index of the last type error
	for i, f := range found {
		if mistyped >= 0 && slices.Equal(f.path, found[mistyped].path) {
			continue
		}
		if f.code == codeType {
			mistyped = i
		}
		out = append(out, f.String())
	}
	return slices.Compact(out)
}

// fieldError is one failed keyword at one place of the arguments.
type fieldError struct {
	path []string
	code string
	rank []int
}

func (f fieldError) String() string {
	var out strings.Builder
	out.WriteString("args")
	for _, name := range f.path {
		out.WriteString("." + Label(name))
	}
	return out.String() + ":" + f.code
}

// compare orders by place, then type errors first, then by code.
func (f fieldError) compare(g fieldError) int {
	if c := slices.Compare(f.rank, g.rank); c != 0 {
		return c
	}
	if c := slices.Compare(f.path, g.path); c != 0 {
		return c
	}
	switch {
	case f.code == g.code:
		return 0
	case f.code == codeType:
		return -1
	case g.code == codeType:
		return 1
	}
	return strings.Compare(f.code, g.code)
}

// flatten collects the leaves of the library's error tree.
func flatten(e *jsonschema.ValidationError, out []fieldError) []fieldError {
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			out = append(out, fieldError{path: under(at, name), code: codeRequired})
		}
		return out
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			out = append(out, fieldError{path: under(at, name), code: codeAdditional})
		}
		return out
	case *kind.AnyOf, *kind.OneOf, *kind.Not, *kind.Contains:
		return append(out, fieldError{path: at, code: keyword(e)})
	}
	if len(e.Causes) == 0 {
		return append(out, fieldError{path: at, code: keyword(e)})
	}
	for _, cause := range e.Causes {
		out = flatten(cause, out)
	}
	return out
}

// keyword is the schema keyword that failed.
func keyword(e *jsonschema.ValidationError) string {
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	return codeSchema
}

func under(path []string, name string) []string {
	return append(slices.Clip(path), name)
}
