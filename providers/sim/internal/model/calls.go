package model

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/playbook"
)

// comment matches what the agent itself says to the model in a user's place: it is no
// request.
var comment = regexp.MustCompile(`^(?:Observation:|Nothing new came of that\.|That could not be used:|The answer was not accepted:|` + noRoom + `)`)

// noRoom begins what the agent says where only an answer is left.
const noRoom = "There is no room for more"

// readConversation reads a conversation about a request; ok is false if there is none.
func (t *turn) readConversation() (ok bool) {
	at := t.latest(func(m Message) bool { return m.Text != "" && len(m.Results) == 0 && !comment.MatchString(m.Text) })
	if at < 0 {
		return false
	}
	t.view.constraints, t.view.tools = line(t.System, "CONSTRAINTS:"), offered(t.Tools)
	t.view.ask(t.Messages[at].Text)
	t.history(at)
	return true
}

// history reads what was called after the request in Messages[at], and the results.
func (t *turn) history(at int) {
	var open []Call   // calls without a result
	var pending *Call // of the text protocol
	v := &t.view
	for _, m := range t.Messages[at+1:] {
		if m.Own {
			v.reflect = false
			open, pending = slices.Clone(m.Calls), spokenCall(m.Text)
			continue
		}
		for _, r := range m.Results {
			at := slices.IndexFunc(open, func(c Call) bool { return c.ID == r.ID && (r.ID != "" || c.Name == r.Name) })
			if at >= 0 { // else it answers nothing
				t.came(open[at], r)
				open = slices.Delete(open, at, at+1)
			}
		}
		if m.Text == "" {
			continue
		}
		v.reflect = strings.Contains(m.Text, "\nREFLECT:")
		observed, isObserved := strings.CutPrefix(m.Text, "Observation:")
		switch {
		case isObserved && pending != nil:
			observed, _, _ = strings.Cut(observed, "\n\n")
			t.came(*pending, Result{Text: strings.TrimSpace(observed)})
		case strings.HasPrefix(m.Text, noRoom):
			v.noCalls = "no tool calls are left"
		case !v.reflect:
			v.violated = true
		}
	}
}

// came notes the result of a call.
func (t *turn) came(c Call, r Result) {
	code, message, failed := r.failure()
	switch {
	case c.Name == askUser && !failed:
		t.view.seen.Replies = append(t.view.seen.Replies, textOf(r.Text))
	case slices.Contains(agentTools, c.Name), failed && (code == codeUnknownTool || !t.fits(c)):
		t.view.violated = true // the model's own slip
	case code == codeBudget:
		t.view.noCalls = "no tool calls are left"
	case failed:
		if code == "" {
			code = "error"
		}
		t.view.result(c.Name, c.Args, "", code, message)
	default:
		value, ok := repairedJSON(r.Text)
		if !ok {
			value = string(JSON(r.Text))
		}
		t.view.result(c.Name, c.Args, value, "", "")
	}
}

// failure is the error in a result.
func (r Result) failure() (code, message string, failed bool) {
	text := strings.TrimPrefix(r.Text, "error: ") // the form of wires without failed results
	var body struct {
		Error *struct{ Code, Message string }
	}
	if json.Unmarshal([]byte(text), &body) == nil && body.Error != nil {
		return body.Error.Code, body.Error.Message, true
	}
	return "", text, r.Failed
}

// fits reports whether a call was well formed: its arguments an object that has all that is
// required. If not, it is the model's own slip that the tool complains of.
func (t *turn) fits(c Call) bool {
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Args), &args) != nil || args == nil {
		return false
	}
	_, required := t.arguments(c.Name)
	return !slices.ContainsFunc(required, func(name string) bool { return args[name] == nil })
}

// textOf is a text as it stands, or the one a JSON string represents.
func textOf(s string) string {
	var text string
	if json.Unmarshal([]byte(s), &text) == nil {
		return text
	}
	return s
}

// perform decides and says so in native calls.
func (t *turn) perform(play *playbook.Play) Said {
	acts := t.decide(play, t.Serial).acts
	said := t.render(acts)
	if slip, drawn := pick(t.draws.form, t.profile.native, formScale[nativeSlip](t)); drawn {
		said = t.fumble(slip, said, acts[0], t.draws.formDetail)
	}
	return said
}

// render says actions in calls of available tools, or in a text.
func (t *turn) render(acts []playbook.Action) Said {
	a := acts[0]
	may := func(tool string) bool {
		return !t.None && slices.Contains(t.Tools, tool) && (t.Must == "" || t.Any || t.Must == tool)
	}
	say := func(tool string, args any) Said {
		return Said{Calls: []Call{{Name: tool, Args: string(JSON(args))}}}
	}
	switch {
	case a.Kind == playbook.Call && may(a.Tool):
		var out Said
		for _, a := range acts {
			out.Calls = append(out.Calls, Call{Name: a.Tool, Args: string(a.Args)})
		}
		return out
	case a.Kind == playbook.Ask && may(askUser):
		return say(askUser, map[string]string{"question": a.Text})
	case a.Kind == playbook.GiveUp && may(cannotProceed):
		return say(cannotProceed, map[string]string{"reason": a.Text})
	case may(finalAnswer):
		return say(finalAnswer, t.shaped(finalAnswer, a))
	case may(finishStep):
		return say(finishStep, map[string]any{"result": result(a)})
	case t.Must != "":
		return say(t.Must, t.shaped(t.Must, a))
	}
	return Said{Text: a.Text}
}

// result is what an action hands on or answers, as JSON.
func result(a playbook.Action) any {
	if a.Value != nil {
		return a.Value
	}
	return a.Text
}

// shaped is an answer as the arguments of a tool: the answer's own value, alone in the
// member that the tool has for it if the value is not an object of its members.
func (t *turn) shaped(tool string, a playbook.Action) any {
	properties, required := t.arguments(tool)
	var members map[string]json.RawMessage
	if json.Unmarshal(a.Value, &members) == nil {
		if !slices.ContainsFunc(required, func(name string) bool { return members[name] == nil }) {
			return a.Value
		}
	}
	names := slices.Sorted(maps.Keys(properties))
	if len(names) == 0 {
		names = []string{"output"}
	}
	return map[string]any{names[0]: result(a)}
}
