package sim

import (
	"encoding/json"
	"regexp"
	"strings"
)

// talk is what a model gets to read: the system prompt and the messages.
type talk struct {
	system string
	turns  []remark
}

// remark is one message of a talk, the user's or the model's own.
type remark struct {
	user bool
	text string
}

// last is the user's latest message.
func (t talk) last() string {
	for i := len(t.turns) - 1; i >= 0; i-- {
		if t.turns[i].user {
			return t.turns[i].text
		}
	}
	return ""
}

// prompt reads the contract prompt. It is the user's last message, or, where the
// agent keeps a conversation, an earlier one that later messages add to.
func (t talk) prompt() (prompt, bool) {
	for i := len(t.turns) - 1; i >= 0; i-- {
		if !t.turns[i].user || !strings.HasPrefix(strings.TrimSpace(t.turns[i].text), "USER_REQUEST:") {
			continue
		}
		if p, ok := readPrompt(t.turns[i].text); ok {
			p.follow(t.turns[i+1:])
			return p, true
		}
	}
	return readPrompt(t.last())
}

// follow reads on after the prompt: the model's own outputs and what the user
// added to them. A step is counted for each output unless the budget is told.
func (p *prompt) follow(later []remark) {
	for _, r := range later {
		if r.user {
			p.reflect = false
			for line := range strings.Lines(r.text) {
				p.hear(strings.TrimSpace(line))
			}
			continue
		}
		p.steps++
		if plan := ownPlan(r.text); plan != "" {
			p.plan = plan + "\n"
		}
	}
}

// observed matches the beginning of every shape of an observation.
var observed = regexp.MustCompile(`^(?:tool result: |tool rejected: |user reply: |budget: |violation: |turn \d+ )`)

// hear takes one line of a later message.
func (p *prompt) hear(line string) {
	for _, heading := range []string{"BUDGET_USED:", "REFLECT:"} {
		if rest, ok := strings.CutPrefix(line, heading); ok {
			p.take(heading, strings.TrimSpace(rest))
			return
		}
	}
	line = strings.TrimSpace(strings.TrimPrefix(line, "OBS:"))
	line = strings.TrimPrefix(line, "- ")
	if observed.MatchString(line) || knownSentence.MatchString(line) {
		p.entries = append(p.entries, line)
		if strings.HasPrefix(line, "tool result: ") {
			p.calls++
		}
	}
}

// ownPlan is the plan of an earlier output, empty if that has none.
func ownPlan(output string) string {
	var turn struct {
		StateUpdate struct {
			Plan string `json:"plan"`
		} `json:"state_update"`
	}
	at := strings.IndexByte(output, '{')
	if at < 0 || json.NewDecoder(strings.NewReader(output[at:])).Decode(&turn) != nil {
		return ""
	}
	return turn.StateUpdate.Plan
}
