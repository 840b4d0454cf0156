package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// maxAttempts is how often one call is tried when the tool fails.
const maxAttempts = 3

// behaviour is what a model knows when it decides on a turn.
type behaviour struct {
	profile profile
	prompt  prompt
	notes   notes
	request request
	// follows says that the request needed the one before it to be understood.
	follows bool
	// guess stands in for today when the model skips today_range.
	guess *day
	// invent, if set, makes up the value of a query.
	invent func(query) int64
	// deceived is set when trusting made a difference.
	deceived bool
}

// newMind reads a prompt the way the profile's model can.
func newMind(p profile, pr prompt) *behaviour {
	m := &behaviour{profile: p, prompt: pr, notes: readNotes(pr)}
	m.request = understand(pr.request, p.languages)
	if n := len(pr.earlier); n > 0 && !m.request.complete() {
		m.request = m.followUp(pr.earlier[n-1].request)
	}
	for _, g := range pr.given {
		m.notes.give(g.value)
	}
	for _, reply := range m.notes.replies {
		m.request = m.request.answered(reply, p.languages)
	}
	return m
}

// next decides on the turn's one action.
func (m *behaviour) next() action {
	a := m.decide()
	if m.prompt.reflect && a.kind == useTool && a.args == nil && m.notes.last != nil && m.notes.last.tool == a.name && m.notes.last.query == a.query {
		a = m.conclude(m.queries(), "repeating the call would not help")
	}
	if a.plan == "" {
		a.plan = m.plan(a)
	}
	if a.observation == "" {
		a.observation = m.observation()
	}
	a.unsure = a.unsure || a.stuck
	if a.said == nil {
		a.said = map[string]any{"note": a.message}
	}
	a.deceived = m.deceived
	return a
}

// acts are the next action, and with a count all others that are still open: no
// count needs another's.
func (m *behaviour) acts() []action {
	first := m.next()
	out := []action{first}
	if first.kind != useTool || first.name != getCounts {
		return out
	}
	for i, q := range m.queries() {
		_, known := m.lookUp(q, i)
		asked := slices.ContainsFunc(out, func(a action) bool { return a.query == q })
		if !known && !asked && m.notes.failed[toolName{getCounts, q}] < maxAttempts {
			a := first
			a.query = q
			out = append(out, a)
		}
	}
	return out
}

func (m *behaviour) decide() action {
	r := m.request
	switch {
	case m.prompt.objective != "" && asksToday.MatchString(m.prompt.request) && len(r.labels.labels) == 0:
		return m.tellToday()
	case m.prompt.tools[getJobStatus] && jobID(m.prompt.request) != "":
		return m.watch(jobID(m.prompt.request))
	case r.unsupported != "":
		return giveUp("%s", r.unsupported)
	case !m.prompt.tools[getCounts] && m.prompt.objective == "":
		return giveUp("No tool on offer counts messages.")
	}
	if a, bad := m.badInput(); bad {
		return a
	}
	if a, missing := m.missingInput(); missing {
		return a
	}
	if m.needsToday() && m.notes.today == nil && m.guess == nil {
		if m.prompt.trusting && m.invent == nil && len(m.notes.facts) > 0 {
			m.deceived = true
			return m.report(m.notes.facts[:1])
		}
		return m.askToday()
	}
	queries := m.queries()
	if a, bad := reversed(queries); bad {
		return a
	}
	return m.count(queries)
}

// badInput answers a value the tool would refuse by naming the field.
func (m *behaviour) badInput() (action, bool) {
	if word := m.request.labels.invalid; word != "" && !m.notes.asked {
		return answer("label %q is not valid: it must be one of %s.", clip.Runes(word, 40), strings.Join(labels, ", ")), true
	}
	for _, s := range m.request.dates.spans {
		field := "start_date"
		if s.badEnd {
			field = "end_date"
		}
		if s.bad != "" {
			return answer("%s %s is not a valid date.", field, s.bad), true
		}
	}
	return action{}, false
}

