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

// rename gives the tools that a host offers the names that playbooks have for them.
func (t *turn) rename() {
	names := slices.Clone(agentTools)
	for _, b := range t.books {
		names = append(names, b.Tools()...)
	}
	t.names, t.offered = map[string]string{}, map[string]string{}
	tools, schemas := []string{}, map[string]json.RawMessage{}
	for _, tool := range t.Tools {
		name, ok := mcphost.Name(tool, names)
		if !ok || t.offered[name] != "" || name != tool && slices.Contains(t.Tools, name) {
			name = tool
		}
		t.names[tool], t.offered[name] = name, tool
		tools, schemas[name] = append(tools, name), t.Schemas[tool]
	}
	t.Tools, t.Schemas, t.Must = tools, schemas, cmp.Or(t.names[t.Must], t.Must)
}

// within finds a request that an agent has put words of its own around, and the values that come with it.
func (t *turn) within(text string) bool {
	for _, b := range t.books {
		if request, given, ok := b.Within(text); ok {
			t.wrapped = true
			t.view.ask(text)
			t.view.give("")
			t.view.request = request
			maps.Copy(t.view.seen.Given, given)
			return true
		}
	}
	return false
}

// restore gives results the arguments that a host wrote over or left out, where the solution
// has made a call that has them and all the others.
func (t *turn) restore(play *playbook.Play) {
	results := t.view.seen.Results
	for i, r := range results {
		before := t.view.seen
		before.Results = results[:i:i]
		_, left := membersOf(string(r.Args))
		acts := t.next(play, before)
		at := slices.IndexFunc(acts, func(a playbook.Action) bool {
			_, wanted := membersOf(string(a.Args))
			for name, value := range left {
				if compact(string(wanted[name])) != compact(string(value)) {
					return false
				}
			}
			return a.Tool == r.Tool
		})
		if at >= 0 {
			results[i].Args = acts[at].Args
		}
	}
}

// titled matches what agents ask for besides the work: a title for the conversation.
var titled = lazyregexp.New(`(?i)\b(?:generate|write|create|suggest|give|provide|extract|come up with)\b[^.\n]{0,80}\btitle\b`)

// title answers a request for a title with the first words of what the user said.
func (c Conversation) title() (said Said, ok bool) {
	words := strings.Fields(c.last())
	if len(c.Tools) > 0 || len(words) == 0 || !titled.MatchString(c.System+"\n"+c.last()) {
		return said, false
	}
	text := strings.Join(words[:min(6, len(words))], " ")
	if c.JSON {
		text = string(JSON(map[string]string{"title": text}))
	}
	return Said{Text: text}, true
}
