package contract_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/tool"
)

func compiled(t testing.TB, schema []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("turn.json", doc))
	s, err := c.Compile("turn.json")
	require.NoError(t, err)
	return s
}

func fits(s *jsonschema.Schema, text string) bool {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	return err == nil && s.Validate(v) == nil
}

// schemaTurn is a contract object around an action.
func schemaTurn(action string) string {
	return `{"control":{"done":false,"reason":"ok"},"next_action":` + action + `,"state_update":{"plan":"p","observation":"o","confidence":0.5}}`
}

func TestSchemaFits(t *testing.T) {
	tools := countTools(t)
	text, err := contract.Schema(tools.Specs())
	require.NoError(t, err)
	s := compiled(t, text)
	const dates = `"start_date":"2026-05-13","end_date":"2026-05-13"`
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"tool", schemaTurn(`{"type":"tool","name":"get_counts","args":{` + dates + `,"label":"angry"}}`), true},
		{"tool without arguments", schemaTurn(`{"type":"tool","name":"today_range","args":{}}`), true},
		{"respond", schemaTurn(`{"type":"respond","message":"449"}`), true},
		{"clarify", schemaTurn(`{"type":"clarify","message":"Which?"}`), true},
		{"argument out of its enum", schemaTurn(`{"type":"tool","name":"get_counts","args":{` + dates + `,"label":"rage"}}`), false},
		{"arguments of another tool", schemaTurn(`{"type":"tool","name":"today_range","args":{` + dates + `,"label":"angry"}}`), false},
		{"unknown tool", schemaTurn(`{"type":"tool","name":"rm","args":{}}`), false},
		{"no arguments", schemaTurn(`{"type":"tool","name":"today_range"}`), false},
		{"message with a tool", schemaTurn(`{"type":"tool","name":"today_range","args":{},"message":"x"}`), false},
		{"blank message", schemaTurn(`{"type":"respond","message":" \n"}`), false},
		{"unknown type", schemaTurn(`{"type":"wait","message":"x"}`), false},
		{"extra key", strings.Replace(schemaTurn(`{"type":"respond","message":"x"}`), `{`, `{"note":1,`, 1), false},
		{"no state update", `{"control":{"done":true,"reason":"ok"},"next_action":{"type":"respond","message":"x"}}`, false},
		{"confidence above 1", strings.Replace(schemaTurn(`{"type":"respond","message":"x"}`), "0.5", "1.5", 1), false},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, fits(s, test.text), test.text) })
	}
}

// TestSchemaText pins the whole text for one tool: providers see it byte by byte.
func TestSchemaText(t *testing.T) {
	text, err := contract.Schema([]tool.Spec{{Name: "t", Description: `Asks "<b>".`, Schema: json.RawMessage(`{ "type": "object", "properties": { "b": {"type":"string"}, "a": {} } }`)}})
	require.NoError(t, err)
	require.Equal(t, `{"type":"object","properties":{"control":{"type":"object","properties":{"done":{"type":"boolean","description":"true when this turn ends the task"},`+
		`"reason":{"type":"string","enum":["ok","cannot_proceed","need_clarification"]}},"required":["done","reason"],"additionalProperties":false},`+
		`"next_action":{"description":"exactly one action","anyOf":[`+
		`{"type":"object","description":"Asks \"<b>\".","properties":{"type":{"type":"string","enum":["tool"]},"name":{"type":"string","enum":["t"]},`+
		`"args":{"type":"object","properties":{"b":{"type":"string"},"a":{}}}},"required":["type","name","args"],"additionalProperties":false},`+
		`{"type":"object","description":"answer the user, or ask one concise question","properties":{"type":{"type":"string","enum":["respond","clarify"]},`+
		`"message":{"type":"string","pattern":"\\S"}},"required":["type","message"],"additionalProperties":false}]},`+
		`"state_update":{"type":"object","properties":{"plan":{"type":"string","description":"short plan, at most 6 lines"},`+
		`"observation":{"type":"string","description":"what this turn taught you"},"confidence":{"type":"number","minimum":0,"maximum":1}},`+
		`"required":["plan","observation","confidence"],"additionalProperties":false}},"required":["control","next_action","state_update"],"additionalProperties":false}`, string(text))
}

func TestSchemaOfNoTools(t *testing.T) {
	text, err := contract.Schema(nil)
	require.NoError(t, err)
	s := compiled(t, text)
	require.True(t, fits(s, schemaTurn(`{"type":"respond","message":"x"}`)))
	require.False(t, fits(s, schemaTurn(`{"type":"tool","name":"t","args":{}}`)))
}

