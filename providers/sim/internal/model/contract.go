package model

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// headings of the contract prompt, in their order. Only the next ones are looked for, so
// that no later text passes for an earlier part.
var headings = []string{"GOAL:", "CONSTRAINTS:", "PLAN:", "PROGRESS:", "OBS:", "BUDGET_USED:", "REFLECT:", "TOOLS ", "RULES:"}

var (
	budgetLine = lazyregexp.New(`steps=(\d+)/(\w+) tool_calls=(\d+)/(\w+)`)
	toolLine   = lazyregexp.New(`^\d+\) ([\w-]+):`)
	resultLine = lazyregexp.New(`^(?:tool result: )?turn (\d+) ([\w-]+) (.*?) ?-> (ok|error|timeout|rejected) ?([^<]*)<data>(.*)$`)
	replyLine  = lazyregexp.New(`^(?:user reply: turn \d+ asked <data>.*?</data> answered|turn \d+ user reply ->) <data>(.*)$`)
	// memoryPart is what the model itself has put into its plan, which is the one thing
	// of its own that it sees again.
	memoryPart = lazyregexp.New(`known at turn (\d+): (\{.*\}|[\w-]+)`)
)

// readContract reads the contract prompt: the user's last message that is one, and what
// later messages of a conversation add to it.
func (t *turn) readContract() bool {
	if at, text := t.lastBeginning("USER_REQUEST:"); at >= 0 && t.view.readPrompt(text) {
		t.view.follow(t.Messages[at+1:])
		return true
	}
	return t.view.readPrompt(t.last())
}

// readPrompt takes a contract prompt apart; ok is false if text is not one.
func (v *view) readPrompt(text string) (ok bool) {
	_, rest, ok := strings.Cut(text, "USER_REQUEST:")
	if !ok {
		return false
	}
	rest = strings.TrimLeft(rest, " \n")
	var request string
	if after, fenced := strings.CutPrefix(rest, fenceOpen); fenced {
		request, rest, ok = strings.Cut(after, fenceClose)
	} else {
		request, rest, ok = strings.Cut(rest, "\nSCRATCHPAD")
	}
	if !ok {
		return false
	}
	v.ask(request)
	at := -1
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, "\r\n")
		for i := at + 1; i < len(headings); i++ {
			if rest, ok := strings.CutPrefix(line, headings[i]); ok {
				at, line = i, strings.TrimSpace(rest)
				break
			}
		}
		if at >= 0 {
			v.take(headings[at], line)
		}
	}
	return true
}

// take files one line under its heading.
func (v *view) take(heading, line string) {
	switch heading {
	case "CONSTRAINTS:":
		v.constraints += line
	case "PLAN:":
		v.readMemory(line)
	case "PROGRESS:", "OBS:":
		v.observe(strings.TrimPrefix(line, "- "))
	case "BUDGET_USED:":
		if m := budgetLine.FindStringSubmatch(line); m != nil {
			v.steps, v.maxSteps = number(m[1]), number(m[2])
			v.calls, v.maxCalls = number(m[3]), number(m[4])
		}
	case "REFLECT:":
		v.reflect = v.reflect || line != ""
	case "TOOLS ":
		if m := toolLine.FindStringSubmatch(line); m != nil {
			v.tools = append(v.tools, m[1])
		}
	}
}

// longArgs is the length in bytes from which on arguments were cut and not folded: which call it was, the
// solution tells.
const longArgs = 250

// number is 0 for text that is not a number, such as "none".
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// readMemory takes the memory in a plan, if there is one.
func (v *view) readMemory(plan string) {
	m := memoryPart.FindStringSubmatch(plan)
	if m == nil {
		return
	}
	if saved, ok := unpacked(m[2]); ok {
		v.memory, v.seen.From, v.known = m[2], saved, number(m[1])
		v.latest, v.seen.Results = v.known, nil
	}
}

// observe takes a line of PROGRESS or OBS. Results from before the memory are in it.
func (v *view) observe(line string) {
	switch {
	case strings.HasPrefix(line, "tool rejected:"), strings.HasPrefix(line, "violation:"):
		v.violated = true
	case strings.HasPrefix(line, "budget:"):
		v.noCalls = "no tool calls are left"
	default:
		if m := replyLine.FindStringSubmatch(line); m != nil {
			v.seen.Replies = append(v.seen.Replies, inFence(m[1]))
		} else if m := resultLine.FindStringSubmatch(line); m != nil && number(m[1]) > v.known {
			v.file(m)
		}
	}
}

// file files the parts of a resultLine. One that was folded beyond recognition is lost.
func (v *view) file(m []string) {
	args, outcome, code, data := m[3], m[4], m[5], inFence(m[6])
	v.latest = max(v.latest, number(m[1]))
	if !json.Valid([]byte(args)) {
		if len(args) < longArgs {
			return
		}
		args, v.cut = "{}", true
	}
	if outcome != "ok" {
		code, _, _ = strings.Cut(strings.TrimSpace(code), " ")
		if code == "" || strings.HasPrefix(code, "(") {
			code = outcome
		}
		v.result(m[2], args, "", code, data)
	} else if value, ok := playbook.CompleteJSON(data); ok {
		v.result(m[2], args, value, "", "")
	}
}

