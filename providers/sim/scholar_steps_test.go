package sim

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/plan"
)

// follow carries out a plan, step by step, as the agent does: each step is read anew
// from its instructions and the results it depends on.
func follow(t testing.TB, run runner, steps []planStep, inputs []handed) action {
	t.Helper()
	results := slices.Clone(inputs)
	work := func(instructions, schema string, tools []string, given []handed) (action, string) {
		if tools == nil {
			tools = []string{searchTool, openTool, extractTool, compareTool}
		}
		a, _ := inquireWith(t, run, prompt{request: instructions, given: given}, 50, tools)
		if schema == "" {
			return a, string(encodeJSON(a.message))
		}
		return a, string(encodeJSON(fill(json.RawMessage(schema), a)))
	}
	var last action
	for _, step := range steps {
		var given []handed
		for _, id := range step.DependsOn {
			at := slices.IndexFunc(results, func(h handed) bool { return h.name == id })
			require.GreaterOrEqual(t, at, 0, "%s needs %s", step.ID, id)
			given = append(given, results[at])
		}
		if step.Mode != "process" {
			var result string
			last, result = work(step.Instructions, step.OutputSchema, step.Tools, given)
			results = append(results, handed{step.ID, result})
			continue
		}
		require.Len(t, given, 1)
		items, ok := plan.Items(json.RawMessage(given[0].value))
		require.True(t, ok, given[0].value)
		list := []json.RawMessage{}
		for _, item := range items {
			text, err := plan.Fill(step.PerItemInstructions, item)
			require.NoError(t, err)
			_, result := work(text, step.PerItemSchema, step.Tools, []handed{{theItem, string(item)}})
			list = append(list, json.RawMessage(result))
		}
		results = append(results, handed{step.ID, string(encodeJSON(list))})
	}
	return last
}

// TestPlansAnswerEveryForm: the steps of a plan, each by itself, come to the answer.
func TestPlansAnswerEveryForm(t *testing.T) {
	for _, c := range questions {
		t.Run(c.request, func(t *testing.T) {
			steps := newScholar(careful(), prompt{request: c.request, tools: libraryTools()}).steps()
			require.Less(t, estimateTokens(string(encodeJSON(steps))), 380, "a plan must fit into an output")
			s := newShelf()
			a := follow(t, s.run, steps, nil)
			require.Equal(t, respond, a.kind, a.message)
			requireSays(t, a.message, c.want, c.not)
			requireNoRepeats(t, s)
		})
	}
}

// requireNoRepeats: no step looks up what an earlier one has found.
func requireNoRepeats(t *testing.T, s *shelf) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range s.calls {
		require.False(t, seen[c] && strings.HasPrefix(c, extractTool), "%s twice", c)
		seen[c] = true
	}
}

// TestStepsOfPlans: what depends on what.
func TestStepsOfPlans(t *testing.T) {
	given := []handed{{"lights", `["Ash Point","Bell Rock"]`}}
	for request, want := range map[string]string{
		"How tall is Ash Point?":                                                "answer()",
		"Which is taller, Ash Point or Bell Rock?":                              "ash_point() bell_rock() answer(ash_point,bell_rock)",
		"Which lighthouse on the north coast is the tallest?":                   "find() read*(find) answer(find,read)",
		"How many lighthouses are on the north coast?":                          "find() answer(find)",
		"Which coast has the higher average height, north or south?":            "find() read*(find) find_2() read_2*(find_2) answer(find,read,find_2,read_2)",
		"What is the total height of the lights by the designer of Bell Rock?":  "whose() find(whose) read*(find) answer(whose,find,read)",
		"For each of the lights given, tell its height.":                        "read*(lights) answer(read)",
		"Which tall lights on the north coast built before 1880 are automated?": "",
		"Please delete Ash Point.":                                              "answer()",
	} {
		t.Run(request, func(t *testing.T) {
			var got []string
			for _, s := range newScholar(careful(), prompt{request: request, tools: libraryTools(), given: given}).steps() {
				if s.Mode == "process" {
					s.ID += "*"
				}
				require.Regexp(t, regexp.MustCompile(`^[a-z][a-z0-9_]*\*?$`), s.ID)
				got = append(got, s.ID+"("+strings.Join(s.DependsOn, ",")+")")
			}
			if want != "" {
				require.Equal(t, want, strings.Join(got, " "))
			}
		})
	}
}

// Who carries out a step has not heard what was said before: the plan says it.
func TestScholarPlansWhatItRemembers(t *testing.T) {
	before := []exchange{{"Which lighthouse on the south coast is the tallest?", "Kestrel Head: height 62 metres."}}
	for request, field := range map[string]string{"And who designed it?": designerField, "And when was it built?": builtField} {
		steps := newScholar(careful(), prompt{request: request, earlier: before, tools: libraryTools()}).steps()
		require.Len(t, steps, 1, request)
		alone := newScholar(careful(), prompt{request: steps[0].Instructions, tools: libraryTools()}).study
		require.Equal(t, []string{"Kestrel Head"}, alone.names, request)
		require.Equal(t, []string{field}, alone.fields, request)
	}
	named := newScholar(careful(), prompt{request: "How tall is Alder Point?", earlier: before, tools: libraryTools()}).steps()
	require.Equal(t, "How tall is Alder Point?", named[0].Instructions)
}

// TestPlansOfNestedBests: a group told by the best of another; the last step finds the
// best once more, since nothing it is handed says which that was.
func TestPlansOfNestedBests(t *testing.T) {
	for request, want := range map[string]string{
		"How many lights were designed by the designer of the tallest light on the north coast?": "is 4",
		"How many lights were designed by the designer of the oldest light on the north coast?":  "is 4",
		"What is the average height of the lights by the designer of the newest light?":          "35.5 metres",
		"Which is the oldest light by the designer of the tallest light on the west coast?":      "Goat Bay|1864",
	} {
		t.Run(request, func(t *testing.T) {
			a, _ := inquire(t, newShelf().run, prompt{request: request}, 50)
			requireSays(t, a.message, want, "")
			s := newShelf()
			steps := newScholar(careful(), prompt{request: request, tools: libraryTools()}).steps()
			requireSays(t, follow(t, s.run, steps, nil).message, want, "")
		})
	}
}
