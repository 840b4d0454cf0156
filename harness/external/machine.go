package external

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/mcphost"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/recorder"
)

// AgentFailed is the stop reason of an agent that failed by itself.
const AgentFailed agent.StopReason = "agent_failed"

// KindEmbed is the kind of a turn that asked for embeddings.
const KindEmbed = "embed"

// Machine makes the calls of a Record again. It implements agent.Machine.
type Machine struct {
	agent.Tally
	record Record
	wires  Wires
	replay *recorder.Recorder
	judge  judge
	known  []string

	next     int         // the first call not yet made
	commands map[int]int // the places of calls, from 1, by the commands that make them
	parents  []int       // the command of each call
	proposed map[int]map[int]bool
	failures map[string]int // of executed tool calls, by key
	turn     int            // the command of the latest model call
	silent   string
	gaveUp   string
	failed   error
}

// judge judges what an external agent does; package agent makes it.
type judge interface {
	agent.Machine
	Tools() []providers.Tool
	Answered(answer string) agent.Finish
}

func newJudge(p agent.Params) (judge, error) {
	m, err := agent.New(strategy.External, agent.Params{Tools: p.Tools, Request: p.Request, Inputs: p.Inputs, AnswerSchema: p.AnswerSchema}, nil)
	if err != nil {
		return nil, err
	}
	return m.(judge), nil
}

// newMachine returns the machine of a record, whose exchanges are in a replay.
func newMachine(p agent.Params, r Record, w Wires, replay *recorder.Recorder) (*Machine, error) {
	j, err := newJudge(p)
	if err != nil {
		return nil, err
	}
	m := &Machine{
		Tally: agent.Tally{Budgets: p.Budgets}, record: r, judge: j, wires: w, replay: replay,
		commands: map[int]int{}, parents: make([]int, len(r.Calls)), proposed: map[int]map[int]bool{}, failures: map[string]int{},
	}
	for _, t := range j.Tools() {
		m.known = append(m.known, t.Name)
	}
	for _, c := range r.Calls {
		if c.Tool != nil && c.Tool.Turn > 0 {
			if m.proposed[c.Tool.Turn] == nil {
				m.proposed[c.Tool.Turn] = map[int]bool{}
			}
			m.proposed[c.Tool.Turn][c.Tool.Nth] = true
		}
	}
	return m, nil
}

// Made implements drive.RepeatingMachine.
func (m *Machine) Made(command int) drive.MadeCall {
	c := m.record.Calls[m.commands[command]-1].Model
	return drive.MadeCall{Provider: c.Provider, Model: c.Model, Stream: c.Stream, Answer: again{m.wires, c, m.replay}, Asked: func() (string, []providers.Message) {
		it := m.replay.Recording(c.Digest)
		if it == nil {
			return "", nil
		}
		return gateway.Request{Kind: c.Kind, Body: []byte(it.Request.Body)}.Messages()
	}}
}

// Step implements agent.Machine. It ends the episode at the recorded time, whatever is
// outstanding then.
func (m *Machine) Step(ev agent.Event) agent.Ready {
	m.Take(ev)
	var r agent.Ready
	switch ev := ev.(type) {
	case agent.Started:
		r.Commands = m.wait()
	case agent.Waited:
		if m.next == len(m.record.Calls) {
			r.Updates, r.Commands = m.record.updates(), []agent.Command{m.Finish(m.end())}
			break
		}
		r.Commands = append(m.call(), m.wait()...)
	case agent.ModelReplied:
		r.Judgement, r.Commands = m.replied(ev)
	case agent.ToolReturned:
		if i := m.commands[ev.ID]; i > 0 {
			m.returned(i-1, ev.Result)
		}
	case agent.UserReplied:
		m.userReplied(m.commands[ev.ID]-1, ev)
	}
	r.Used = m.Used()
	return r
}

// wait passes the time until the next call or, after the last one, until the end.
func (m *Machine) wait() []agent.Command {
	at := m.record.End.At
	if m.next < len(m.record.Calls) {
		at = m.record.Calls[m.next].At
	}
	return []agent.Command{m.Wait(agent.Wait{For: max(0, time.Duration(at)*time.Microsecond-m.Used().Elapsed)})}
}

