package drive

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/human"
	"github.com/cupel-eval/cupel/goldens/world"
)

// asking is a machine that issues commands by the number of the event, and records events.
type asking struct {
	steps      map[int][]agent.Command
	background int // the event that starts a task in the background
	events     int
	log        []string
}

func (m *asking) Step(ev agent.Event) agent.Ready {
	note := func(id int, at time.Time, what string) {
		m.log = append(m.log, fmt.Sprintf("%d@%v %s", id, at.Sub(start), what))
	}
	switch ev := ev.(type) {
	case agent.ToolReturned:
		note(ev.ID, ev.At, string(ev.Result.Outcome)+ev.Result.Code)
	case agent.Waited:
		note(ev.ID, ev.At, "waited")
	case agent.UserReplied:
		note(ev.ID, ev.At, ev.Answer.Say+" "+ev.Text+map[bool]string{true: "(silent)"}[ev.Silent])
	case agent.UserSaid:
		note(ev.ID, ev.At, ev.Text)
	}
	r := agent.Ready{Commands: m.steps[m.events], Background: m.background > 0 && m.events == m.background}
	m.events++
	return r
}

// approved is an episode whose tool today_range asks for approval, with a scripted human.
func approved(m agent.Machine, approval goldens.Approval, rules []human.Rule, messages ...human.Message) *driver {
	e := testEpisodeWith(m, world.Spec{Kind: "counts", Maker: counts.Worlds()["counts"], State: []byte(`{"job_status":["done"]}`)})
	e.Suite.Approvals = map[string]goldens.Approval{"today_range": approval}
	e.Task.Human, e.Task.Messages = rules, messages
	return e
}

var finish = agent.Finish{Status: agent.Answered}

func suspended(c agent.CallTool) agent.CallTool {
	c.Suspend, c.Agent = true, "bg_1"
	return c
}

// Rules decide about calls, at a later virtual time if they say so; other commands go on.
func TestScriptedHumanDecidesAboutCalls(t *testing.T) {
	for name, c := range map[string]struct {
		rules []human.Rule
		log   []string
		wait  time.Duration
		say   string
	}{
		"approved":        {[]human.Rule{{Say: person.Approve}}, []string{"1@0s ok", "2@1s waited"}, 0, person.Approve},
		"approved later":  {[]human.Rule{{Say: person.Approve, After: time.Minute}}, []string{"2@1s waited", "1@1m0s ok"}, time.Minute, person.Approve},
		"denied":          {[]human.Rule{{Say: person.Deny}}, []string{"1@0s rejectedE_DENIED", "2@1s waited"}, 0, person.Deny},
		"of another tool": {[]human.Rule{{When: human.When{Tool: "x"}, Say: person.Approve}}, []string{"1@0s rejectedE_DENIED", "2@1s waited"}, 0, ""},
		"by arguments":    {[]human.Rule{{When: human.When{Args: map[string]any{"id": "2"}}, Say: person.Deny}, {Say: person.Approve}}, []string{"1@0s ok", "2@1s waited"}, 0, person.Approve},
	} {
		t.Run(name, func(t *testing.T) {
			m := &asking{steps: map[int][]agent.Command{0: {toolCall(1, 0, "today_range"), agent.Wait{ID: 2, For: time.Second}}, 2: {finish}}}
			e := approved(m, goldens.ApproveAsk, c.rules)
			e.drive(context.Background())
			require.NoError(t, e.finish.Err)
			require.Equal(t, c.log, m.log)
			require.Len(t, e.rows.requests, 1)
			got := e.rows.requests[0]
			require.Equal(t, []any{"today_range", person.Approval, person.Info, c.say, c.wait.Microseconds()}, []any{got.Tool, got.Kind, got.Severity, got.Say, got.WaitUs})
		})
	}
}

// A request that nobody answers stays open while other commands go on. Then the episode ends
// with what is awaited, or a fork continues it with an answer.
func TestSuspendedRequestsAreAwaited(t *testing.T) {
	review := agent.AskUser{ID: 3, Suspend: true, Request: &person.Request{Tool: "plan", Kind: person.PlanReview, Severity: person.Info, Message: "Two tasks"}}
	for name, c := range map[string]struct {
		answer *person.Answer
		log    []string
	}{
		"nobody":   {nil, []string{"2@1s waited"}},
		"approve":  {&person.Answer{Say: person.Approve}, []string{"2@1s waited", "1@1s ok", "3@1s approve "}},
		"deny":     {&person.Answer{Say: person.Deny}, []string{"2@1s waited", "1@1s rejectedE_DENIED", "3@1s deny "}},
		"feedback": {&person.Answer{Say: person.Feedback, Text: "smaller"}, []string{"2@1s waited", "1@1s rejectedE_DENIED", "3@1s feedback smaller"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &asking{steps: map[int][]agent.Command{0: {suspended(toolCall(1, 0, "today_range")), agent.Wait{ID: 2, For: time.Second}, review}, 3: {finish}}}
			e := approved(m, goldens.ApproveAsk, nil)
			if c.answer != nil {
				e.Fork = &Past{Answer: c.answer}
			}
			e.drive(context.Background())
			require.NoError(t, e.finish.Err)
			require.Equal(t, c.log, m.log)
			require.Equal(t, "bg_1", e.rows.requests[0].SubAgent)
			if c.answer == nil {
				require.Equal(t, agent.AwaitingInput, e.finish.Status)
				require.Equal(t, "Awaiting input:\ntoday_range (approval, info): Allow today_range with arguments {\"id\":\"1\"}?\nplan (plan_review, info): Two tasks", e.finish.Answer)
				return
			}
			require.Equal(t, agent.Answered, e.finish.Status)
			require.Equal(t, c.answer.Say, e.rows.requests[1].Say)
		})
	}
}

