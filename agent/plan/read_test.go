package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
)

// codes returns the codes of faults, in order.
func codes(faults []Fault) []string {
	var out []string
	for _, f := range faults {
		out = append(out, f.Code)
	}
	return out
}

var testKnown = Known{
	Tools: []string{"search", "open"}, MaxSteps: 5,
	Inputs: []strategy.Input{{Name: "lights", Value: json.RawMessage(`["a","b"]`)}, {Name: "year", Value: json.RawMessage(`1880`)}},
}

// steps puts steps into a plan.
func steps(s ...string) string { return `{"title":"t","steps":[` + strings.Join(s, ",") + `]}` }

func TestReadFaults(t *testing.T) {
	const a = `{"id":"a","instructions":"i"}`
	list := `{"id":"l","instructions":"i","mode":"discover","output_schema":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}}}}`
	tests := []struct {
		name, text string
		want       []string
		detail     string // part of the first fault
	}{
		{"no JSON", `title: t`, []string{"not_json"}, "YAML"},
		{"cut", `{"title":"t","steps":[`, []string{"not_json"}, ""},
		{"a list", `[]`, []string{"not_object"}, ""},
		{"too deep", `{"title":` + strings.Repeat("[", 80) + strings.Repeat("]", 80) + `}`, []string{"too_large"}, ""},
		{"too large", `{"title":"` + strings.Repeat("x", 70_000) + `"}`, []string{"too_large"}, ""},
		{"no steps", `{"title":"t"}`, []string{"empty"}, "no steps"},
		{"empty", `{"title":"t","steps":[]}`, []string{"empty"}, ""},
		{"null steps", `{"title":"t","steps":null}`, []string{"empty"}, ""},
		{"steps an object", `{"title":"t","steps":{}}`, []string{"type"}, ""},
		{"a step of text", steps(`"a"`), []string{"type", "id.missing", "instructions.blank"}, "step 1 is not an object"},
		{"too many", steps(a, strings.ReplaceAll(a, `"a"`, `"b"`), strings.ReplaceAll(a, `"a"`, `"c"`), strings.ReplaceAll(a, `"a"`, `"d"`), strings.ReplaceAll(a, `"a"`, `"e"`), strings.ReplaceAll(a, `"a"`, `"f"`)), []string{"steps.too_many"}, "6 steps, at most 5"},
		{"twice a key", `{"title":"t","title":"u","steps":[` + a + `]}`, []string{"duplicate_key"}, "title is used twice"},
		{"unknown field", steps(`{"id":"a","instructions":"i","dependsOn":[]}`), []string{"field.unknown"}, `"dependsOn"`},
		{"title a number", `{"title":1,"steps":[` + a + `]}`, []string{"type"}, "title is not a string"},
		{"no id", steps(`{"instructions":"i"}`), []string{"id.missing"}, "step 1 has no id"},
		{"B004 same id", steps(a, a), []string{"id.duplicate"}, `step "a"`},
		{"bad id", steps(`{"id":"../a","instructions":"i"}`), []string{"id.pattern"}, ""},
		{"upper case", steps(`{"id":"A","instructions":"i"}`), []string{"id.pattern"}, ""},
		{"long id", steps(`{"id":"a` + strings.Repeat("b", 64) + `","instructions":"i"}`), []string{"id.pattern"}, ""},
		{"id of an input", steps(`{"id":"year","instructions":"i"}`), []string{"id.input"}, ""},
		{"blank", steps(`{"id":"a","instructions":" \n"}`), []string{"instructions.blank"}, `step "a"`},
		{"long", steps(`{"id":"a","instructions":"` + strings.Repeat("x", 8001) + `"}`), []string{"too_large"}, "8001"},
		{"B003 missing", steps(`{"id":"a","instructions":"i","depends_on":["b"]}`), []string{"depends_on.unknown"}, `depends on "b"`},
		{"depends on text", steps(`{"id":"a","instructions":"i","depends_on":"b"}`), []string{"type"}, "depends_on"},
		{"depends on numbers", steps(`{"id":"a","instructions":"i","depends_on":[1]}`), []string{"type"}, "depends_on"},
		{"itself", steps(`{"id":"a","instructions":"i","depends_on":["a"]}`), []string{"depends_on.cycle"}, "circular dependency: a → a"},
		{"B002 cycle", steps(`{"id":"a","instructions":"i","depends_on":["b"]}`, `{"id":"b","instructions":"i","depends_on":["a"]}`), []string{"depends_on.cycle"}, "circular dependency: a → b → a"},
		{"unknown tool", steps(`{"id":"a","instructions":"i","tools":["search","browse"]}`), []string{"tools.unknown"}, `"browse"; known: search, open`},
		{"all tools unknown", steps(`{"id":"a","instructions":"i","tools":["browse"]}`), []string{"tools.unknown"}, ""},
		{"mode", steps(`{"id":"a","instructions":"i","mode":"map"}`), []string{"mode.invalid"}, `"map"`},
		{"B011 YAML schema", steps(`{"id":"a","instructions":"i","output_schema":"type: object"}`), []string{"schema.invalid"}, "YAML is not accepted"},
		{"schema a list", steps(`{"id":"a","instructions":"i","output_schema":[]}`), []string{"schema.invalid"}, "not a JSON object"},
		{"no such type", steps(`{"id":"a","instructions":"i","output_schema":{"type":"text"}}`), []string{"schema.invalid"}, "not a usable JSON Schema"},
		{"schema that nothing fits", steps(`{"id":"a","instructions":"i","output_schema":{"type":"object","properties":{"x":{"type":"string"}},"required":["y"]}}`), []string{"schema.invalid"}, ""},
		{"another file", steps(`{"id":"a","instructions":"i","output_schema":{"$ref":"file:///etc/passwd"}}`), []string{"schema.invalid"}, ""},
		{"discover no list", steps(`{"id":"a","instructions":"i","mode":"discover","output_schema":{"type":"string"}}`), []string{"schema.invalid"}, "is a list"},
		{"items without process", steps(`{"id":"a","instructions":"i","per_item_instructions":"x","per_item_schema":{"type":"string"}}`), []string{"item.unexpected", "item.unexpected"}, ""},
		{"process nothing", steps(`{"id":"a","instructions":"i","mode":"process"}`), []string{"process.list"}, "on 0"},
		{"process a scalar", steps(`{"id":"a","instructions":"i","mode":"process","depends_on":["year"]}`), []string{"process.list"}, ""},
		{"process a text", steps(a, `{"id":"p","instructions":"i","mode":"process","depends_on":["a"]}`), []string{"process.list"}, ""},
		{"process two lists", steps(list, `{"id":"p","instructions":"i","mode":"process","depends_on":["l","lights"]}`), []string{"process.list"}, "on 2"},
		{"process into an object", steps(`{"id":"p","instructions":"i","mode":"process","depends_on":["lights"],"output_schema":{"type":"object"}}`), []string{"schema.invalid"}, "must be an array"},
		{"items that refer to the rest", steps(`{"id":"p","instructions":"i","mode":"process","depends_on":["lights"],"output_schema":{"type":"array","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"string"}}}}`), []string{"schema.invalid"}, "give per_item_schema"},
		{"items of anything", steps(`{"id":"p","instructions":"i","mode":"process","depends_on":["lights"],"output_schema":{"type":"array","items":{}}}`), nil, ""},
		{"template", steps(`{"id":"p","instructions":"i","mode":"process","depends_on":["lights"],"per_item_instructions":"tell {"}`), []string{"template.invalid"}, ""},
		{"no such field", steps(list, `{"id":"p","instructions":"i","mode":"process","depends_on":["l"],"per_item_instructions":"tell {title}"}`), []string{"item.missing"}, "known: name, item"},
		{"field of text", steps(`{"id":"l","instructions":"i","mode":"discover"}`, `{"id":"p","instructions":"i","mode":"process","depends_on":["l"],"per_item_instructions":"tell {item}"}`), nil, ""},
		{
			"everything at once", steps(`{"id":"A","instructions":"","depends_on":["x"],"tools":["y"]}`, `{"id":"b","instructions":"i","depends_on":["b"],"mode":"z","output_schema":"{"}`),
			[]string{"schema.invalid", "id.pattern", "instructions.blank", "depends_on.unknown", "tools.unknown", "mode.invalid", "depends_on.cycle"}, "",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, faults := Read(test.text, testKnown)
			require.Equal(t, test.want, codes(faults), "%v", faults)
			if len(faults) > 0 {
				require.Contains(t, faults[0].Detail, test.detail)
				require.Equal(t, Plan{}, p)
			}
		})
	}
}