// TestSchemaEmbeds checks that references still lead to their targets, that data is not
// read as a schema, and that arguments are always an object.
func TestSchemaEmbeds(t *testing.T) {
	for _, test := range []struct {
		name, schema string
		fit, misfit  string // arguments
		same         bool   // Judge also refuses the misfit
	}{
		{"reference to a definition", `{"type":"object","$defs":{"d":{"type":"integer"}},"properties":{"n":{"$ref":"#/$defs/d"}}}`, `{"n":1}`, `{"n":"x"}`, true},
		{"reference to the whole", `{"type":"object","properties":{"child":{"$ref":"#"},"n":{"type":"integer"}}}`, `{"child":{"n":1}}`, `{"child":{"n":"x"}}`, true},
		{"reference in a list", `{"type":"object","$defs":{"d":{"type":"integer"}},"properties":{"n":{"anyOf":[{"$ref":"#/$defs/d"},{"type":"null"}]}}}`, `{"n":null}`, `{"n":"x"}`, true},
		{"reference as data", `{"type":"object","properties":{"n":{"const":{"$ref":"#/x"}}}}`, `{"n":{"$ref":"#/x"}}`, `{"n":{}}`, true},
		{"a property named like a keyword", `{"type":"object","properties":{"$ref":{"type":"string"},"$id":{"type":"integer"}}}`, `{"$ref":"a","$id":1}`, `{"$ref":1}`, true},
		{"own dialect", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["n"]}`, `{"n":1}`, `{}`, true},
		{"no type", `{"required":["n"]}`, `{"n":1}`, `{}`, true},
		{"one of several types", `{"type":["null","object"],"required":["n"]}`, `{"n":1}`, `null`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			specs := []tool.Spec{{Name: "other", Schema: json.RawMessage(`{}`)}, {Name: "t", Schema: json.RawMessage(test.schema)}}
			text, err := contract.Schema(specs)
			require.NoError(t, err)
			s := compiled(t, text)
			turn := func(args string) string { return schemaTurn(`{"type":"tool","name":"t","args":` + args + `}`) }
			require.True(t, fits(s, turn(test.fit)))
			require.False(t, fits(s, turn(test.misfit)))
			set, err := tool.NewSet(specs)
			require.NoError(t, err)
			require.Equal(t, contract.RunTool, contract.Judge(turn(test.fit), set).Disposition)
			if test.same {
				require.Equal(t, contract.RejectArgs, contract.Judge(turn(test.misfit), set).Disposition)
			}
		})
	}
}

func TestSchemaRefuses(t *testing.T) {
	for _, test := range []struct{ name, schema, want string }{
		{"another dialect", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`, "contract schema: tool t: its dialect is http://json-schema.org/draft-07/schema, and the contract's is https://json-schema.org/draft/2020-12/schema"},
		{"an identifier", `{"$id":"https://example.org/x","type":"object"}`, "keyword $id cannot be part of another schema"},
		{"an anchor deep inside", `{"type":"object","properties":{"a":{"items":{"$anchor":"x"}}}}`, "keyword $anchor cannot be part of another schema"},
		{"no object", `{"type":["string","null"]}`, `its type is ["string","null"], and arguments are an object`},
		{"no JSON", `{`, `contract schema: tool 0 ("t"): schema: not JSON`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := contract.Schema([]tool.Spec{{Name: "t", Schema: json.RawMessage(test.schema)}})
			require.ErrorContains(t, err, test.want)
		})
	}
	_, err := contract.Schema([]tool.Spec{{Name: "a", Schema: json.RawMessage(`{"$id":"x:a"}`)}, {Name: "b", Schema: json.RawMessage(`{"type":"string"}`)}})
	require.ErrorContains(t, err, "tool a: ")
	require.ErrorContains(t, err, "tool b: ", "every tool is named")
}

// TestSchemaImpliesTheContract checks that an output that fits the schema is a valid
// turn that can be executed.
func TestSchemaImpliesTheContract(t *testing.T) {
	tools := countTools(t)
	text, err := contract.Schema(tools.Specs())
	require.NoError(t, err)
	s := compiled(t, text)
	parts := [][]string{
		{`{"control":{"done":`}, {"true", "false", "1"}, {`,"reason":`}, {`"ok"`, `"cannot_proceed"`, `"fine"`},
		{`},"next_action":{"type":`}, {`"tool"`, `"respond"`, `"clarify"`},
		{"", `,"name":"get_counts"`, `,"name":"today_range"`},
		{"", `,"args":{}`, `,"args":{"start_date":"2026-05-13","end_date":"2026-05-13","label":"angry"}`},
		{"", `,"message":"x"`, `,"message":""`},
		{`},"state_update":{"plan":"","observation":`}, {`""`, `null`}, {`,"confidence":`}, {"0", "1", "2"}, {"}"}, {"", `,"more":1`}, {"}"},
	}
	fitting := 0
	var try func(text string, rest [][]string)
	try = func(text string, rest [][]string) {
		if len(rest) > 0 {
			for _, part := range rest[0] {
				try(text+part, rest[1:])
			}
			return
		}
		if fits(s, text) {
			fitting++
			v := contract.Judge(text, tools)
			require.True(t, v.Valid, "%s: %v", text, v.Violations)
			require.Empty(t, v.ArgsViolations, text)
		}
	}
	try("", parts)
	require.Equal(t, 2*2*1*2*4, fitting, "done, reason, observation, confidence, action")
}

// BenchmarkSchema builds the schema of two tools. The floor is compiling the schemas of
// the tools.
func BenchmarkSchema(b *testing.B) {
	specs := countTools(b).Specs()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := contract.Schema(specs); err != nil {
			b.Fatal(err)
		}
	}
}