// The approvals and replies of a task answer where it has no rules.
func TestSuspendedRequestsTakeTheTasksApprovals(t *testing.T) {
	m := &asking{steps: map[int][]agent.Command{0: {suspended(toolCall(1, 0, "today_range"))}, 1: {suspended(toolCall(2, 0, "today_range"))}}}
	e := approved(m, goldens.ApproveAsk, nil)
	e.Task.Approvals = []bool{true}
	e.world, _ = goldens.OpenWorld(context.Background(), e.Task, 1)
	e.drive(context.Background())
	require.Equal(t, []string{"1@0s ok"}, m.log)
	require.Equal(t, agent.AwaitingInput, e.finish.Status)
}

// Messages come when the machine is idle, at their time, and when a task starts in the
// background. A machine that listens without one is told so.
func TestMessagesOfAThread(t *testing.T) {
	m := &asking{background: 1, steps: map[int][]agent.Command{
		0: {agent.Wait{ID: 1, For: time.Second}},
		1: {agent.Wait{ID: 2, For: 2 * time.Second}}, // starts a task in the background
		4: {agent.Listen{ID: 3}},
		5: {agent.Listen{ID: 4, Parent: 3}},
		6: {agent.Listen{ID: 5, Parent: 4}},
		7: {finish},
	}}
	e := approved(m, goldens.ApproveAlways, nil,
		human.Message{Text: "first", At: human.Idle}, human.Message{Text: "early", At: human.After, After: 2 * time.Second},
		human.Message{Text: "stop that", At: human.Background}, human.Message{Text: "late", At: human.After, After: time.Minute},
		human.Message{Text: "never sent", At: human.Background})
	e.drive(context.Background())
	require.NoError(t, e.finish.Err)
	require.Equal(t, []string{"1@1s waited", "0@1s stop that", "0@2s early", "2@3s waited", "3@3s first", "4@1m0s late", "5@1m0s  (silent)"}, m.log)
}

// A machine that waits for a person hears a message that is due.
func TestMessagesComeWhileARequestIsOpen(t *testing.T) {
	m := &asking{steps: map[int][]agent.Command{0: {suspended(toolCall(1, 0, "today_range"))}, 1: {finish}}}
	e := approved(m, goldens.ApproveAsk, nil, human.Message{Text: "never mind", At: human.After, After: time.Hour})
	e.drive(context.Background())
	require.Equal(t, []string{"0@1h0m0s never mind"}, m.log)
	require.Equal(t, agent.Answered, e.finish.Status)
}

// What a person allows for a host or for all hosts is not asked again.
func TestHostAccessIsAskedOnce(t *testing.T) {
	fetch := func(id int, url string) agent.Command {
		return agent.CallTool{ID: id, Call: tool.Call{Name: "fetch-url", Args: json.RawMessage(`{"url":"` + url + `"}`)}}
	}
	for say, want := range map[string]int{"once": 4, "host": 3, "all": 1} {
		m := &asking{steps: map[int][]agent.Command{0: {fetch(1, "https://a.example/1"), fetch(2, "https://A.example/2"), fetch(3, "https://b.example"), fetch(4, "::")}, 4: {finish}}}
		e := approved(m, goldens.ApproveAlways, []human.Rule{{When: human.When{Kind: person.HostAccess}, Say: person.Select, Text: say}})
		e.Suite.Approvals["fetch-url"] = goldens.ApproveAsk
		var err error
		e.Params.Tools, err = tool.NewSet([]tool.Spec{{Name: "fetch-url", Schema: json.RawMessage(`{}`), Severity: person.Warning}})
		require.NoError(t, err)
		e.drive(context.Background())
		require.Len(t, e.rows.requests, want, say)
		require.Equal(t, person.Warning, e.rows.requests[0].Severity)
	}
}

// A tool that is blocked is refused without asking, and one that is skipped with another code
// than a denial.
func TestBlockedAndSkippedCalls(t *testing.T) {
	for code, c := range map[string]struct {
		spec     tool.Spec
		approval goldens.Approval
	}{
		"E_FORBIDDEN": {tool.Spec{Name: "setup-credentials"}, goldens.ApproveNever},
		"E_BLOCKED":   {tool.Spec{Name: "setup-credentials", Approval: "never"}, goldens.ApproveNever},
		"E_SKIPPED":   {tool.Spec{Name: "setup-credentials"}, goldens.ApproveAsk},
	} {
		m := &asking{steps: map[int][]agent.Command{0: {toolCall(1, 0, "setup-credentials")}, 1: {finish}}}
		e := approved(m, goldens.ApproveAlways, []human.Rule{{Say: person.Skip}})
		e.Suite.Approvals[c.spec.Name] = c.approval
		c.spec.Schema = json.RawMessage(`{}`)
		var err error
		e.Params.Tools, err = tool.NewSet([]tool.Spec{c.spec})
		require.NoError(t, err)
		e.drive(context.Background())
		require.Equal(t, []string{"1@0s rejected" + code}, m.log)
	}
}
