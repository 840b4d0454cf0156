package harness_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// vote is a strategy that asks three times in parallel and returns the most frequent answer.
type vote struct {
	agent.Tally // numbers the commands, counts usage, knows the budgets
	params      agent.Params
	said        map[string]int
}

// newVote returns the machine of one episode.
func newVote(p agent.Params) (agent.Machine, error) {
	if p.Tools != nil && len(p.Tools.Specs()) > 0 {
		return nil, fmt.Errorf("a vote calls no tools, and the task offers %d", len(p.Tools.Specs()))
	}
	return &vote{Tally: agent.Tally{Budgets: p.Budgets}, params: p, said: map[string]int{}}, nil
}

// Step implements agent.Machine.
func (v *vote) Step(ev agent.Event) (r agent.Ready) {
	v.Take(ev)
	defer func() { r.Used = v.Used() }()
	switch ev := ev.(type) {
	case agent.Started:
		for range 3 {
			if v.Spent() == "" { // a budget of two steps buys two votes
				r.Commands = append(r.Commands, v.ask())
			}
		}
	case agent.ModelReplied:
		r.Judgement = v.judge(ev.Reply)
	case agent.ModelFailed: // no judgement, because it says nothing about the model
		return v.end(r, agent.Finish{Status: agent.Failed, Err: ev.Err})
	case agent.Deadline:
		return v.end(r, agent.Finish{Status: agent.Stopped, StopReason: agent.MaxSeconds})
	case agent.Cancelled:
		return v.end(r, agent.Finish{Status: agent.Interrupted})
	}
	if v.Open() > 0 {
		return r // wait for the other votes
	}
	return v.end(r, v.count(&r))
}

// ask is one vote.
func (v *vote) ask() agent.CallModel {
	temperature := v.params.Temperature
	return v.Model(agent.CallModel{
		Role: turn.RoleMain, Kind: turn.KindAct,
		Call: providers.Call{
			System:    "Answer with one short sentence.",
			Messages:  []providers.Message{{Role: providers.RoleUser, Text: v.params.Request}},
			MaxTokens: v.params.MaxTokens, Temperature: &temperature, Seed: v.params.Seed,
		},
	})
}

// judge reads a vote. A strategy defines its own protocol; here it is one line of text.
func (v *vote) judge(reply providers.Reply) *agent.Judgement {
	answer := strings.TrimSpace(reply.Text)
	if answer == "" || strings.Contains(answer, "\n") {
		return &agent.Judgement{ValidJSON: true, Violations: []string{"vote.one_line"}}
	}
	v.said[answer]++
	return &agent.Judgement{ValidJSON: true, Actionable: true, ContractValid: true, ActionType: "respond"}
}

// count ends the vote. Of answers with equal votes it returns the first in alphabetical order.
func (v *vote) count(r *agent.Ready) agent.Finish {
	if len(v.said) == 0 {
		return agent.Finish{Status: agent.Stopped, StopReason: cmp.Or(v.Spent(), agent.StopReason("contract_violation"))}
	}
	answer := slices.MinFunc(slices.Sorted(maps.Keys(v.said)), func(a, b string) int { return v.said[b] - v.said[a] })
	r.Updates = append(r.Updates, agent.Update{Phase: "vote", Status: "success", Content: fmt.Sprintf("%d votes for %q", v.said[answer], answer)})
	return agent.Finish{Status: agent.Answered, Answer: answer}
}

func (v *vote) end(r agent.Ready, f agent.Finish) agent.Ready {
	r.Commands = append(r.Commands, v.Finish(f))
	return r
}
