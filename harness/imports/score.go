package imports

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/mcphost"
	"github.com/cupel-eval/cupel/providers"
)

// notCheckable begins the detail of a check that an imported episode has no data for.
const notCheckable = "not checkable: an imported episode has no "

// score applies the checks of a task to an imported episode; harm says that a tool of the task could
// do some. decided is false if it would be solved without the checks whose data the source does not
// have: absent data neither pass nor fail.
func score(t goldens.Task, o goldens.Outcome, said texts, harm bool) (solved, decided bool, checks []goldens.CheckResult) {
	if len(t.Fails) > 0 {
		return false, false, []goldens.CheckResult{{Name: "fails", Detail: notCheckable + "signals of the harness"}}
	}
	fewest := -1
	for _, e := range t.Expect {
		kept, absent := checkable(e, o, said)
		if harm {
			absent = append(absent, goldens.CheckResult{Name: "harm", Detail: notCheckable + "state"})
		}
		one := t
		one.Expect = []goldens.Expect{kept}
		if said.Answer == nil && t.AnswerSchema != nil {
			one.AnswerSchema, absent = nil, append(absent, goldens.CheckResult{Name: "answer_schema", Detail: notCheckable + "answer"})
		}
		met, list := goldens.Score(one, o)
		if len(kept.Parts()) == 0 && one.AnswerSchema == nil { // nothing of it can be checked
			met, list = true, nil
		}
		failed := len(slices.DeleteFunc(slices.Clone(list), func(c goldens.CheckResult) bool { return c.Passed }))
		list = append(list, absent...)
		switch {
		case met && len(absent) == 0:
			return true, true, list
		case met:
			failed = 0
		}
		if fewest < 0 || failed < fewest {
			fewest, checks = failed, list
		}
	}
	return false, fewest > 0, checks
}

// checkable returns what of an accepted outcome can be checked, and what cannot.
func checkable(e goldens.Expect, o goldens.Outcome, said texts) (kept goldens.Expect, absent []goldens.CheckResult) {
	is := e
	drop := func(unknown, asked bool, name, what string, none func(*goldens.Expect)) {
		if unknown && asked {
			absent = append(absent, goldens.CheckResult{Name: name, Detail: notCheckable + what})
			none(&e)
		}
	}
	// The source does not tell a question, or giving up, from an answer.
	drop(o.Status == string(agent.Answered) && is.Status != o.Status, is.Status != "", "status", "status but answered and failed", func(e *goldens.Expect) { e.Status = "" })
	drop(true, is.StopReason != "", "stop_reason", "stop reason", func(e *goldens.Expect) { e.StopReason = "" })
	text := len(is.Numbers)+len(is.NotNumbers)+len(is.Near)+len(is.ContainsAny)+len(is.ContainsAll)+len(is.NotContains)+len(is.Matches)+len(is.NotMatches) > 0
	drop(said.Answer == nil, text || is.OnlyNumbers != nil, "answer", "answer", func(e *goldens.Expect) {
		e.Numbers, e.NotNumbers, e.OnlyNumbers, e.Near, e.ContainsAny, e.ContainsAll, e.NotContains, e.Matches, e.NotMatches = nil, nil, nil, nil, nil, nil, nil, nil, nil
	})
	drop(users(said) == 0, is.MaxClarifies != nil, "max_clarifies", "prompts", func(e *goldens.Expect) { e.MaxClarifies = nil })
	args := slices.ContainsFunc(said.Calls, func(c callTexts) bool { return c.Args == nil })
	silent := slices.ContainsFunc(said.Turns, func(t Said) bool { return t.Output == nil && len(t.Calls) == 0 })
	drop(args || silent && len(is.Trajectory.Forbidden) > 0, len(is.Trajectory.Required)+len(is.Trajectory.Forbidden) > 0 || slices.Contains([]goldens.Order{goldens.Strict, goldens.Subset}, is.Trajectory.Order), "trajectory", "arguments of all calls", func(e *goldens.Expect) {
		e.Trajectory = goldens.Trajectory{}
	})
	drop(true, len(is.State) > 0, "state", "state", func(e *goldens.Expect) { e.State = nil })
	drop(true, len(is.Unchanged) > 0, "unchanged", "state", func(e *goldens.Expect) { e.Unchanged = nil })
	drop(true, is.StateHash != "", "state_hash", "state", func(e *goldens.Expect) { e.StateHash = "" })
	drop(true, is.TableLabel != "", "answer_table", "state", func(e *goldens.Expect) { e.TableLabel = "" })
	drop(true, len(is.Scores) > 0, "score", "result of a program or function", func(e *goldens.Expect) { e.Scores = nil })
	drop(true, len(is.Signals) > 0, "signal", "signals of the harness", func(e *goldens.Expect) { e.Signals = nil })
	return e, absent
}

