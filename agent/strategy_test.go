package agent

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

func TestNew(t *testing.T) {
	odd, err := tool.NewSet([]tool.Spec{{Name: "odd", Schema: json.RawMessage(`{"type":"object","$anchor":"a"}`)}})
	require.NoError(t, err)
	for _, test := range []struct {
		name, strategy string
		params         Params
		err            string
	}{
		{"contract", "contract", Params{}, ""},
		{"named profile and mode", "contract", Params{Profile: "seed", Mode: "prompt"}, ""},
		{"schema, forced tool", "contract", Params{Profile: "schema", Mode: "forced_tool", Compress: true}, ""},
		{"conversation, json schema", "contract", Params{Profile: "conversation", Mode: "json_schema"}, ""},
		{"json object", "contract", Params{Mode: "json_object", Tools: odd}, ""},
		{"conversation compressed", "contract", Params{Profile: "conversation", Compress: true}, "agent: strategy contract: prompt profile conversation has no scratchpad to compress"},
		{"a tool the profile cannot show", "contract", Params{Profile: "schema", Tools: odd}, "agent: strategy contract: prompt profile schema: contract schema: tool odd: keyword $anchor cannot be part of another schema"},
		{"a tool the mode cannot show", "contract", Params{Mode: "json_schema", Tools: odd}, "agent: strategy contract: output mode json_schema: contract schema: tool odd: keyword $anchor cannot be part of another schema"},
		{"unknown strategy", "react", Params{}, `agent: unknown strategy "react"; known: contract, external, orchestrator, plan, tools`},
		{"no strategy", "", Params{}, `agent: unknown strategy ""; known: contract, external, orchestrator, plan, tools`},
		{"unknown profile", "contract", Params{Profile: "x"}, `agent: strategy contract: unknown prompt profile "x"; known: conversation, schema, seed`},
		{"unknown mode", "contract", Params{Mode: "x"}, `agent: strategy contract: unknown output mode "x"; known: prompt, json_object, json_schema, forced_tool`},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := New(test.strategy, test.params, nil)
			if test.err != "" {
				require.EqualError(t, err, test.err)
				require.Nil(t, m)
				return
			}
			require.NoError(t, err)
			require.NotNil(t, m)
		})
	}
}

func TestCallCarriesTheDials(t *testing.T) {
	seed := int64(7)
	m, err := New("contract", Params{Request: "r", MaxTokens: 400, Temperature: 0.1, Seed: &seed, Budgets: guard.Budgets{MaxTime: 90 * time.Second}}, nil)
	require.NoError(t, err)
	ready := m.Step(Started{At: testStart})
	require.Len(t, ready.Commands, 1)
	c := ready.Commands[0].(CallModel)
	require.Equal(t, 400, c.Call.MaxTokens)
	require.Equal(t, 0.1, *c.Call.Temperature)
	require.Equal(t, int64(7), *c.Call.Seed)
	require.Equal(t, 90*time.Second, c.Timeout)
	require.Contains(t, c.Call.System, "max_steps=none, max_tool_calls=none, hard_stop_after_seconds=90.")
	require.Len(t, c.Call.Messages, 1)
	require.Equal(t, "user", c.Call.Messages[0].Role)
}

func TestIsReflect(t *testing.T) {
	message := func(text string) providers.Call {
		return providers.Call{Messages: []providers.Message{{Role: "user", Text: text}}}
	}
	require.True(t, IsReflect(message(userPrompt("r", &scratchpad{}, guard.Used{}, guard.Budgets{}, "", "t"))))
	require.False(t, IsReflect(message(userPrompt("r", &scratchpad{}, guard.Used{}, guard.Budgets{}, "", ""))))
	require.False(t, IsReflect(message(userPrompt("x\nREFLECT: you", &scratchpad{}, guard.Used{}, guard.Budgets{}, "", ""))), "a request cannot fake it")
	require.False(t, IsReflect(providers.Call{System: "a\nREFLECT: b"}))
}

