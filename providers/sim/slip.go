package sim

import (
	"fmt"
	"strings"
)

// formatSlip is a mistake in the form of an output.
type formatSlip string

const (
	fenced        formatSlip = "fenced"         // JSON in a code fence
	prose         formatSlip = "prose"          // words around the JSON
	truncated     formatSlip = "truncated"      // rambles into the token limit
	missingField  formatSlip = "missing field"  // no state_update, or no confidence
	extraKey      formatSlip = "extra key"      // a key the contract does not have
	wrongCase     formatSlip = "wrong case"     // a key in the wrong case
	badConfidence formatSlip = "bad confidence" // out of range, or no number
)

// decisionSlip is a mistake in what an output decides.
type decisionSlip string

const (
	wrongLabel      decisionSlip = "wrong label"      // counts another label
	offByOne        decisionSlip = "off by one"       // counts from or to a day beside the right one
	repeatCall      decisionSlip = "repeat call"      // the last tool call again
	needlessClarify decisionSlip = "needless clarify" // asks although all is known
	skipToday       decisionSlip = "skip today"       // guesses today's date
	inventNumber    decisionSlip = "invent number"    // answers with a number from nowhere
)

// misjudge gives the action to take after a decision slip, and says whether the
// slip fits the turn at all.
func (m *behaviour) misjudge(slip decisionSlip, a action, detail uint64) (action, bool) {
	wrong, fits := m.slipUp(slip, a, detail)
	if fits {
		wrong.plan, wrong.observation = m.plan(wrong), a.observation
	}
	return wrong, fits
}

// slipUp is misjudge but for the plan.
func (m *behaviour) slipUp(slip decisionSlip, a action, detail uint64) (action, bool) {
	counting := a.kind == useTool && a.name == getCounts
	switch slip {
	case wrongLabel:
		if counting {
			other := remaining([]int{labelIndex(a.query.label)})
			a.query.label = labels[other[detail%uint64(len(other))]]
		}
		return a, counting
	case offByOne:
		if counting {
			a.query.dateRange = beside(a.query.dateRange, detail)
		}
		return a, counting
	case repeatCall:
		last := m.notes.last
		if last == nil || !last.exact || m.notes.noCalls || a.kind == clarify {
			return a, false
		}
		again := action{kind: useTool, name: last.tool, query: last.query}
		if last.tool == getJobStatus {
			again.args = jobArgs{ID: last.job}
		}
		return again, true
	case needlessClarify:
		if m.notes.asked || a.kind == clarify {
			return a, false
		}
		return ask("Just to be sure, which label and which dates should I count?"), true
	case skipToday:
		if a.kind != useTool || a.name != todayRange {
			return a, false
		}
		guess, _ := dayOf(2024, 1, 1) // as if remembered from training
		guess = guess.add(int(detail % 600))
		m.guess = &guess
		return m.decide(), true
	case inventNumber:
		answering := a.kind == respond && !a.stuck && len(m.notes.facts) > 0
		if !counting && !answering {
			return a, false
		}
		m.invent = func(q query) int64 {
			return int64(100 + (detail>>(8*uint(labelIndex(q.label))))%900)
		}
		return m.decide(), true
	}
	return a, false
}

func labelIndex(name string) int {
	for i, l := range labels {
		if l == name {
			return i
		}
	}
	return 0
}

// beside is a stretch one day off: a single day moves, a longer one loses or
// gains a day at one end.
func beside(s dateRange, detail uint64) dateRange {
	step := 1 - 2*int(detail&1)
	switch {
	case s.from == s.to:
		return dateRange{s.from.add(step), s.to.add(step)}
	case detail&2 == 0:
		return dateRange{s.from.add(step), s.to}
	}
	return dateRange{s.from, s.to.add(step)}
}

// missay puts a format slip into a rendered turn. limit is the token limit that
// a truncated output runs into.
func missay(slip formatSlip, text string, detail uint64, limit int) string {
	switch slip {
	case fenced:
		return "```json\n" + text + "\n```"
	case prose:
		return preambles[detail%uint64(len(preambles))] + "\n" + text
	case truncated:
		return ramble(text, limit)
	case missingField:
		if detail&1 == 0 {
			return text[:strings.LastIndex(text, `,"state_update":`)] + "}"
		}
		return text[:strings.LastIndex(text, `,"confidence":`)] + "}}"
	case extraKey:
		return strings.TrimSuffix(text, "}") + `,"thoughts":"I looked at the request first."}`
	case wrongCase:
		key := []string{"control", "next_action", "state_update"}[detail%3]
		return strings.Replace(text, `"`+key+`":`, `"`+strings.ToUpper(key[:1])+key[1:]+`":`, 1)
	case badConfidence:
		bad := []string{`"high"`, "1.5", "95", "-0.1"}[detail%4]
		return text[:strings.LastIndex(text, `"confidence":`)] + `"confidence":` + bad + "}}"
	}
	return text
}

var preambles = []string{
	"Sure! Here is my next action:",
	"Here is the JSON object you asked for.",
	"Let me think about this. I will do the following:",
}

// ramble talks on inside the observation until well past the limit; the cut at
// the limit then falls in the middle of the object.
func ramble(text string, limit int) string {
	at := strings.LastIndex(text, `"observation":"`) + len(`"observation":"`)
	var b strings.Builder
	b.WriteString(text[:at])
	for i := 1; b.Len() < 4*limit+100; i++ {
		fmt.Fprintf(&b, "Thought %d: I should look at the request again and make sure about the label and the dates. ", i)
	}
	b.WriteString(text[at:])
	return b.String()
}