func TestReadManyFaultsAreBounded(t *testing.T) {
	var s []string
	for range 500 {
		s = append(s, `{"id":"A"}`)
	}
	_, faults := Read(steps(s...), Known{})
	require.Len(t, faults, maxFaults)
}

func TestReadValid(t *testing.T) {
	text := steps(
		`{"id":"find","instructions":" find ","depends_on":["year","year"],"mode":"discover","tools":["search"]}`,
		`{"id":"each","instructions":"about {item}","depends_on":["find"],"mode":"process","output_schema":"{\"type\":\"array\",\"items\":{\"type\":\"number\"}}","tools":[]}`,
		`{"id":"sum","instructions":"add","depends_on":["each"],"mode":"aggregate","output_schema":null,"per_item_instructions":""}`,
	)
	p, faults := Read(text, testKnown)
	require.Empty(t, faults)
	require.Equal(t, "t", p.Title)
	require.Equal(t, Step{ID: "find", Instructions: "find", DependsOn: []string{"year"}, Mode: Discover, OutputSchema: json.RawMessage(anyList), Tools: []string{"search"}}, p.Steps[0])
	require.Equal(t, "find", p.Steps[1].List)
	require.Equal(t, "about {item}", p.Steps[1].PerItem, "the instructions are the template when there is none")
	require.JSONEq(t, `{"type":"number"}`, string(p.Steps[1].PerItemSchema), "that of the output's items")
	require.Equal(t, []string{}, p.Steps[1].Tools, "a restriction to no tools")
	require.Nil(t, p.Steps[2].Tools, "no restriction")
	require.Nil(t, p.Steps[2].OutputSchema)
	_, ok := p.Step("other")
	require.False(t, ok)
}

