package drive

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// commands is a machine that issues its whole list at once and records the events that
// follow.
type commands struct {
	list []agent.Command
	log  []string
}

func (m *commands) Step(ev agent.Event) agent.Ready {
	note := func(id int, at time.Time) { m.log = append(m.log, fmt.Sprintf("%d@%v", id, at.Sub(start))) }
	switch ev := ev.(type) {
	case agent.Started:
		return agent.Ready{Commands: m.list}
	case agent.ToolReturned:
		note(ev.ID, ev.At)
	case agent.Waited:
		note(ev.ID, ev.At)
	case agent.UserReplied:
		note(ev.ID, ev.At)
	}
	if len(m.log) == len(m.list) {
		return agent.Ready{Commands: []agent.Command{agent.Finish{Status: agent.Answered}}}
	}
	return agent.Ready{}
}

var start = time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)

func toolCall(id, parent int, name string) agent.CallTool {
	return agent.CallTool{ID: id, Parent: parent, Call: tool.Call{Name: name, Args: json.RawMessage(`{"id":"1"}`)}}
}

// Pauses advance the virtual time and questions do not. Outcomes at the same time are
// in the order of their commands.
func TestDriveOrdersPausesQuestionsAndTools(t *testing.T) {
	m := &commands{list: []agent.Command{
		agent.Wait{ID: 1, For: 3 * time.Second},
		toolCall(2, 0, "today_range"),
		agent.AskUser{ID: 3, Question: "?"},
		agent.Wait{ID: 4, For: -time.Second},
		agent.Wait{ID: 6, Parent: 4, For: 2 * time.Second},
		toolCall(7, 6, "get_job_status"),
		agent.Wait{ID: 8, Parent: 7},
		agent.AskUser{ID: 9, Parent: 8, Question: "?"},
		toolCall(10, 9, "today_range"),
	}}
	e := testEpisodeWith(m, world.Spec{Kind: "counts", Maker: counts.Worlds()["counts"], State: []byte(`{"job_status":["done"]}`), Latency: map[string]time.Duration{"today_range": 3 * time.Second, "get_job_status": 2 * time.Second}})
	e.drive(context.Background())
	require.Equal(t, []string{"3@0s", "4@0s", "8@0s", "9@0s", "6@2s", "7@2s", "1@3s", "2@3s", "10@3s"}, m.log)
	require.Equal(t, agent.Answered, e.finish.Status)
	require.Equal(t, int32(0), e.rows.tools[0].Turn, "no turn asked for it")
	require.Empty(t, e.rows.tools[0].ParentActionID)
	require.Empty(t, e.rows.tools[1].ParentActionID, "nor did it lead to the pauses before the other")
	require.Equal(t, e.rows.tools[1].ActionID, e.rows.tools[2].ParentActionID, "a pause and a question have no row: what they followed is named")
}

// An outcome of a misnumbered command would reach the wrong command, or none.
func TestDriveRefusesMisnumberedCommands(t *testing.T) {
	for name, c := range map[string]struct {
		list []agent.Command
		want string
	}{
		"no number":           {[]agent.Command{agent.Wait{}}, "issued agent.Wait with id 0 and parent 0 after command 0"},
		"the same twice":      {[]agent.Command{agent.Wait{ID: 1}, toolCall(1, 0, "today_range")}, "issued agent.CallTool with id 1"},
		"backwards":           {[]agent.Command{agent.Wait{ID: 2}, agent.AskUser{ID: 1}}, "issued agent.AskUser with id 1"},
		"a parent to come":    {[]agent.Command{agent.CallModel{ID: 1, Parent: 1}}, "issued agent.CallModel with id 1 and parent 1"},
		"a parent below none": {[]agent.Command{agent.Wait{ID: 1, Parent: -1}}, "parent -1"},
		"after the end":       {[]agent.Command{agent.Finish{Status: agent.Answered}, agent.Wait{ID: 1}}, "issued agent.Wait after Finish"},
		"without end":         {[]agent.Command{agent.Wait{ID: maxCommands + 1}}, "let its budgets end it"},
		"of another kind":     {[]agent.Command{&agent.Finish{}}, "*agent.Finish"},
	} {
		t.Run(name, func(t *testing.T) {
			e := testEpisodeWith(&commands{list: c.list}, world.Spec{})
			e.drive(context.Background())
			require.Equal(t, agent.Failed, e.finish.Status)
			require.ErrorContains(t, e.finish.Err, c.want)
		})
	}
}

