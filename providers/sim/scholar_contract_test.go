package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/research"
)

const libraryToolsText = `TOOLS (strict JSON Schemas):
1) search: Finds records.
schema = {"type":"object"}
2) open: Returns a text.
schema = {"type":"object"}
3) extract: Returns a field.
schema = {"type":"object"}
4) compare: Puts numbers in order.
schema = {"type":"object"}
`

// contractLoop works on a request by the contract: the prompt is made anew every turn
// and shows three results in full, eight folded ones and 600 characters of the plan.
func contractLoop(t testing.TB, ask talker, request string, replies []string, run runner) (contractTurn, int) {
	t.Helper()
	p := &pad{request: request, maxSteps: 60, maxCalls: 60}
	for p.steps < p.maxSteps {
		var turn contractTurn
		raw := ask(strings.Replace(p.prompt(), testTools, libraryToolsText, 1))
		require.NoError(t, json.Unmarshal([]byte(raw), &turn), raw)
		p.steps++
		p.plan = head(turn.StateUpdate.Plan, 600)
		a := turn.NextAction
		switch {
		case a.Type == clarify && len(replies) > 0:
			p.observe(fmt.Sprintf("user reply: turn %d asked <data>%s</data> answered <data>%s</data>", p.steps, a.Message, replies[0]))
			replies = replies[1:]
		case a.Type != useTool:
			return turn, p.steps
		default:
			args, err := json.Marshal(a.Args)
			require.NoError(t, err)
			p.calls++
			verdict, data := run(a.Name, string(args))
			p.observe(fmt.Sprintf("tool result: turn %d %s %s -> %s <data>%s</data>", p.steps, a.Name, head(string(args), 300), verdict, head(data, 600)))
		}
		for i, line := range p.progress {
			p.progress[i] = head(line, max(160, 160+utf8.RuneCountInString(line)-len(line)))
		}
		p.progress = p.progress[max(0, len(p.progress)-8):]
	}
	require.Fail(t, "no end", request)
	return contractTurn{}, 0
}

// TestContractAnswersEveryForm: one action a turn, and only the scratchpad to remember
// by.
func TestContractAnswersEveryForm(t *testing.T) {
	for _, c := range questions {
		t.Run(c.request, func(t *testing.T) {
			s := newShelf()
			turn, _ := contractLoop(t, flawless("sim-strong"), c.request, nil, s.run)
			require.Equal(t, respond, turn.NextAction.Type)
			require.True(t, turn.Control.Done)
			requireSays(t, turn.NextAction.Message, c.want, c.not)
			requireNoRepeats(t, s)
		})
	}
}

// TestContractSolvesResearch: every task of the suite whose answer is a text.
func TestContractSolvesResearch(t *testing.T) {
	suite, err := load.Suite(research.FS, "research", research.Worlds())
	require.NoError(t, err)
	most := 0
	for _, task := range suite.Tasks {
		if task.AnswerSchema != nil || task.Inputs != nil {
			continue // the contract knows neither
		}
		t.Run(task.ID, func(t *testing.T) {
			w := newTaskWorld(t, task)
			turn, steps := contractLoop(t, flawless("sim-strong"), task.Request, task.Replies, w.run)
			o := w.outcome(turn.NextAction.Message, turn.Control.Reason == "cannot_proceed")
			o.Steps = steps
			if len(task.Replies) > 0 {
				o.Status, o.Clarifies = "answered_after_clarify", 1
			}
			solved, checks := goldens.Score(task, o)
			require.True(t, solved, "%s\n%q\n%+v", task.Request, o.Answer, checks)
			most = max(most, steps)
		})
	}
	t.Logf("at most %d steps", most)
}