// The schema of the offered tool and Read accept and refuse the same plans.
func TestOffer(t *testing.T) {
	set, err := tool.NewSet([]tool.Spec{Offer([]string{"search"})})
	require.NoError(t, err)
	good := steps(`{"id":"a","instructions":"i","depends_on":[],"tools":["search"],"output_schema":"{}"}`)
	require.Empty(t, set.Validate(tool.Call{Name: Tool, Args: json.RawMessage(good)}))
	_, faults := Read(good, testKnown)
	require.Empty(t, faults)
	for _, bad := range []string{`{"title":"t","steps":[]}`, steps(`{"id":"A","instructions":"i","depends_on":[]}`), steps(`{"id":"a","instructions":"i","depends_on":[],"tools":["x"]}`)} {
		require.NotEmpty(t, set.Validate(tool.Call{Name: Tool, Args: json.RawMessage(bad)}), bad)
		_, faults = Read(bad, testKnown)
		require.NotEmpty(t, faults, bad)
	}
	_, err = tool.NewSet([]tool.Spec{Offer(nil)})
	require.NoError(t, err)
}

// FuzzRead: whatever is written, a plan is valid or has faults, a valid one can be
// executed, and its schemas compile.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", "{}", "[]", steps(), steps(`{"id":"a","instructions":"i"}`), steps(`{"id":"a","instructions":"{x}","mode":"process","depends_on":["lights"]}`),
		steps(`{"id":"a","instructions":"i","mode":"discover"}`, `{"id":"b","instructions":"i","mode":"process","depends_on":["a"],"output_schema":"{\"type\":\"array\"}"}`),
		steps(`{"id":"a","instructions":"i","depends_on":["b"]}`, `{"id":"b","instructions":"i","depends_on":["a"]}`),
		steps(`{"id":"a","instructions":"i","output_schema":{"type":"object","properties":{"a":{"$ref":"#"}}}}`), "```json\n{}\n```", "\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = FromText(text)
		p, faults := Read(text, testKnown)
		if len(faults) > 0 {
			require.LessOrEqual(t, len(faults), maxFaults)
			for _, f := range faults {
				require.NotEmpty(t, f.Code)
				require.LessOrEqual(t, len([]rune(f.Detail)), maxDetail+1)
			}
			require.Empty(t, p.Steps)
			return
		}
		require.NotEmpty(t, p.Steps)
		whole, last := p.Ending(nil)
		require.Len(t, whole.finalSteps(), 1)
		require.Equal(t, last, whole.finalSteps()[0])
		for _, s := range whole.Steps {
			for _, schema := range []json.RawMessage{s.OutputSchema, s.PerItemSchema} {
				if schema != nil {
					_, err := NewResult(schema)
					require.NoError(t, err)
				}
			}
		}
		g := NewProgress(whole)
		for range whole.Steps {
			ready := g.Ready()
			require.NotEmpty(t, ready)
			g.Start(ready[0].ID)
			g.Done(ready[0].ID)
		}
		require.True(t, g.Over())
	})
}