// follow reads on after the prompt: the model's own outputs and what the user added to
// them. A step is counted for each output unless the prompt shows the budget.
func (v *view) follow(later []Message) {
	for _, m := range later {
		if m.Own {
			v.steps++
			v.readMemory(ownPlan(m.Text))
			continue
		}
		v.reflect = false
		for l := range strings.Lines(m.Text) {
			l = strings.TrimSpace(l)
			for _, heading := range []string{"BUDGET_USED:", "REFLECT:", "OBS:"} {
				if rest, ok := strings.CutPrefix(l, heading); ok {
					v.take(heading, strings.TrimSpace(rest))
					break
				}
			}
		}
	}
}

// ownPlan is the plan of an earlier output, empty if that has none.
func ownPlan(output string) string {
	var turn contractTurn
	at := strings.IndexByte(output, '{')
	if at < 0 || json.NewDecoder(strings.NewReader(output[at:])).Decode(&turn) != nil {
		return ""
	}
	return turn.StateUpdate.Plan
}

// Bounds of what is kept in a plan, in characters: a plan is shown to the 600th, and one
// of a stranger unpacks to no more than the other.
const (
	maxMemory   = 540
	maxUnpacked = 64 << 10
)

// packed is a memory as a plan has it: JSON, or deflated if that is too long.
func packed(saved json.RawMessage) (text string, ok bool) {
	text = strings.ReplaceAll(string(saved), "<", `\u003c`)
	if len(text) > maxMemory {
		var out bytes.Buffer
		w, _ := flate.NewWriter(&out, flate.BestCompression) // a level there is
		_, _ = w.Write(saved)                                // into memory
		_ = w.Close()
		text = base64.RawURLEncoding.EncodeToString(out.Bytes())
	}
	return text, len(text) <= maxMemory
}

func unpacked(text string) (saved json.RawMessage, ok bool) {
	saved = json.RawMessage(text)
	if !strings.HasPrefix(text, "{") {
		data, _ := base64.RawURLEncoding.DecodeString(text) // invalid base64 is not JSON either
		saved, _ = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), maxUnpacked))
	}
	return saved, json.Valid(saved)
}

func (t *turn) sayContract(play *playbook.Play) Said {
	d := t.decide(play, true)
	a := d.acts[0]
	text := t.contract(a, t.plan(play, a), t.profile.confidence.draw(d.unsure, d.slipped, t.draws.confidence))
	if slip, drawn := pick(t.draws.form, t.profile.form, formScale[formSlip](t)); drawn && !t.rulesOut(slip) {
		text = misform(slip, text, t.draws.formDetail, t.Limit)
	}
	if t.Arguments {
		return Said{Calls: []Call{{Name: t.Must, Args: text}}}
	}
	return Said{Text: text}
}

// plan says what is to be done, and what is known so far.
func (t *turn) plan(play *playbook.Play, a playbook.Action) string {
	said := "Call " + a.Tool + ", then go on"
	switch a.Kind {
	case playbook.Ask:
		said = "Ask for what is missing"
	case playbook.Answer, playbook.GiveUp:
		return "Answer"
	}
	if t.view.seen.From == nil && len(t.view.seen.Results) == 0 {
		return said
	}
	if saved, err := play.Save(t.view.seen); err == nil {
		if text, ok := packed(saved); ok {
			return fmt.Sprintf("%s; known at turn %d: %s", said, t.view.latest, text)
		}
	}
	if t.view.memory == "" {
		return said
	}
	return fmt.Sprintf("%s; known at turn %d: %s", said, t.view.known, t.view.memory) // newer results stay in the scratchpad for a while
}

// contractTurn is the contract object, in the order of the contract.
type contractTurn struct {
	Control struct {
		Done   bool   `json:"done"`
		Reason string `json:"reason"`
	} `json:"control"`
	NextAction  nextAction `json:"next_action"`
	StateUpdate struct {
		Plan        string      `json:"plan"`
		Observation string      `json:"observation"`
		Confidence  json.Number `json:"confidence"`
	} `json:"state_update"`
}

type nextAction struct {
	Type    string          `json:"type"`
	Name    string          `json:"name,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Message string          `json:"message,omitempty"`
}

// contract writes an action as one contract object; confidence is in hundredths.
func (t *turn) contract(a playbook.Action, plan string, confidence int) string {
	var c contractTurn
	c.Control.Reason = "ok"
	switch a.Kind {
	case playbook.Call:
		c.NextAction = nextAction{Type: "tool", Name: a.Tool, Args: a.Args}
	case playbook.Ask:
		c.Control.Reason = "need_clarification"
		c.NextAction = nextAction{Type: "clarify", Message: a.Text}
	default:
		c.Control.Done = true
		c.NextAction = nextAction{Type: "respond", Message: a.Text}
		if a.Kind == playbook.GiveUp {
			c.Control.Reason = "cannot_proceed"
		} else if a.Value != nil && strings.Contains(t.view.constraints, "The message must be JSON") {
			c.NextAction.Message = string(a.Value)
		}
	}
	c.StateUpdate.Plan, c.StateUpdate.Observation = plan, fmt.Sprintf("Results seen: %d.", len(t.view.seen.Results))
	c.StateUpdate.Confidence = json.Number(fmt.Sprintf("%d.%02d", confidence/100, confidence%100))
	return string(JSON(c))
}