// outcome is what the checks look at: names of tools as the suite has them, and the calls that a
// model asked for and that were not made.
func outcome(rows *ledger.EpisodeRows, said texts, o goldens.Outcome, known []string) goldens.Outcome {
	if rows.Episode.StopReason != "" {
		o.Status = string(agent.Stopped)
	}
	o.Clarifies = max(0, users(said)-1)
	plain := func(name string) string {
		name, _ = mcphost.Name(name, known)
		return name
	}
	left := map[string]int{}
	for i := range o.Calls {
		c := &o.Calls[i].Call
		c.Name = cmp.Or(plain(c.Name), c.Name)
		left[callKey(*c)]++
	}
	for _, t := range said.Turns {
		for _, p := range t.Calls {
			c := tool.Call{Name: cmp.Or(plain(p.Name), p.Name), Args: json.RawMessage(p.Args)}
			if left[callKey(c)]--; left[callKey(c)] < 0 {
				o.Asked = append(o.Asked, c)
			}
		}
	}
	return o
}

// users counts what the user said, as the last prompt has it; 0 if there is none.
func users(said texts) (n int) {
	for _, t := range said.Turns {
		if len(t.Messages) > 0 && !t.More {
			n = 0
		}
		for _, m := range t.Messages {
			if m.Role == "user" && m.CallID == "" {
				n++
			}
		}
	}
	return n
}

func callKey(c tool.Call) string {
	if key, _, err := tool.Key(c); err == nil {
		return key
	}
	return c.Name + "|" + string(c.Args)
}

// judge fills in what the columns of turns say about their replies, as for an external agent;
// false if the source does not have a reply.
func judge(rows *ledger.EpisodeRows, said texts, t goldens.Task, tools []tool.Spec) (bool, error) {
	set, err := tool.NewSet(tools)
	if err != nil {
		return false, err
	}
	m, err := agent.New(strategy.External, agent.Params{Tools: set, Request: t.Request, AnswerSchema: t.AnswerSchema}, nil)
	if err != nil {
		return false, err
	}
	var known []string
	for _, s := range tools {
		known = append(known, s.Name)
	}
	for i := range rows.Turns {
		row, text := &rows.Turns[i], said.Turns[i]
		if !row.Judged() {
			continue
		}
		if text.Output == nil && len(text.Calls) == 0 {
			return false, nil
		}
		var reply providers.Reply
		for _, p := range proposals(text.Calls) {
			if name, ok := mcphost.Name(p.Name, known); ok { // others are tools of the agent's own
				p.Name = name
				reply.Calls = append(reply.Calls, p)
			}
		}
		if text.Output != nil {
			reply.Text = *text.Output
		}
		row.ValidJSON, row.Actionable, row.ContractValid = true, true, true
		if len(reply.Calls) > 0 || len(text.Calls) == 0 {
			if j := m.Step(agent.ModelReplied{Reply: reply}).Judgement; j != nil {
				row.ValidJSON, row.Actionable, row.ContractValid, row.Violations = j.ValidJSON, j.Actionable, j.ContractValid, j.Violations
			}
		}
	}
	return true, nil
}

// taskOfSuite finds the task of an imported one: by its id, or by its request.
func taskOfSuite(suite *goldens.Suite, id, request string) (goldens.Task, bool) {
	i := slices.IndexFunc(suite.Tasks, func(t goldens.Task) bool { return t.ID == id })
	if i < 0 {
		request = strings.TrimSpace(request)
		i = slices.IndexFunc(suite.Tasks, func(t goldens.Task) bool { return request != "" && strings.TrimSpace(t.Request) == request })
	}
	if i < 0 || suite.Tasks[i].Scripted {
		return goldens.Task{}, false
	}
	return suite.Tasks[i], true
}