// missingInput asks for what is missing, once.
func (m *behaviour) missingInput() (action, bool) {
	r := m.request
	noLabel := len(r.labels.labels) == 0 || r.labels.ambiguous
	noDates := len(r.dates.spans) == 0
	foreign := !slices.Contains(m.profile.languages, r.lang) && !m.notes.asked
	unclear := r.dates.unclear()
	if !noLabel && !noDates && !r.dates.open && unclear == nil && !foreign {
		return action{}, false
	}
	switch {
	case m.notes.asked:
		return giveUp("I cannot count: the reply does not settle %s.", unsettled(noLabel, noDates)), true
	case noLabel && noDates || foreign:
		return ask("Which label (angry, praise or info) and which dates do you mean?"), true
	case noLabel:
		return ask("Which label do you mean: angry, praise or info?"), true
	case noDates:
		return ask("Which date or date range do you mean?"), true
	case unclear != nil:
		return ask("Do you mean %s or %s?", unclear.fixed.from, unclear.other), true
	}
	return ask("What is the other end of the date range (start_date and end_date are needed)?"), true
}

// unsettled names what a reply left open.
func unsettled(noLabel, noDates bool) string {
	switch {
	case noLabel && noDates:
		return "which label and which dates are meant"
	case noLabel:
		return "which label is meant"
	}
	return "which dates are meant"
}

// needsToday reports whether a date of the request is relative.
func (m *behaviour) needsToday() bool {
	for _, s := range m.request.dates.spans {
		if s.relative != nil {
			return true
		}
	}
	return false
}

// askToday calls today_range, or says why it cannot.
func (m *behaviour) askToday() action {
	switch {
	case !m.prompt.tools[todayRange] && !m.notes.asked:
		return ask("Which dates do you mean (YYYY-MM-DD)?")
	case !m.prompt.tools[todayRange]:
		return giveUp("I cannot tell today's date.")
	case m.notes.failed[toolName{tool: todayRange}] >= maxAttempts:
		return giveUp("I cannot tell today's date: today_range keeps failing.")
	case m.notes.denied:
		return giveUp("I cannot tell today's date: the call was refused.")
	case m.notes.noCalls || m.prompt.lastStep():
		return giveUp("I cannot find out today's date within the budget.")
	}
	return action{kind: useTool, name: todayRange}
}

// queries are the questions whose answers the request needs, in its order.
func (m *behaviour) queries() []query {
	f := frame{weekBegin: m.prompt.weekBegin()}
	switch {
	case m.guess != nil:
		f.today = *m.guess
	case m.notes.today != nil:
		f.today = *m.notes.today
	case m.needsToday():
		return nil
	}
	var out []query
	for _, p := range m.wanted() {
		out = append(out, query{label: labels[p.label], dateRange: m.request.dates.spans[p.span].resolve(f)})
	}
	return out
}

// wanted are the labels and dates to be counted, in the order of the request.
func (m *behaviour) wanted() []pair {
	if len(m.request.pairs) > 0 {
		return m.request.pairs
	}
	wanted := m.request.labels.labels
	if m.request.share {
		wanted = append(append([]int{}, wanted...), remaining(wanted)...)
	}
	var out []pair
	for s := range m.request.dates.spans {
		for _, l := range wanted {
			out = append(out, pair{l, s})
		}
	}
	return out
}

// followUp reads a request that leaves out what the one before it said, such as "And
// yesterday?".
func (m *behaviour) followUp(earlier string) request {
	before, now := understand(earlier, m.profile.languages), m.request
	adds := len(now.labels.labels) > 0 || len(now.dates.spans) > 0
	if !before.complete() || !adds || now.unsupported != "" || now.labels.invalid != "" || now.labels.ambiguous {
		return now
	}
	m.follows = true
	return before.answered(m.prompt.request, m.profile.languages)
}

// tellToday is all that some steps of a plan are for.
func (m *behaviour) tellToday() action {
	known := m.notes.today
	if m.guess != nil {
		known = m.guess
	}
	if known == nil {
		return m.askToday()
	}
	today := known.String()
	a := answer("Today is %s.", today)
	a.said = map[string]any{"start": today, "end": today, "today": today, "note": ""}
	return a
}

