package load

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens/human"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/world"
)

// suiteWithHuman is a suite whose tool drop asks, and its one task has these fields, too.
func suiteWithHuman(fields string) string {
	return "name: demo\nworlds: {w: {kind: cautious}}\ndefaults: {world: w}\ntools:\n- {name: drop}\ntasks:\n- id: A\n  request: Drop\n" + fields + "  expect: {status: answered, matches: ['\\S']}\n"
}

func TestLoadHuman(t *testing.T) {
	text := suiteWithHuman("  human: [{when: {tool: drop}, say: approve}, {when: {tool: plan}, say: deny}]\n  messages: [more, {text: stop that, on: background}]\n")
	s, err := Suite(suitetest.Folder(text), "s", map[string]world.Kind{"cautious": cautious{}})
	require.NoError(t, err)
	require.Equal(t, []human.Rule{{When: human.When{Tool: "drop"}, Say: person.Approve}, {When: human.When{Tool: "plan"}, Say: person.Deny}}, s.Tasks[0].Human)
	require.Equal(t, []human.Message{{Text: "more", At: human.Idle}, {Text: "stop that", At: human.Background}}, s.Tasks[0].Messages)
	require.Equal(t, []string{strategy.CanThread}, s.Tasks[0].Requires, "only a strategy that takes messages can solve it")

	other, err := Suite(suitetest.Folder(suiteWithHuman("  human: [{when: {tool: drop}, say: approve, after: 1s}]\n")), "s", map[string]world.Kind{"cautious": cautious{}})
	require.NoError(t, err)
	require.Equal(t, time.Second, other.Tasks[0].Human[0].After)
	require.NotEqual(t, s.TaskParts(s.Tasks[0]).World, other.TaskParts(other.Tasks[0]).World)
}

func TestLoadHumanProblems(t *testing.T) {
	for fields, want := range map[string]string{
		"  human: [{when: {tool: drp}, say: approve}]\n":                `human[0]: this rule can never match: there is no tool "drp" (did you mean drop?); there are: drop`,
		"  human: [{say: deny}]\n  approvals: [approve]\n":              "human: human answers in place of replies and approvals; remove those",
		"  human: [{say: deny}, {when: {kind: approval}, say: deny}]\n": "human[1]: this rule can never match: the rule on line 9 answers all that it would; put this one before it",
		"  messages: []\n":                       "messages: must have 1 to 50 messages, but has 0",
		"  messages: [{text: a, after: noon}]\n": "messages[0].after: must be a duration",
	} {
		_, err := Suite(suitetest.Folder(suiteWithHuman(fields)), "s", map[string]world.Kind{"cautious": cautious{}})
		require.ErrorContains(t, err, want)
	}
	text := "name: demo\nworlds: {w: {kind: cautious}}\ndefaults: {world: w}\ntools:\n- {name: drop, approve: always}\ntasks:\n- {id: A, request: Drop, human: [{when: {tool: drop}, say: approve}], expect: {status: answered, matches: ['\\S']}}\n"
	_, err := Suite(suitetest.Folder(text), "s", map[string]world.Kind{"cautious": cautious{}})
	require.ErrorContains(t, err, "calls of drop are not asked about; write approve: ask at the tool")
}

// A world has rules for people, too: those of the task come first, then those of its world, then
// those of the world that it starts from. A task with replies or approvals has neither.
func TestLoadHumanOfWorlds(t *testing.T) {
	text := func(world, task string) string {
		return "name: demo\nworlds:\n  base: {kind: cautious, human: [{when: {tool: drop}, say: deny}]}\n  w: {from: base" + world + "}\ndefaults: {world: w}\ntools:\n- {name: drop}\ntasks:\n- {id: A, request: Drop, " + task + "expect: {status: answered, matches: ['\\S']}}\n"
	}
	kinds := map[string]world.Kind{"cautious": cautious{}}
	deny, approve := human.Rule{When: human.When{Tool: "drop"}, Say: person.Deny}, human.Rule{When: human.When{Tool: "drop", Nth: 1}, Say: person.Approve}
	plan := human.Rule{When: human.When{Tool: "plan"}, Say: person.Approve}
	for _, c := range []struct {
		world, task string
		want        []human.Rule
	}{
		{"", "", []human.Rule{deny}},
		{", human: [{when: {tool: plan}, say: approve}]", "", []human.Rule{plan, deny}},
		{", human: [{when: {tool: plan}, say: approve}]", "human: [{when: {tool: drop, nth: 1}, say: approve}], ", []human.Rule{approve, plan, deny}},
		{"", "approvals: [approve], ", nil},
	} {
		s, err := Suite(suitetest.Folder(text(c.world, c.task)), "s", kinds)
		require.NoError(t, err)
		require.Equal(t, c.want, s.Tasks[0].Human)
	}
	for world, want := range map[string]string{
		", human: [{when: {tool: drp}, say: approve}]":                 `worlds.w.human[0]: this rule can never match: there is no tool "drp" (did you mean drop?)`,
		", human: [{when: {kind: plan_review}, say: select, text: x}]": "worlds.w.human[0]: this rule can never match: a request of kind plan_review takes",
	} {
		_, err := Suite(suitetest.Folder(text(world, "")), "s", kinds)
		require.ErrorContains(t, err, want)
	}
}
