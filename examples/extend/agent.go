package main

import (
	"fmt"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// brief is an agent: it asks the model, runs the tools that the model calls, and asks
// again, until the model answers.
type brief struct {
	agent.Tally // numbers the commands, counts what is used, knows the budgets
	call        providers.Call
	asked       map[int]providers.ToolCall // tool calls in progress, by command
}

// newBrief makes the machine of one episode.
func newBrief(p agent.Params) (agent.Machine, error) {
	b := &brief{Tally: agent.Tally{Budgets: p.Budgets}, asked: map[int]providers.ToolCall{}}
	b.call = providers.Call{
		System: "Answer in one sentence.", MaxTokens: p.MaxTokens, Temperature: &p.Temperature, Seed: p.Seed,
		Messages: []providers.Message{{Role: providers.RoleUser, Text: p.Request}},
	}
	if p.Tools != nil {
		for _, s := range p.Tools.Specs() {
			b.call.Tools = append(b.call.Tools, providers.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
		}
	}
	return b, nil
}

// Step implements agent.Machine.
func (b *brief) Step(ev agent.Event) (r agent.Ready) {
	b.Take(ev)
	defer func() { r.Used = b.Used() }()
	switch ev := ev.(type) {
	case agent.ModelReplied:
		return b.replied(ev)
	case agent.ToolReturned:
		c, text := b.asked[ev.ID], string(ev.Result.Value)
		if ev.Result.Outcome != tool.OK {
			text = fmt.Sprintf("%s: %s", ev.Result.Code, ev.Result.Message)
		}
		b.call.Messages = append(b.call.Messages, providers.Message{
			Role: providers.RoleTool, CallID: c.ID, Name: c.Name, Text: text, Failed: ev.Result.Outcome != tool.OK,
		})
	case agent.ModelFailed:
		return b.end(r, agent.Finish{Status: agent.Failed, Err: ev.Err})
	case agent.Deadline:
		return b.end(r, agent.Finish{Status: agent.Stopped, StopReason: agent.MaxSeconds})
	case agent.Cancelled:
		return b.end(r, agent.Finish{Status: agent.Interrupted})
	}
	if b.Open() > 0 {
		return r // other tools are still running
	}
	if why := b.Spent(); why != "" {
		return b.end(r, agent.Finish{Status: agent.Stopped, StopReason: why})
	}
	r.Commands = append(r.Commands, b.Model(agent.CallModel{Role: turn.RoleMain, Kind: turn.KindAct, Call: b.call}))
	return r
}

// replied runs the tools that a reply calls, or ends with its text. The judgement is
// what the ledger and the report say of the turn.
func (b *brief) replied(ev agent.ModelReplied) (r agent.Ready) {
	r.Judgement = &agent.Judgement{ValidJSON: true, Actionable: true, ContractValid: true, ActionType: "respond"}
	if len(ev.Reply.Calls) == 0 {
		return b.end(r, agent.Finish{Status: agent.Answered, Answer: ev.Reply.Text})
	}
	b.call.Messages = append(b.call.Messages, providers.Message{
		Role: providers.RoleAssistant, Text: ev.Reply.Text, Calls: ev.Reply.Calls, Continuation: ev.Reply.Continuation,
	})
	r.Judgement.ActionType, r.Judgement.ActionName = "tool", ev.Reply.Calls[0].Name
	for _, c := range ev.Reply.Calls {
		call := tool.Call{Name: c.Name, Args: []byte(c.Args)}
		command := agent.CallTool{Parent: ev.ID, Call: call}
		if !b.MayCallTool() { // the model may still answer
			command.Given = &tool.Result{Outcome: tool.Rejected, Code: "E_BUDGET", Message: "no tool calls are left"}
		}
		command = b.Tool(command)
		b.asked[command.ID] = c
		r.Commands = append(r.Commands, command)
		r.Judgement.Asked = append(r.Judgement.Asked, call)
	}
	return r
}

func (b *brief) end(r agent.Ready, f agent.Finish) agent.Ready {
	r.Commands = append(r.Commands, b.Finish(f))
	return r
}