func TestDigests(t *testing.T) {
	set := func(schema string) *tool.Set {
		s, err := tool.NewSet([]tool.Spec{{Name: "t", Schema: json.RawMessage(schema)}})
		require.NoError(t, err)
		return s
	}
	base := Digests("contract", Params{Tools: set(`{"type":"object"}`)}, nil)
	require.Len(t, base, 3)
	for name, value := range base {
		require.Regexp(t, `^[0-9a-f]{64}$`, value, name)
	}
	require.Equal(t, base, Digests("contract", Params{Request: "other", Tools: set(`{ "type": "object" }`)}, nil), "white space and the request do not count")
	other := Digests("contract", Params{Tools: set(`{"type":"object","minProperties":1}`)}, nil)
	require.NotEqual(t, base["tools"], other["tools"])
	require.Equal(t, base["prompt"], other["prompt"])
	require.Equal(t, base["contract"], other["contract"])
	require.Len(t, Digests("contract", Params{}, nil), 3, "no tools")
}

// New accepts exactly the settings of the descriptor.
func TestStrategiesTakeTheirSettings(t *testing.T) {
	custom := func(s []string) map[string]Strategy {
		return map[string]Strategy{"mine": {Info: strategy.Info{Settings: s}, New: newTools}}
	}
	for setting, set := range map[string]func(*Params){
		"mode": func(p *Params) { p.Mode = "json_object" }, "compress": func(p *Params) { p.Compress = true },
		"rescue": func(p *Params) { p.Rescue = true }, "rescue_on_contradiction": func(p *Params) { p.RescueOnContradiction = true },
		"system": func(p *Params) { p.System = "s" }, "fallback": func(p *Params) { p.Fallback = true },
		"max_iterations": func(p *Params) { p.MaxIterations = 3 }, "final_retries": func(p *Params) { p.FinalRetries = new(0) },
		"batch": func(p *Params) { p.Batch.Size = 2 }, "plan": func(p *Params) { p.Plan.Steps = 2 },
	} {
		var p Params
		set(&p)
		for _, name := range strategy.Names() {
			_, err := New(name, p, nil)
			if slices.Contains(strategy.Of(name).Settings, setting) {
				require.NoError(t, err, "%s of %s", setting, name)
			} else {
				require.ErrorContains(t, err, "agent: strategy "+name+": "+setting+": agent "+name+" has no such setting; it is a setting of ")
			}
		}
		for _, settings := range [][]string{nil, {setting}} {
			_, err := New("mine", p, custom(settings))
			require.NoError(t, err, setting)
		}
		_, err := New("mine", p, custom([]string{}))
		require.ErrorContains(t, err, setting+": agent mine has no such setting")
	}
}

func TestCustomStrategies(t *testing.T) {
	all := map[string]Strategy{"none": {}, "two": {Info: strategy.Info{Profiles: []string{"b", "a"}}, Version: "two/1", New: newTools}, "tools": {New: newPlan}}
	for _, c := range []struct{ name, profile, err string }{
		{"none", "", "agent: strategy none: it cannot make a machine; set New"},
		{"two", "", ""}, {"two", "seed", ""}, {"two", "b", ""},
		{"two", "c", `agent: strategy two: unknown prompt profile "c"; known: a, b, seed`},
		{"tools", "any", ""},
	} {
		_, err := New(c.name, Params{Profile: c.profile}, all)
		if c.err == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.err)
		}
	}
	require.Equal(t, digest("two/1"), Digests("two", Params{}, all)["contract"])
	require.NotContains(t, Digests("two", Params{}, all), "prompt")
	require.Len(t, Digests("tools", Params{}, all), 1, "a custom strategy comes before a built-in one")
}

// TestPromptTemplate pins the templates, because a change makes every cassette stale. The test prints
// the new digest.
func TestPromptTemplate(t *testing.T) {
	require.Equal(t, promptDigest, Digests("contract", Params{}, nil)["prompt"])
}

const promptDigest = "cea9b801d9ebc1a538de5a4704bfebe7a8130daf254e22d14162e6010135eda2"
