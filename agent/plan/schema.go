package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// anyList is the schema of a list of which nothing else is said, anyResult that of
// a result.
const (
	anyList   = `{"type":"array","items":{"type":"string"}}`
	anyResult = `{"type":"object","additionalProperties":true}`
)

// Tighten makes a JSON Schema, given as text, say what its author is likely to
// mean: an object takes no properties but its own and, without a list of those
// required, requires all of them; an array without items is one of strings. So do
// the schemas in properties, items, anyOf, oneOf and allOf. Objects that are
// combined with others by allOf, or that name no property, stay open, because
// nothing would fit them otherwise. The error says why it is not a schema, or that
// holding a value against it could take without end.
func Tighten(schema string) (json.RawMessage, error) {
	root, shape, ok := tool.ParseJSON(schema)
	switch {
	case !ok:
		return nil, errors.New("not JSON (YAML is not accepted)")
	case root.Kind != '{':
		return nil, errors.New("not a JSON object")
	case shape.TooLarge() || shape.TooDeep():
		return nil, errors.New("larger than 64 KiB, 8192 values or 64 levels")
	}
	if err := checkEffort(root); err != nil {
		return nil, err
	}
	out := json.RawMessage(tighten(root, false))
	if _, err := NewResult(out); err != nil {
		return nil, err
	}
	return out, nil
}

// tighten writes a schema; shared reports that others apply to the same value, so
// that none may refuse what it does not know.
func tighten(v tool.JSON, shared bool) string {
	if v.Kind != '{' {
		return compact(v.Raw)
	}
	var w object
	combined := shared
	for _, m := range v.Members {
		combined = combined || slices.Contains([]string{"allOf", "anyOf", "oneOf"}, m.Name)
	}
	properties, _ := v.Get("properties")
	within := shared || len(properties.Members) > 0
	for _, m := range v.Members {
		switch m.Name {
		case "properties":
			w.put(m.Name, eachMember(m.Value))
		case "items":
			w.put(m.Name, tighten(m.Value, false))
		case "anyOf", "oneOf":
			w.put(m.Name, eachElem(m.Value, within))
		case "allOf":
			w.put(m.Name, eachElem(m.Value, within || len(m.Value.Elems) > 1))
		default:
			w.put(m.Name, compact(m.Value.Raw))
		}
	}
	has := func(name string) bool { _, ok := v.Get(name); return ok }
	if len(properties.Members) > 0 && !combined {
		if !has("additionalProperties") && !has("patternProperties") {
			w.put("additionalProperties", "false")
		}
		if !has("required") {
			w.put("required", names(properties))
		}
	}
	if isType(v, "array") && !has("items") && !has("prefixItems") {
		w.put("items", `{"type":"string"}`)
	}
	return w.String()
}

func eachMember(v tool.JSON) string {
	if v.Kind != '{' {
		return compact(v.Raw)
	}
	var w object
	for _, m := range v.Members {
		w.put(m.Name, tighten(m.Value, false))
	}
	return w.String()
}

func eachElem(v tool.JSON, shared bool) string {
	if v.Kind != '[' {
		return compact(v.Raw)
	}
	var out []string
	for _, e := range v.Elems {
		out = append(out, tighten(e, shared))
	}
	return "[" + strings.Join(out, ",") + "]"
}

