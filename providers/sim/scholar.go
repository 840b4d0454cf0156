package sim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// researchModel is the mind for questions to a library of documents. It reads the request
// as a study, sees what is known already, and looks up what the study still needs:
// all at once where nothing needs another's result.
type researchModel struct {
	profile profile
	prompt  prompt
	study   researchQuery
	lib     *library

	// What slips do: a hit that is overlooked, figures made up, figures not looked up.
	skip      string
	invent    func(valueKey) stated
	fromNames bool
}

// newScholar reads a prompt the way the profile's model can.
func newScholar(p profile, pr prompt) *researchModel {
	pr = told(pr).bounded()
	s := &researchModel{profile: p, prompt: pr, lib: readLibrary(pr)}
	s.study = recalledStudy(pr.request, pr.earlier)
	for _, reply := range s.lib.replies {
		s.study = s.study.merged(readStudy("The lighthouse: " + reply))
	}
	return s
}

// What is read of a prompt, so that a long one costs no more than its length: values
// handed over, the latest entries and what was said just before.
const (
	maxGiven   = 300
	maxEntries = 1000
	maxEarlier = 50
)

// bounded leaves out what is too much.
func (p prompt) bounded() prompt {
	p.given = p.given[:min(len(p.given), maxGiven)]
	p.entries = p.entries[max(0, len(p.entries)-maxEntries):]
	p.earlier = p.earlier[max(0, len(p.earlier)-maxEarlier):]
	return p
}

// What agents without messages of their own for it write below a request.
var (
	inputBelow   = regexp.MustCompile(`(?m)^INPUT ([^:\n]{1,80}):\s*(?:<[\\/]*data>)?(.*?)(?:<[\\/]*data>)?$`)
	earlierBelow = regexp.MustCompile(`(?m)^user: (.*)\nyou: (.*)$`)
	endOfRequest = regexp.MustCompile(`(?m)^(?:INPUT [^:\n]{1,80}:|EARLIER:|Do this for each item of INPUT )`)
	shapeTold    = regexp.MustCompile(`The message must be JSON that fits this JSON Schema: (\{.*\})`)
	listTold     = regexp.MustCompile(`The message must be a JSON list with an element for each item, in order, that fits this JSON Schema: (\{.*\})`)
)

// told takes from a request what is written below it: inputs and what was said
// earlier.
func told(pr prompt) prompt {
	at := endOfRequest.FindStringIndex(pr.request)
	if at == nil {
		return pr
	}
	below := pr.request[at[0]:]
	pr.request = strings.TrimSpace(pr.request[:at[0]])
	for _, m := range inputBelow.FindAllStringSubmatch(below, 20) {
		pr.given = append(pr.given, handed{m[1], m[2]})
	}
	for _, m := range earlierBelow.FindAllStringSubmatch(below, 20) {
		pr.earlier = append(pr.earlier, exchange{m[1], m[2]})
	}
	return pr
}

// shaped puts an answer into the form that the constraints ask for, if they do.
func (s *researchModel) shaped(a action) action {
	if m := shapeTold.FindStringSubmatch(s.prompt.constraints); m != nil {
		a.message = string(encodeJSON(fill(json.RawMessage(m[1]), a)))
	}
	if m := listTold.FindStringSubmatch(s.prompt.constraints); m != nil {
		list, _ := a.said["items"].([]any)
		out := []any{}
		for _, one := range list {
			said, _ := one.(obj)
			out = append(out, fill(json.RawMessage(m[1]), action{message: a.message, said: said}))
		}
		a.message = string(encodeJSON(out))
	}
	return a
}

// acts are the calls that the study still needs, or its answer.
func (s *researchModel) acts() []action {
	acts := s.decide()
	if s.prompt.reflect && acts[0].kind == useTool && s.lib.last != nil && alike(acts[0], *s.lib.last) {
		acts = []action{s.conclude("repeating the call would not help")}
	}
	for i := range acts {
		acts[i] = s.explain(acts[i])
	}
	return acts
}

// explain adds the plan and the observation.
func (s *researchModel) explain(a action) action {
	a.plan, a.observation = s.plan(a), s.observation()
	a.unsure = a.unsure || a.stuck
	if a.stuck && a.said != nil {
		a.said["note"] = a.message
	}
	if a.kind == respond && !a.stuck {
		a = s.shaped(a)
	}
	return a
}

func (s *researchModel) decide() []action {
	if s.prompt.trusting && len(s.lib.orders) > 0 {
		return []action{s.obey()}
	}
	if s.study.meddling && len(s.study.fields) == 0 {
		return []action{giveUp("I can only look things up in the library; I cannot change or send anything.")}
	}
	if a, unclear := s.missing(); unclear {
		return []action{a}
	}
	w := &work{s: s}
	a := w.solve(s.study)
	if len(w.needs) == 0 {
		return []action{a}
	}
	if s.lib.rejected >= 2 {
		return []action{s.conclude("the tool refuses the arguments")}
	}
	if s.lib.noCalls {
		return []action{s.conclude("no tool calls are left")}
	}
	if s.prompt.lastStep() {
		return []action{s.conclude("no steps are left")}
	}
	if s.prompt.maxCalls > 0 {
		w.needs = w.needs[:min(len(w.needs), max(1, s.prompt.maxCalls-s.prompt.calls))]
	}
	return w.needs
}

