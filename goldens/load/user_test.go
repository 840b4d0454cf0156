package load

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/persona"
)

func TestUser(t *testing.T) {
	task := func(user string) string {
		return suitetest.Head + "tasks: [{id: A, request: Hi, user: " + user + ", expect: {status: answered, contains_any: [xylophone]}}]\n"
	}
	text := task(`{persona: In a hurry., goal: A refund., turns: 3, facts: {order: O7, reason: {value: It broke., asked: [why]}}, model: {provider: sim-openai, model: sim-oracle, max_tokens: 50}}`)
	s, err := Suite(suitetest.Folder(text), "s", suitetest.Worlds())
	require.NoError(t, err)
	require.NoError(t, compiledSchema(t).Validate(asJSON(t, []byte(text))))
	user := s.Tasks[0].User
	require.Equal(t, &persona.User{
		Persona: "In a hurry.", Goal: "A refund.", Turns: 3, Facts: []persona.Fact{{Name: "order", Value: "O7"}, {Name: "reason", Value: "It broke.", Asked: []string{"why"}}},
		Model: helper.Model{Name: "user", Provider: "sim-openai", Model: "sim-oracle", MaxTokens: new(50)},
	}, user)
	require.Equal(t, []helper.Helper{user.Helper()}, s.Tasks[0].Helpers())
	require.Equal(t, []string{strategy.CanAsk}, s.Tasks[0].Requires)
	require.NotContains(t, user.Prompt(), "xylophone", "no expectation is in the prompt")
	other, err := Suite(suitetest.Folder(task(`{persona: In a hurry., goal: Another cup., turns: 3, model: {provider: sim-openai, model: sim-oracle}}`)), "s", suitetest.Worlds())
	require.NoError(t, err)
	require.NotEqual(t, s.Digest, other.Digest)
	require.NotEqual(t, s.TaskParts(s.Tasks[0]).World, other.TaskParts(other.Tasks[0]).World)

	const model = "model: {provider: p, model: m}"
	for name, c := range map[string]struct{ user, want string }{
		"nothing":     {"{}", "tasks[0].user.persona: is missing"},
		"no model":    {"{persona: x, goal: y}", "tasks[0].user.model: is missing"},
		"half":        {"{persona: x, goal: y, model: {provider: p}}", "tasks[0].user.model.model: is missing"},
		"turns":       {"{persona: x, goal: y, turns: 0, " + model + "}", "tasks[0].user.turns: must be"},
		"fact name":   {"{persona: x, goal: y, facts: {a b: c}, " + model + "}", `may hold only`},
		"fact":        {`{persona: x, goal: y, facts: {a: "b\nc"}, ` + model + "}", "one line"},
		"fact empty":  {"{persona: x, goal: y, facts: {a: {asked: [b]}}, " + model + "}", "value: is missing"},
		"a name":      {"{persona: x, goal: y, model: {name: n, provider: p, model: m}}", "unknown field"},
		"and replies": {"{persona: x, goal: y, " + model + "}, replies: [Yes]", "user answers in place of replies; remove those"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Suite(suitetest.Folder(task(c.user)), "s", suitetest.Worlds())
			require.ErrorContains(t, err, c.want)
		})
	}
}