// names is the JSON list of an object's names.
func names(v tool.JSON) string {
	var out []string
	for _, m := range v.Members {
		if name := plainjson.Text(m.Name); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return "[" + strings.Join(out, ",") + "]"
}

// isType reports whether a schema restricts values of this type.
func isType(schema tool.JSON, name string) bool {
	t, _ := schema.Get("type")
	return t.Text() == name || slices.ContainsFunc(t.Elems, func(e tool.JSON) bool { return e.Text() == name })
}

// listSchema reports whether what fits a schema is an array, or an object with
// exactly one array.
func listSchema(schema json.RawMessage) bool {
	root, _, _ := tool.ParseJSON(string(schema))
	_, ok := listOf(root)
	return ok
}

// listOf finds the schema of the list in a schema.
func listOf(root tool.JSON) (list tool.JSON, ok bool) {
	if isType(root, "array") {
		return root, true
	}
	properties, _ := root.Get("properties")
	found := 0
	for _, m := range properties.Members {
		if isType(m.Value, "array") {
			list = m.Value
			found++
		}
	}
	return list, found == 1
}

// itemSchema is the schema of the items of a list, nil if it says nothing of
// them; ok is whether it is the schema of an array.
func itemSchema(schema json.RawMessage) (items json.RawMessage, ok bool) {
	root, _, _ := tool.ParseJSON(string(schema))
	list, _ := listOf(root)
	if v, found := list.Get("items"); found && v.Kind == '{' && len(v.Members) > 0 {
		items = json.RawMessage(v.Raw)
	}
	return items, isType(root, "array")
}

// closedFields are the properties of a schema that allows no others.
func closedFields(schema json.RawMessage) (fields []string, known bool) {
	root, _, _ := tool.ParseJSON(string(schema))
	if more, _ := root.Get("additionalProperties"); more.Kind != 'f' || !isType(root, "object") {
		return nil, false
	}
	properties, _ := root.Get("properties")
	for _, m := range properties.Members {
		fields = append(fields, m.Name)
	}
	return fields, true
}

// Result is what the result of a step must fit.
type Result struct {
	// Schema is that of the result, Spec the tool that takes it.
	Schema json.RawMessage
	Spec   tool.Spec

	set *tool.Set
}

// NewResult compiles a schema; one that says nothing means any object. The error
// says why it is not a JSON Schema, or that nothing fits it.
func NewResult(schema json.RawMessage) (*Result, error) {
	if text := compact(string(schema)); text == "" || text == "{}" {
		schema = json.RawMessage(anyResult)
	}
	root, _, ok := tool.ParseJSON(string(schema))
	if !ok {
		return nil, errors.New("not JSON")
	}
	spec := tool.Spec{
		Name: Finish, Description: "Finish the step with its result.",
		Schema: json.RawMessage(`{"type":"object","properties":{"result":` + moved(root) + `},"required":["result"],"additionalProperties":false}`),
	}
	set, err := tool.NewSet([]tool.Spec{spec})
	if err != nil {
		return nil, fmt.Errorf("not a usable JSON Schema: %s", clip.Runes(strings.Join(strings.Fields(err.Error()), " "), maxDetail))
	}
	return &Result{Schema: schema, Spec: spec, set: set}, nil
}

// Check returns what is wrong with a result, as codes such as result.name:type;
// none if it fits.
func (r *Result) Check(result json.RawMessage) []string {
	args := append(append([]byte(`{"result":`), result...), '}')
	out := r.set.Validate(tool.Call{Name: Finish, Args: args})
	for i := range out {
		out[i] = strings.TrimPrefix(out[i], "args.")
	}
	return out
}

// moved writes a schema with its own references set right for its new place.
func moved(v tool.JSON) string {
	switch v.Kind {
	case '{':
		var w object
		for _, m := range v.Members {
			text := moved(m.Value)
			if ref := m.Value.Text(); m.Name == "$ref" && (ref == "#" || strings.HasPrefix(ref, "#/")) {
				text = plainjson.Text("#/properties/result" + ref[1:])
			}
			w.put(m.Name, text)
		}
		return w.String()
	case '[':
		var out []string
		for _, e := range v.Elems {
			out = append(out, moved(e))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	return v.Raw
}

// object writes a JSON object; the last of repeated names would win anyway.
type object struct{ members []string }

func (o *object) put(name, value string) {
	o.members = append(o.members, plainjson.Text(name)+":"+value)
}
func (o *object) String() string { return "{" + strings.Join(o.members, ",") + "}" }

// compact drops white space between the tokens of JSON text.
func compact(text string) string {
	var w bytes.Buffer
	if json.Compact(&w, []byte(text)) != nil {
		return text
	}
	return w.String()
}