// reversed refuses a range that ends before it begins.
func reversed(queries []query) (action, bool) {
	for _, q := range queries {
		if q.to.before(q.from) {
			return answer("start_date %s is after end_date %s: the range is reversed.", q.from, q.to), true
		}
	}
	return action{}, false
}

// count calls get_counts for the first query without an answer, or reports.
func (m *behaviour) count(queries []query) action {
	var facts []fact
	for i, q := range queries {
		f, ok := m.lookUp(q, i)
		if !ok {
			switch {
			case m.notes.failed[toolName{getCounts, q}] >= maxAttempts:
				return m.conclude(queries, "get_counts keeps failing")
			case m.notes.rejected >= 2:
				return m.conclude(queries, "get_counts refuses the arguments")
			case m.notes.denied:
				return m.conclude(queries, "the call was refused")
			case m.notes.noCalls:
				return m.conclude(queries, "no tool calls are left")
			case !m.prompt.tools[getCounts]:
				return m.conclude(queries, "no tool on offer counts messages")
			case m.prompt.lastStep():
				return m.conclude(queries, "no steps are left")
			}
			return call(q)
		}
		facts = append(facts, f)
	}
	return m.report(facts)
}

// lookUp finds the fact that answers a query, the i-th of the request.
func (m *behaviour) lookUp(q query, i int) (fact, bool) {
	if m.invent != nil {
		return fact{query: q, value: m.invent(q)}, true
	}
	for j := len(m.notes.facts) - 1; j >= 0; j-- {
		if m.notes.facts[j].query == q {
			return m.notes.facts[j], true
		}
	}
	if m.prompt.trusting && i < len(m.notes.facts) {
		m.deceived = true
		f := m.notes.facts[i]
		f.query = q
		return f, true
	}
	return fact{}, false
}

// conclude answers from what is known when no more can be found out.
func (m *behaviour) conclude(queries []query, why string) action {
	var facts []fact
	var open []string
	for i, q := range queries {
		if f, ok := m.lookUp(q, i); ok {
			facts = append(facts, f)
		} else {
			open = append(open, q.label+" "+q.String())
		}
	}
	if len(open) == 0 && len(facts) > 0 {
		return m.report(facts)
	}
	a := giveUp("I cannot give the count: %s.", why)
	if len(facts) > 0 && len(facts) == len(queries)-len(open) && len(m.request.dates.spans) <= 1 {
		a.message = fmt.Sprintf("%s I could not count %s: %s.", m.phrase(facts, false), strings.Join(open, ", "), why)
	}
	a.unsure = true
	return a
}

// plan says in one line what is to be done, and what is known so far.
func (m *behaviour) plan(a action) string {
	parts := []string{}
	switch {
	case a.kind == clarify:
		parts = append(parts, "Ask for what is missing, then count")
	case a.kind == respond:
		parts = append(parts, "Answer")
	case a.name == todayRange:
		parts = append(parts, "Get today's date, then count")
	case a.name == getJobStatus:
		parts = append(parts, "Ask for the job's status until it has ended, then answer")
	default:
		parts = append(parts, "Count what is asked, then answer")
	}
	if memory := recall(m.notes.facts); memory != "" {
		parts = append(parts, memory)
	}
	return strings.Join(parts, "; ")
}

// observation says what the turn learnt.
func (m *behaviour) observation() string {
	switch n := m.notes; {
	case len(n.facts) > 0:
		return fmt.Sprintf("Counts known: %d.", len(n.facts))
	case n.today != nil:
		return fmt.Sprintf("Today is %s.", n.today)
	case n.last != nil && n.jobs[n.last.job] != "":
		return fmt.Sprintf("The job's status is %s.", n.jobs[n.last.job])
	case len(n.failed) > 0:
		return "The tool failed."
	case n.asked:
		return "The user has replied."
	}
	return "Nothing is known yet."
}