// call makes the next call.
func (m *Machine) call() (out []agent.Command) {
	i := m.next
	m.next++
	id := 0
	switch c := m.record.Calls[i]; {
	case c.Model != nil && c.Model.free():
	case c.Model != nil:
		cmd := agent.CallModel{Parent: m.turn, Role: turn.RoleMain, Kind: turn.KindAct, Whom: turn.RoleMain, Call: providers.Call{Model: c.Model.Model, Stream: c.Model.Stream}}
		if c.Model.Kind != gateway.Chat {
			cmd.Role, cmd.Kind = turn.RoleCompress, KindEmbed
		}
		cmd = m.Model(cmd)
		cmd.Timeout = 0 // the record says when it ends
		id, m.turn, out = cmd.ID, cmd.ID, append(out, cmd)
	case c.Tool != nil:
		cmd := m.command(c.Tool)
		id, out = cmd.ID, append(out, cmd)
	case c.Ask.GiveUp:
		m.gaveUp = c.Ask.Text
	default:
		cmd := m.User(agent.AskUser{Parent: m.turn, Question: c.Ask.Text})
		id, out = cmd.ID, append(out, cmd)
	}
	m.commands[id], m.parents[i] = i+1, id
	return out
}

// command is that of a tool call.
func (m *Machine) command(c *ToolCall) agent.CallTool {
	cmd := agent.CallTool{Parent: m.turn, Call: tool.Call{Name: c.Name, Args: c.Args}}
	if cmd.Unproposed = c.Turn == 0; !cmd.Unproposed {
		cmd.Parent = m.parents[c.Turn-1]
	}
	if key, hash, err := tool.Key(cmd.Call); err == nil {
		cmd.Key, cmd.ArgsHash, cmd.RetryIndex = key, hash, m.failures[key]
		if c.Outcome == tool.Error || c.Outcome == tool.Timeout {
			m.failures[key]++
		}
	}
	if c.Refused {
		cmd.Given = new(c.result())
	}
	return m.Tool(cmd)
}

// replied judges a reply, and lists the calls in it that were not executed.
func (m *Machine) replied(ev agent.ModelReplied) (*agent.Judgement, []agent.Command) {
	i := m.commands[ev.ID]
	c := m.record.Calls[i-1].Model
	if c.Kind != gateway.Chat {
		return nil, nil
	}
	var warnings []string
	if c.Limited {
		warnings = []string{strategy.WarnLimited}
	}
	calls := slices.Clone(ev.Reply.Calls)
	var own []providers.ToolCall // without those of the agent's other tools
	var out []agent.Command
	for n := range calls {
		call := &calls[n]
		if name, ok := mcphost.Name(call.Name, m.known); ok {
			call.Name = name
		}
		if !slices.Contains(c.Offered, call.Name) || !isObject(call.Args) {
			own = append(own, *call)
		}
		if m.proposed[i][n+1] || m.special(call.Name) {
			continue
		}
		args := json.RawMessage(call.Args)
		if !json.Valid(args) {
			args, _ = json.Marshal(call.Args) // a string always encodes
		}
		cmd := agent.CallTool{Parent: ev.ID, Call: tool.Call{Name: call.Name, Args: args}, OnlyProposed: true, Given: &tool.Result{}}
		if key, hash, err := tool.Key(cmd.Call); err == nil {
			cmd.Key, cmd.ArgsHash = key, hash
		}
		out = append(out, m.Tool(cmd))
	}
	if len(calls) > 0 && len(own) == 0 {
		return &agent.Judgement{ValidJSON: true, Actionable: true, ContractValid: true, ActionType: "tool", ActionName: clip.Bytes(calls[0].Name, 64), Reason: "ok", Warnings: warnings}, out
	}
	ev.Reply.Calls = own
	j := m.judge.Step(ev).Judgement
	if j != nil {
		j.Warnings = append(j.Warnings, warnings...)
	}
	return j, out
}

// isObject reports arguments that are a JSON object.
func isObject(args string) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal([]byte(cmp.Or(strings.TrimSpace(args), "{}")), &object) == nil
}

// special reports whether a tool is not the task's but one of the two that every agent has.
func (m *Machine) special(name string) bool {
	return slices.Contains(m.known[max(0, len(m.known)-2):], name)
}