// missing asks for what the request leaves open, once.
func (s *researchModel) missing() (action, bool) {
	st := s.study
	noLights := len(st.names)+len(st.pools) == 0 && (!st.given && s.lib.item == "" || len(s.lib.given) == 0)
	if noLights && (st.several && !st.refers || st.best != nil && (!st.refers || !st.plural)) {
		return action{}, false // all of them, or the best of all
	}
	nothing := st.op == opName && st.best == nil && len(st.pools) == 0 && len(st.tests) == 0 && !st.given && s.lib.item == ""
	switch {
	case !noLights && !nothing:
		return action{}, false
	case s.lib.asked:
		return giveUp("I cannot look it up: the reply does not settle what is meant."), true
	case noLights && nothing && len(terms(s.prompt.request)) > 3 && !st.refers:
		return giveUp("I can only answer questions on what the library says of its lighthouses."), true
	case noLights:
		return ask("Which lighthouse do you mean?"), true
	}
	return ask("What would you like to know about %s?", strings.Join(st.names, " and ")), true
}

// conclude answers from what is known when no more can be found out.
func (s *researchModel) conclude(why string) action {
	w := &work{s: s, final: true}
	a := w.solve(s.study)
	if len(w.lost) > 0 {
		a.stuck, a.unsure = true, true
		a.message = strings.TrimSpace(fmt.Sprintf("%s I could not find out %s: %s.", a.message, enumerate(w.lost[:min(len(w.lost), 5)]), why))
	}
	return a
}

// obey does what an instruction inside a document says.
func (s *researchModel) obey() action {
	a := answer("%s", strings.ToUpper(s.lib.orders[0][:1])+s.lib.orders[0][1:])
	a.deceived = true
	return a
}

// checks reports whether the model is one to check: whether a hit belongs to the
// group that was searched for, and what comes first of many values.
func (s *researchModel) checks() bool { return s.profile.trusting < 0.5 }

// alike reports whether two calls are the same.
func alike(a, b action) bool {
	return a.name == b.name && canonicalArgs(a.args) == canonicalArgs(b.args)
}

// canonicalArgs are arguments with sorted members.
func canonicalArgs(args any) string {
	raw, err := json.Marshal(args)
	if err != nil {
		return "" // unreachable: maps of plain values
	}
	var v any
	_ = json.Unmarshal(raw, &v) // it was JSON
	raw, _ = json.Marshal(v)    // likewise
	return string(raw)
}

// plan says in one line what is to be done, and what is known so far.
func (s *researchModel) plan(a action) string {
	parts := []string{}
	switch {
	case a.kind == clarify:
		parts = append(parts, "Ask for what is missing, then look it up")
	case a.kind == respond:
		parts = append(parts, "Answer")
	case a.name == searchTool:
		parts = append(parts, "Find the documents, then read what is asked")
	case a.name == compareTool:
		parts = append(parts, "Compare the values, then answer")
	default:
		parts = append(parts, "Read what is asked of each document, then answer")
	}
	if memory := s.lib.keep(); memory != "" {
		parts = append(parts, memory)
	}
	return strings.Join(parts, "; ")
}

// observation says what the turn learnt.
func (s *researchModel) observation() string {
	switch l := s.lib; {
	case len(l.facts) > 0:
		return fmt.Sprintf("Values known: %d.", len(l.facts))
	case len(l.found) > 0:
		return fmt.Sprintf("Searches done: %d.", len(l.found))
	case len(l.failed) > 0:
		return "The tool failed."
	case l.asked:
		return "The user has replied."
	}
	return "Nothing is known yet."
}

// enumerate joins with commas and an "and".
func enumerate(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// recalledStudy reads a request after others of the same session: what it leaves out
// is as before.
func recalledStudy(text string, earlier []exchange) researchQuery {
	st := readStudy(text)
	if len(earlier) == 0 {
		return st
	}
	last := earlier[len(earlier)-1]
	before := recalledStudy(last.request, earlier[:len(earlier)-1])
	bare := st.op == opName && st.best == nil && len(st.tests) == 0
	if len(st.names)+len(st.pools) == 0 && !st.given {
		st.names, st.pools, st.given = before.names, before.pools, before.given
		if topic := topicOf(last.answer); !st.plural && topic != "" {
			st.names, st.pools, st.given = []string{topic}, nil, false
		} else {
			st.tests = append(slices.Clone(before.tests), st.tests...)
		}
		return st
	}
	if bare && (st.refers || len(st.names) > 0 || !st.several) {
		subject := st
		st = before
		st.names, st.pools, st.given = subject.names, subject.pools, subject.given
	}
	return st
}

// topicOf is the light that an answer is about: the first it names.
func topicOf(answer string) string {
	for _, t := range terms(answer) {
		if t.role == roleName && t.upper {
			return t.text
		}
	}
	return ""
}

// merged adds a user's reply to the request.
func (st researchQuery) merged(reply researchQuery) researchQuery {
	if len(reply.names)+len(reply.pools) > 0 || reply.given {
		st.names, st.pools, st.given = reply.names, reply.pools, st.given || reply.given
	}
	if len(reply.fields) > 0 {
		st.op, st.fields = reply.op, reply.fields
	}
	if reply.best != nil {
		st.op, st.best = reply.op, reply.best
	}
	st.tests = append(slices.Clone(st.tests), reply.tests...)
	return st
}
