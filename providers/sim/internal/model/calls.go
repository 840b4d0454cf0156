package model

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/internal/mcphost"
)

// comment matches what the agent itself says to the model in a user's place: it is not a request.
var comment = lazyregexp.New(`^(?:Observation:|Nothing new came of that\.|That could not be used:|The answer was not accepted:|` + noRoom + `)`)

// wantsJSON matches how agents ask for an answer that is JSON where no tool takes it.
var wantsJSON = lazyregexp.New(`(?i)\bmust be (?:a )?JSON\b|\b(?:reply|answer|respond|return)\b[^.\n]{0,40}\bJSON\b`)

// noRoom begins what the agent says where only an answer is left.
const noRoom = "There is no room for more"

// readConversation reads a conversation about a request; ok is false if there is none.
func (t *turn) readConversation() (ok bool) {
	says := func(m Message) bool { return m.Text != "" && len(m.Results) == 0 && !comment.MatchString(m.Text) }
	at := t.latest(says)
	if at < 0 {
		return false
	}
	t.view.constraints, t.view.tools = line(t.System, "CONSTRAINTS:"), offered(t.Tools)
	t.view.ask(t.Messages[at].Text)
	if _, known := t.find(t.view.request); !known {
		if earlier := t.latest(func(m Message) bool { return says(m) && t.within(m.Text) }); earlier >= 0 {
			at = earlier
		}
	}
	t.history(at)
	return true
}

// history reads what was called after the request in Messages[at], and the results.
func (t *turn) history(at int) {
	var open []Call   // calls without a result
	var pending *Call // of the text protocol
	asked := false    // the model's last message is nothing but words
	v := &t.view
	for _, m := range t.Messages[at+1:] {
		if m.Own {
			v.reflect = false
			open, pending, asked = slices.Clone(m.Calls), spokenCall(m.Text), len(m.Calls) == 0
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
		case v.seen.Notice(m.Text):
		case strings.HasPrefix(m.Text, noRoom):
			v.noCalls = "no tool calls are left"
		case t.wrapped && asked:
			v.seen.Replies = append(v.seen.Replies, m.Text)
		case !v.reflect:
			v.violated = true
		}
	}
}

// came notes the result of a call.
func (t *turn) came(c Call, r Result) {
	c.Name = cmp.Or(t.names[c.Name], c.Name)
	code, message, failed := r.failure()
	text, _ := mcphost.Result(r.Text)
	if code != codeArgs {
		sent := mcphost.Arguments(c.ID, c.Name, c.Args, t.Schemas[c.Name])
		t.altered, c.Args = t.altered || sent != c.Args || sent == "", sent
	}
	switch {
	case c.Name == askUser && !failed:
		t.view.seen.Replies = append(t.view.seen.Replies, TextOf(text))
	case c.Name == askUser && code != "" && !slices.Contains([]string{codeArgs, codeIgnored, codeOneQuestion}, code):
		t.view.silent = true
	case c.Name == cannotProceed && !failed:
		t.view.gaveUp = true
	case slices.Contains(agentTools, c.Name), failed && (code == codeUnknownTool || !t.fits(c)):
		t.view.violated = true // the model's own slip
	case code == codeBudget:
		t.view.noCalls = "no tool calls are left"
	case failed:
		code = cmp.Or(code, "error")
		t.view.result(c.Name, c.Args, "", code, message)
	default:
		value, ok := playbook.CompleteJSON(text)
		if !ok {
			value = string(JSON(text))
		}
		t.view.result(c.Name, c.Args, value, "", "")
	}
}

func (r Result) failure() (code, message string, failed bool) {
	text, failed := mcphost.Result(strings.TrimPrefix(r.Text, "error: ")) // the form of wires without failed results
	if code, message, ok := mcphost.Error(text); ok {
		return code, message, true
	}
	return "", text, failed || r.Failed
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

// TextOf returns the text of a JSON string, or any other text unchanged.
func TextOf(s string) string {
	var text string
	if strings.HasPrefix(s, `"`) && json.Unmarshal([]byte(s), &text) == nil {
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
	case a.Kind == playbook.GiveUp && may(cannotProceed) && !t.view.gaveUp && !t.view.silent:
		return say(cannotProceed, map[string]string{"reason": a.Text})
	case may(finalAnswer):
		return say(finalAnswer, t.shaped(finalAnswer, a))
	case may(finishStep):
		return say(finishStep, map[string]any{"result": result(a)})
	case t.Must != "":
		return say(t.Must, t.shaped(t.Must, a))
	}
	asked := func(m Message) bool { return wantsJSON.MatchString(m.Text) }
	switch {
	case a.Kind == playbook.Answer && a.Value != nil && (wantsJSON.MatchString(t.System) || t.latest(asked) >= 0):
		return Said{Text: string(a.Value)}
	case a.Kind == playbook.Call:
		return Said{Text: "I cannot answer: there is no tool " + a.Tool + "."}
	}
	return Said{Text: a.Text}
}

// result returns the output or the answer of an action as JSON.
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