// ignoresStop continues after the run was stopped.
type ignoresStop struct{ finish bool }

func (c ignoresStop) Step(ev agent.Event) agent.Ready {
	if _, stop := ev.(agent.Cancelled); stop && c.finish {
		return agent.Ready{Commands: []agent.Command{agent.Finish{Status: agent.Answered}}}
	}
	return agent.Ready{Commands: []agent.Command{agent.AskUser{ID: 1}}}
}

func TestDriveEndsAMachineThatIgnoresTheStop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, finish := range []bool{true, false} {
		e := testEpisodeWith(ignoresStop{finish}, world.Spec{})
		e.drive(ctx)
		require.Equal(t, agent.Interrupted, e.finish.Status)
	}
}

// Checks use the decisions of the machine. They ignore calls that failed or came too
// late, and summaries.
func TestOutcomeCountsDecisions(t *testing.T) {
	good := ledger.Turn{ValidJSON: true, Actionable: true, ContractValid: true}
	row := func(base ledger.Turn, role, kind, failed string) ledger.Turn {
		base.Role, base.Kind, base.ErrorKind = role, kind, failed
		return base
	}
	b := rowBuilder{Planned: &Planned{}, turns: []ledger.Turn{
		row(ledger.Turn{}, turn.RoleMain, turn.KindAct, "overloaded"),
		row(good, turn.RoleFallback, turn.KindAct, ""),
		row(ledger.Turn{}, turn.RoleCompress, turn.KindCompress, ""),
		row(good, turn.RolePlanner, turn.KindPlan, ""),
		row(ledger.Turn{}, turn.RoleStep, turn.KindAct, episode.KindAbandoned),
	}}
	o := b.outcome(agent.Finish{Status: agent.Answered}, start)
	require.Equal(t, 5, o.ModelCalls)
	require.Equal(t, 2, o.ValidRaw)
	require.Zero(t, o.Violations)
	require.True(t, o.AllTurnsValidJSON)
	b.turns = append(b.turns, row(ledger.Turn{}, turn.RoleStep, turn.KindAct, ""))
	o = b.outcome(agent.Finish{Status: agent.Answered}, start)
	require.Equal(t, 1, o.Violations)
	require.False(t, o.AllTurnsValidJSON)
}

// Refused calls and their reasons are counted from the rows. The requested calls, and
// whether they went in a cycle, come from the judgements.
func TestOutcomeCountsRefusals(t *testing.T) {
	wanted := tool.Call{Name: "delete_all", Args: []byte("{}")}
	b := rowBuilder{Planned: &Planned{}, tools: []ledger.ToolCall{
		{Outcome: "ok"}, {Outcome: "rejected", ErrorCode: "E_ARGS"}, {Outcome: "rejected", ErrorCode: "E_BUDGET"}, {Outcome: "rejected", ErrorCode: "E_BUDGET"},
		{Outcome: "error", ErrorCode: "E_BUDGET"}, {Outcome: "error", ErrorCode: "E_CIRCUIT_OPEN", CircuitOpen: true}, {Outcome: "timeout"}, {Outcome: "ok", Deduped: true},
	}}
	var turn ledger.Turn
	for _, j := range []agent.Judgement{{Thrash: true, Cycle: true}, {Thrash: true}, {Asked: []tool.Call{wanted}}} {
		b.judge(&turn, agent.Ready{Judgement: &j})
	}
	o := b.outcome(agent.Finish{Status: agent.Answered}, start)
	require.Equal(t, []int{3, 2, 1, 1, 1}, []int{o.RejectedCalls, o.BudgetRefusals, o.CircuitOpen, o.DedupeHits, o.CycleEvents})
	require.Equal(t, []tool.Call{wanted}, o.Asked)
}
