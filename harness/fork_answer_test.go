package harness_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/work"
)

// patient is the contract agent, but its calls wait for a person.
type patient struct{ agent.Machine }

func (m patient) Step(ev agent.Event) agent.Ready {
	r := m.Machine.Step(ev)
	for i, c := range r.Commands {
		if call, ok := c.(agent.CallTool); ok {
			call.Suspend = true
			r.Commands[i] = call
		}
	}
	return r
}

// patience are the strategies of tests with suspended episodes.
var patience = map[string]agent.Strategy{"patient": {Version: "patient/1", New: func(p agent.Params) (agent.Machine, error) {
	m, err := agent.New(strategy.Contract, p, nil)
	return patient{m}, err
}}}

// An episode that awaits input is continued with an answer: its turns are replayed, none is
// asked again, and the answer decides about the call.
func TestForkAnswersWhatIsAwaited(t *testing.T) {
	for answer, c := range map[string]struct {
		outcome, name string
		said          []string
		executed      bool
	}{
		"approve":        {"ok", "a.fork-a-1-approve", []string{"approve", ""}, true},
		"deny":           {"rejected", "a.fork-a-1-deny", []string{"deny", ""}, false},
		"answer: go on":  {"ok", "", []string{"answer", "go on"}, true},
		"feedback: none": {"rejected", "", []string{"feedback", "none"}, false},
	} {
		t.Run(answer, func(t *testing.T) {
			voice := &script{outputs: map[string][]string{"a": {job("7"), say("respond", `"message":"Done."`)}}}
			o := ownFork(t, "approve: ask, ", "", goldens.Candidate{Agent: "patient"}, goldens.Candidate{}, 1, voice)
			o.Select.Candidates, o.Fork = nil, &harness.Fork{Task: "T", Candidate: "a", Answer: answer}
			rows := forked(t, o)
			require.Equal(t, []string{"a 400"}, voice.asked, "one turn after the answer; the recorded one is not asked again")
			ep := rows.Episodes[0]
			require.Equal(t, "answered", ep.Status)
			require.Len(t, rows.Turns, 2)
			require.Equal(t, []bool{true, false}, []bool{rows.Turns[0].Replayed, rows.Turns[1].Replayed})
			require.Equal(t, c.outcome, rows.ToolCalls[0].Outcome)
			require.Equal(t, c.executed, rows.ToolCalls[0].Executed)
			require.Equal(t, []work.Request{{Tool: "get_job_status", Kind: "approval", Severity: "info", Message: `Allow get_job_status with arguments {"id":"7"}?`, Say: c.said[0], Text: c.said[1], TsAsked: ep.Requests[0].TsAsked}}, ep.Requests)
			if c.name != "" {
				require.Equal(t, c.name, ep.Candidate)
			}
		})
	}
}

// Without an answer the episode ends, says what it awaits, and can be continued. An episode
// that awaits nothing cannot be.
func TestEpisodeAwaitsInput(t *testing.T) {
	voice := &script{outputs: map[string][]string{"a": {job("7"), job("7")}}}
	o := ownFork(t, "approve: ask, ", "", goldens.Candidate{Agent: "patient"}, goldens.Candidate{}, 1, voice)
	o.Fork, o.Select.Candidates = nil, []string{"a"}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	ep := rowsOf(t, res).Episodes[0]
	require.Equal(t, "awaiting_input", ep.Status)
	require.Contains(t, ep.Answer, "get_job_status (approval, info)")
	require.Empty(t, ep.Requests[0].Say)

	voice = &script{outputs: map[string][]string{"a": {say("respond", `"message":"Done."`)}}}
	o = ownFork(t, "", "", goldens.Candidate{Agent: "patient"}, goldens.Candidate{}, 1, voice)
	o.Select.Candidates, o.Fork = nil, &harness.Fork{Task: "T", Candidate: "a", Answer: "approve"}
	_, err = harness.Run(context.Background(), o)
	require.ErrorContains(t, err, "fork T/a/1@approve: the episode ended with status answered, so it awaits no answer; continue it from a turn")
}

func TestParseForkWithAnswer(t *testing.T) {
	for text, want := range map[string]string{"T/a@approve": "T/a/1@approve", "T/a/2@answer:the second one": "T/a/2@answer:the second one"} {
		f, err := harness.ParseFork(text)
		require.NoError(t, err)
		require.Equal(t, want, f.String())
	}
	for _, text := range []string{"T/a@maybe", "T/a@answer", "T/a@approve:x"} {
		_, err := harness.ParseFork(text)
		require.ErrorContains(t, err, "@approve, @deny or @answer:TEXT")
	}
}
