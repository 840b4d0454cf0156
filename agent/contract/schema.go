package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// Schema returns the JSON Schema (2020-12, compact, without $schema) of one
// contract object in which these tools may be called: what a provider's
// structured output is asked for and what prompts can show. It is stricter than
// Judge, which merely warns about unknown keys: every key is required and no
// other allowed, and arguments must fit their tool's schema. An object that fits
// is Valid, unless its message shows nothing but invisible characters. The order
// of tools and of their keys is kept, so equal tools give equal bytes; the caller
// owns them. The error names every tool whose schema cannot be embedded: one in
// another dialect, with an identifier, an anchor or a dynamic reference, or that
// no object fits.
func Schema(tools []tool.Spec) ([]byte, error) {
	if _, err := tool.NewSet(tools); err != nil {
		return nil, fmt.Errorf("contract schema: %w", err)
	}
	var out bytes.Buffer
	out.WriteString(schemaHead)
	var errs []error
	for i, t := range tools {
		e := embedding{at: fmt.Sprintf("#/properties/next_action/anyOf/%d/properties/args", i)}
		root, _, _ := tool.ParseJSON(string(t.Schema)) // NewSet has read it
		args := e.root(root)
		if e.problem != "" {
			errs = append(errs, fmt.Errorf("contract schema: tool %s: %s", t.Name, e.problem))
		}
		fmt.Fprintf(&out, `{"type":"object","description":%s,"properties":{"type":{"type":"string","enum":["tool"]},`+
			`"name":{"type":"string","enum":[%s]},"args":%s},"required":["type","name","args"],"additionalProperties":false},`,
			plainjson.Text(t.Description), plainjson.Text(t.Name), args)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	out.WriteString(schemaTail)
	return out.Bytes(), nil
}

// The schema before and after the tools.
const (
	schemaHead = `{"type":"object","properties":{` +
		`"control":{"type":"object","properties":{` +
		`"done":{"type":"boolean","description":"true when this turn ends the task"},` +
		`"reason":{"type":"string","enum":["ok","cannot_proceed","need_clarification"]}},` +
		`"required":["done","reason"],"additionalProperties":false},` +
		`"next_action":{"description":"exactly one action","anyOf":[`
	schemaTail = `{"type":"object","description":"answer the user, or ask one concise question","properties":{` +
		`"type":{"type":"string","enum":["respond","clarify"]},` +
		`"message":{"type":"string","pattern":"\\S"}},` +
		`"required":["type","message"],"additionalProperties":false}]},` +
		`"state_update":{"type":"object","properties":{` +
		`"plan":{"type":"string","description":"short plan, at most 6 lines"},` +
		`"observation":{"type":"string","description":"what this turn taught you"},` +
		`"confidence":{"type":"number","minimum":0,"maximum":1}},` +
		`"required":["plan","observation","confidence"],"additionalProperties":false}},` +
		`"required":["control","next_action","state_update"],"additionalProperties":false}`
)

// dialect is the only one a tool's schema may name when it becomes a part of another.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// embedding rewrites a tool's schema into a part of the contract's.
type embedding struct {
	// at is where the schema goes: local references lead there now.
	at string
	// problem is the first thing that cannot be embedded.
	problem string
}

func (e *embedding) refuse(format string, args ...any) {
	e.problem = cmp.Or(e.problem, fmt.Sprintf(format, args...))
}

// root rewrites the schema of the arguments, which are always an object.
func (e *embedding) root(v tool.JSON) []byte {
	object := func(t tool.JSON) bool { return t.Text() == "object" }
	typ, has := v.Get("type")
	switch {
	case !has:
		v.Members = append([]tool.Member{{Name: "type", Value: tool.JSON{Kind: '"', Raw: `"object"`}}}, v.Members...)
	case object(typ):
	case slices.ContainsFunc(typ.Elems, object):
		v.Members = slices.Clone(v.Members)
		for i := range v.Members {
			if v.Members[i].Name == "type" {
				v.Members[i].Value = tool.JSON{Kind: '"', Raw: `"object"`}
			}
		}
	default:
		e.refuse("its type is %s, and arguments are an object", typ.Raw)
	}
	return e.schema(nil, v)
}

// schema appends one schema.
func (e *embedding) schema(out []byte, v tool.JSON) []byte {
	if v.Kind != '{' {
		return appendCompact(out, v.Raw)
	}
	return e.object(out, v, func(out []byte, m tool.Member) []byte {
		switch m.Name {
		case "$ref":
			return append(out, plainjson.Text(e.reference(m.Value))...)
		case "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor", "$vocabulary":
			e.refuse("keyword %s cannot be part of another schema", m.Name)
		case "enum", "const", "default", "examples":
			return appendCompact(out, m.Value.Raw)
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			return e.object(out, m.Value, func(out []byte, m tool.Member) []byte { return e.schema(out, m.Value) })
		}
		if m.Value.Kind != '[' {
			return e.schema(out, m.Value)
		}
		out = append(out, '[')
		for i, element := range m.Value.Elems {
			if i > 0 {
				out = append(out, ',')
			}
			out = e.schema(out, element)
		}
		return append(out, ']')
	})
}

// object appends an object member by member. $schema is left out: the whole has one dialect.
func (e *embedding) object(out []byte, v tool.JSON, value func([]byte, tool.Member) []byte) []byte {
	out = append(out, '{')
	first := true
	for _, m := range v.Members {
		if m.Name == "$schema" && m.Value.Kind == '"' {
			if name := strings.TrimSuffix(m.Value.Text(), "#"); name != dialect {
				e.refuse("its dialect is %s, and the contract's is %s", name, dialect)
			}
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(append(out, plainjson.Text(m.Name)...), ':')
		out = value(out, m)
	}
	return append(out, '}')
}

// reference leads a local reference to where its target is now.
func (e *embedding) reference(v tool.JSON) string {
	rest, local := strings.CutPrefix(v.Text(), "#")
	if !local || rest != "" && rest[0] != '/' {
		e.refuse("reference %s does not lead to a place in the tool's own schema", v.Raw)
	}
	return e.at + rest
}

// appendCompact appends JSON text without white space.
func appendCompact(out []byte, raw string) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, []byte(raw)) // read from valid JSON
	return append(out, b.Bytes()...)
}
