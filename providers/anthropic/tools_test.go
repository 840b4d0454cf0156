package anthropic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func TestToolsAreOffered(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"type":"string"}}}`
	for _, c := range []struct {
		name     string
		tool     providers.Tool
		want     string
		warnings []string
	}{
		{"described", providers.Tool{Name: "n", Description: "Does <it>.", Schema: []byte(schema)}, `{"name":"n","description":"Does <it>.","input_schema":` + schema + `}`, nil},
		{"without arguments", providers.Tool{Name: "n"}, `{"name":"n","input_schema":` + noArguments + `}`, nil},
		{"an empty schema", providers.Tool{Name: "n", Schema: []byte(`{}`)}, `{"name":"n","input_schema":` + noArguments + `}`, nil},
		{"without a type", providers.Tool{Name: "n", Schema: []byte(`{"properties":{}}`)}, `{"name":"n","input_schema":{"properties":{},"type":"object"}}`, nil},
		{
			"of another type", providers.Tool{Name: "n", Schema: []byte(`{"type":["object","null"]}`)}, `{"name":"n","input_schema":{"type":"object"}}`,
			[]string{"tool n: the schema must be of type object, sent as such"},
		},
		{
			"a choice at the top", providers.Tool{Name: "n", Schema: []byte(`{"type":"object","oneOf":[],"allOf":[]}`)}, `{"name":"n","input_schema":{"type":"object"}}`,
			[]string{"tool n: allOf at the top of the schema is not taken, not sent", "tool n: oneOf at the top of the schema is not taken, not sent"},
		},
		{
			"a name of an argument that is none", providers.Tool{Name: "n", Schema: []byte(`{"type":"object","properties":{"a b":{},"c.d":{}}}`)}, `{"name":"n","input_schema":{"type":"object","properties":{"a b":{},"c.d":{}}}}`,
			[]string{`tool n: the provider may refuse the schema: property "a b"`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings := sent(t, providers.Call{Tools: []providers.Tool{c.tool}})
			require.Equal(t, `[],"tools":[`+c.want+`]`, got)
			require.Equal(t, c.warnings, warnings)
		})
	}
}

func TestToolChoices(t *testing.T) {
	for _, c := range []struct {
		name   string
		choice providers.Choice
		serial bool
		want   string
	}{
		{"auto is the default", providers.Choice{}, false, ``},
		{"auto, one at a time", providers.Choice{}, true, `,"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`},
		{"any", providers.Choice{Kind: providers.ChoiceAny}, false, `,"tool_choice":{"type":"any"}`},
		{"any, one at a time", providers.Choice{Kind: providers.ChoiceAny}, true, `,"tool_choice":{"type":"any","disable_parallel_tool_use":true}`},
		{"named", providers.Choice{Kind: providers.ChoiceNamed, Name: "n"}, false, `,"tool_choice":{"type":"tool","name":"n"}`},
		{"none has no more fields", providers.Choice{Kind: providers.ChoiceNone}, true, `,"tool_choice":{"type":"none"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings := sent(t, providers.Call{Tools: []providers.Tool{{Name: "n"}}, Choice: c.choice, Serial: c.serial})
			require.Equal(t, `[],"tools":[{"name":"n","input_schema":`+noArguments+`}]`+c.want, got)
			require.Empty(t, warnings)
		})
	}
	t.Run("no tools, no choice", func(t *testing.T) {
		got, warnings := sent(t, providers.Call{Choice: providers.Choice{Kind: providers.ChoiceNone}, Serial: true})
		require.Equal(t, `[]`, got)
		require.Empty(t, warnings)
	})
	t.Run("forced, one at a time", func(t *testing.T) {
		got, _ := sent(t, providers.Call{Serial: true, Format: &providers.Format{Mode: providers.ForcedTool, Name: "f", Schema: []byte(`{"type":"object"}`)}})
		require.Equal(t, `[],"tools":[{"name":"f","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"f","disable_parallel_tool_use":true}`, got)
	})
}

func TestStopsAndStreams(t *testing.T) {
	got, warnings := sent(t, providers.Call{Stop: []string{"a", "\n", " b"}, Stream: true})
	require.Equal(t, `[],"stop_sequences":["a"," b"],"stream":true`, got)
	require.Equal(t, []string{"stop: a sequence of nothing but white space is not taken, not sent"}, warnings)
}
