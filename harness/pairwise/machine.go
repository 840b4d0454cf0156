package pairwise

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/rubric"
	"github.com/cupel-eval/cupel/providers"
)

// strategyName is that of the machine below.
const strategyName = "pairwise"

// maxTokens bounds a reply of a judge.
func maxTokens(jury helper.Jury) int {
	if m := jury.Model.MaxTokens; m != nil {
		return *m
	}
	return 1000
}

// machine asks a judge for a preference, and again after a reply that is not one.
type machine struct {
	agent.Tally
	jury helper.Jury
	call providers.Call
}

func newMachine(jury helper.Jury, p agent.Params) *machine {
	m := &machine{Tally: agent.Tally{Budgets: p.Budgets}, jury: jury}
	m.call = providers.Call{
		System: rubric.PairSystem(), Messages: []providers.Message{{Role: providers.RoleUser, Text: p.Request}},
		MaxTokens: maxTokens(jury), Temperature: jury.Model.Temperature,
	}
	if mode := jury.Model.Mode; mode != "" && mode != "prompt" {
		m.call.Format = &providers.Format{Mode: providers.Mode(mode), Name: "preference", Schema: []byte(rubric.PairSchema)}
	}
	return m
}

// Step implements agent.Machine.
func (m *machine) Step(ev agent.Event) (r agent.Ready) {
	m.Take(ev)
	switch ev := ev.(type) {
	case agent.Started:
		r.Commands = []agent.Command{m.ask()}
	case agent.ModelReplied:
		r.Judgement = &agent.Judgement{}
		r.Commands = []agent.Command{m.read(ev.Reply, r.Judgement)}
	case agent.ModelFailed:
		r.Commands = []agent.Command{m.Finish(agent.Finish{Status: agent.Failed, Err: ev.Err})}
	case agent.Deadline:
		r.Commands = []agent.Command{m.Finish(agent.Finish{Status: agent.Failed, Err: fmt.Errorf("judge %s took too long", m.jury.Model.Name)})}
	case agent.Cancelled:
		r.Commands = []agent.Command{m.Finish(agent.Finish{Status: agent.Interrupted})}
	}
	r.Used = m.Used()
	return r
}

func (m *machine) ask() agent.Command {
	return m.Model(agent.CallModel{Role: turn.RoleMain, Kind: turn.KindAct, Call: m.call})
}

// read reads a reply. A judge that gives no preference has failed: it says nothing about the works.
func (m *machine) read(reply providers.Reply, j *agent.Judgement) agent.Command {
	p, fault := rubric.ParsePreference(reply.Text)
	if fault == nil {
		j.ValidJSON, j.Actionable, j.ContractValid, j.ActionType, j.Done = true, true, true, "respond", true
		text, _ := json.Marshal(p) // it encodes
		return m.Finish(agent.Finish{Status: agent.Answered, Answer: string(text)})
	}
	j.Violations = []string{"preference"}
	if m.Spent() != "" {
		return m.Finish(agent.Finish{Status: agent.Failed, Err: fmt.Errorf("judge %s gave no preference in %d replies: %w", m.jury.Model.Name, m.Used().Steps, fault)})
	}
	m.call.Messages = append(m.call.Messages[:len(m.call.Messages):len(m.call.Messages)],
		providers.Message{Role: providers.RoleAssistant, Text: cmp.Or(strings.TrimSpace(reply.Text), "(no text)")},
		providers.Message{Role: providers.RoleUser, Text: rubric.PairAgain(fault)})
	return m.ask()
}
