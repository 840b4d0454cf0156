package sim

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// prompt is a contract prompt taken apart: what the user wants, what the
// scratchpad remembers, what is left of the budget.
type prompt struct {
	request     string
	constraints string
	plan        string
	// entries are the lines of PROGRESS and OBS without their dashes, oldest first.
	entries []string
	// What was used and what is allowed; a limit of 0 is none.
	steps, maxSteps, calls, maxCalls int
	reflect                          bool
	tools                            map[string]bool
	// trusting says that the model takes, this turn, results about something else for
	// the wanted ones.
	trusting bool

	// What follows no contract prompt has. given are values that come with the
	// request, earlier are the exchanges before it in the same session. objective is
	// what the whole plan is for, of which the request is one step.
	given     []handed
	earlier   []exchange
	objective string
}

// handed is a value under the name it came by: of an input, of the step of the plan
// whose result it is, or theItem.
type handed struct {
	name  string
	value string // JSON
}

// theItem is the name of the item that a step is worked on for.
const theItem = "ITEM"

// exchange is a request of earlier, and what was answered.
type exchange struct{ request, answer string }

const (
	fenceOpen  = "<data>"
	fenceClose = "</data>"
)

// headings of the contract prompt, in their order. Only the next ones are
// looked for, so that no later text passes for an earlier part.
var headings = []string{"GOAL:", "CONSTRAINTS:", "PLAN:", "PROGRESS:", "OBS:", "BUDGET_USED:", "REFLECT:", "TOOLS ", "RULES:"}

var (
	budgetLine = regexp.MustCompile(`steps=(\d+)/(\w+) tool_calls=(\d+)/(\w+)`)
	toolLine   = regexp.MustCompile(`^\d+\) (\w+):`)
)

// readPrompt takes a contract prompt apart; ok is false if text is none.
func readPrompt(text string) (p prompt, ok bool) {
	_, rest, ok := strings.Cut(text, "USER_REQUEST:")
	if !ok {
		return p, false
	}
	rest = strings.TrimLeft(rest, " \n")
	if p.request, rest, ok = cutFence(rest); !ok {
		return p, false
	}
	p.tools = map[string]bool{}
	at := -1
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, "\r\n")
		if h := headingOf(line, at); h >= 0 {
			at = h
			line = strings.TrimSpace(strings.TrimPrefix(line, headings[h]))
		}
		if at >= 0 {
			p.take(headings[at], line)
		}
	}
	return p, true
}

// cutFence splits text that begins with a fence behind that fence; unfenced
// text ends where the scratchpad begins.
func cutFence(text string) (inside, rest string, ok bool) {
	if after, fenced := strings.CutPrefix(text, fenceOpen); fenced {
		return strings.Cut(after, fenceClose)
	}
	inside, rest, ok = strings.Cut(text, "\nSCRATCHPAD")
	return strings.TrimSpace(inside), rest, ok
}

// headingOf returns the heading a line begins with, if it comes after at.
func headingOf(line string, at int) int {
	for i := at + 1; i < len(headings); i++ {
		if strings.HasPrefix(line, headings[i]) {
			return i
		}
	}
	return -1
}

// take files one line under its heading.
func (p *prompt) take(heading, line string) {
	switch heading {
	case "CONSTRAINTS:":
		p.constraints += line
	case "PLAN:":
		p.plan += line + "\n"
	case "PROGRESS:", "OBS:":
		if entry, ok := strings.CutPrefix(line, "- "); ok || knownSentence.MatchString(line) {
			p.entries = append(p.entries, entry)
		}
	case "BUDGET_USED:":
		if m := budgetLine.FindStringSubmatch(line); m != nil {
			p.steps, p.maxSteps = atoi(m[1]), atoi(m[2])
			p.calls, p.maxCalls = atoi(m[3]), atoi(m[4])
		}
	case "REFLECT:":
		p.reflect = p.reflect || line != ""
	case "TOOLS ":
		if m := toolLine.FindStringSubmatch(line); m != nil {
			p.tools[m[1]] = true
		}
	}
}

// atoi is 0 for anything but a small number, such as "none".
func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// task is the user's request, whatever the protocol: a step of a plan works on the
// objective of the whole plan.
func (p prompt) task() string {
	return strings.TrimSpace(cmp.Or(p.objective, p.request))
}

// lastStep reports whether this turn is the last the budget allows.
func (p prompt) lastStep() bool { return p.maxSteps > 0 && p.steps >= p.maxSteps-1 }

// noCalls reports whether the tool budget is used up.
func (p prompt) noCalls() bool { return p.maxCalls > 0 && p.calls >= p.maxCalls }

// violated reports whether an output was not of the form asked for.
func (p prompt) violated() bool {
	return slices.ContainsFunc(p.entries, func(e string) bool { return strings.HasPrefix(e, "violation:") })
}

// weekBegin is the weekday on which weeks begin, Monday unless the constraints
// say otherwise.
func (p prompt) weekBegin() int {
	_, after, ok := strings.Cut(strings.ToLower(p.constraints), "weeks start on ")
	switch {
	case ok && strings.HasPrefix(after, "sunday"):
		return 7
	case ok && strings.HasPrefix(after, "saturday"):
		return 6
	}
	return 1
}