// returned compares the result of a call with the recorded one.
func (m *Machine) returned(i int, r tool.Result) {
	c := m.record.Calls[i].Tool
	m.judge.Step(agent.ToolReturned{Result: r})
	was := c.result()
	if m.failed == nil && (was.Outcome != r.Outcome || was.Code != r.Code || was.Message != r.Message || was.Duration != r.Duration || !bytes.Equal(was.Value, r.Value)) {
		m.failed = &ChangedError{Call: i + 1, Tool: c.Name, Was: shown(was), Now: shown(r)}
	}
}

// userReplied compares the answer to a question with the recorded one.
func (m *Machine) userReplied(i int, ev agent.UserReplied) {
	q := m.record.Calls[i].Ask
	if ev.Silent {
		m.silent = q.Text
	} else {
		m.judge.Step(ev)
	}
	if m.failed == nil && (q.Answer != ev.Text || q.Silent != ev.Silent) {
		m.failed = &ChangedError{Call: i + 1, Tool: askUser, Was: q.Answer, Now: ev.Text}
	}
}

// end is how the episode ends.
func (m *Machine) end() agent.Finish {
	e := m.record.End
	switch {
	case m.failed != nil:
		return agent.Finish{Status: agent.Failed, Err: m.failed}
	case e.Stop != "":
		return agent.Finish{Status: agent.Stopped, StopReason: agent.StopReason(e.Stop), Answer: e.Answer}
	case m.gaveUp != "":
		return agent.Finish{Status: agent.CannotProceed, Answer: m.gaveUp}
	case m.silent != "":
		return agent.Finish{Status: agent.Clarify, Answer: m.silent}
	case e.Failure != "":
		return agent.Finish{Status: agent.Stopped, StopReason: AgentFailed, Answer: e.Answer}
	case e.Status == string(agent.Clarify) || e.Status == string(agent.CannotProceed):
		return agent.Finish{Status: agent.Status(e.Status), Answer: e.Answer}
	}
	return m.judge.Answered(e.Answer)
}

// updates say in the transcript what the outcome does not: why the agent failed, and what else
// it did.
func (r Record) updates() (out []agent.Update) {
	e, limited := r.End, 0
	for _, c := range r.Calls {
		if c.Model != nil && c.Model.Limited {
			limited++
		}
	}
	said := e.Stderr
	say := func(status string) {
		out = append(out, agent.Update{Phase: "agent", Status: status, Content: said})
		said = ""
	}
	if len(said) > maxSaid {
		said = "…" + strings.ToValidUTF8(said[len(said)-maxSaid:], "")
	}
	if e.Failure != "" {
		say(e.Failure)
	} else if said != "" {
		say("wrote to standard error")
	}
	if e.Leftover != "" {
		say(e.Leftover)
	}
	if len(e.Hosts) > 0 {
		say("tried to reach other hosts: " + strings.Join(e.Hosts, ", "))
	}
	if e.Late > 0 {
		say(fmt.Sprintf("requests after its end, which got status 410: %d", e.Late))
	}
	for _, text := range e.traced() {
		say(text)
	}
	if limited > 0 {
		say(fmt.Sprintf("%d of its requests lacked an output limit and got one", limited))
	}
	return out
}

// maxSaid is how many bytes of the standard error a transcript shows.
const maxSaid = 4 << 10

// askUser is the tool that asks the user.
const askUser = "ask_user"

// ChangedError means that a tool or the user no longer answers as recorded.
type ChangedError struct {
	Call     int
	Tool     string
	Was, Now string
}

// Error names the call and both answers.
func (e *ChangedError) Error() string {
	why := "the world changed, or equal calls give different results in it; record the episode again"
	if e.Tool == askUser {
		why = "the task's replies are not what the agent was told, such as by a person (--human); write that into the task's replies, or record the episode again"
	}
	return fmt.Sprintf("call %d, of %s, answered %s when it was recorded and %s now: %s", e.Call, e.Tool, cmp.Or(e.Was, "nothing"), cmp.Or(e.Now, "nothing"), why)
}

// shown is a result on one line.
func shown(r tool.Result) string {
	text := string(r.Value)
	if r.Outcome != tool.OK {
		text = string(r.Outcome) + " " + r.Code + " " + r.Message
	}
	return fmt.Sprintf("%s after %v", clip.Bytes(text, 200), r.Duration)
}
