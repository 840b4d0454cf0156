package otlp

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/imports"
)

// Names of what is left out, besides those of spans and events.
const (
	leftRepeated = "spans exported twice"
	leftParents  = "spans whose parent is not in the files"
	leftInner    = "model calls inside a model call, and tools inside a tool"
)

// maxParts bounds the turns and the calls of an episode.
const maxParts = 10_000

// episodes joins what was collected, and groups it by conversation or by trace.
func (c *collector) episodes(byTrace bool) []imports.Episode {
	c.unique()
	c.link()
	c.join()
	c.breakCycles()
	groups := map[string][]*span{}
	for id, list := range c.traces() {
		slices.SortStableFunc(list, inOrder)
		if !byTrace {
			for _, s := range list {
				if name := cmp.Or(s.text(attrConversation, "session.id"), c.conversations[id]); name != "" {
					id = "conversation " + name
					break
				}
			}
		}
		groups[id] = append(groups[id], list...)
	}
	var out []imports.Episode
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		list := groups[id]
		slices.SortStableFunc(list, inOrder)
		e, ok := c.episode(id, list)
		if ok {
			out = append(out, e)
		}
	}
	return out
}

// inOrder sorts spans by time; those of cupel that start together by turn.
func inOrder(a, b *span) int {
	turn := func(s *span) int64 {
		n, _ := s.attrs[attrTurn].(int64)
		return n
	}
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(turn(a), turn(b)), cmp.Compare(a.id, b.id))
}

func (c *collector) traces() map[string][]*span {
	out := map[string][]*span{}
	for _, s := range c.spans {
		out[s.trace] = append(out[s.trace], s)
	}
	return out
}

// unique removes spans that were exported twice, and refuses different ones of one id.
func (c *collector) unique() {
	first := map[[2]string]*span{}
	var out []*span
	for _, s := range c.spans {
		was := first[[2]string{s.trace, s.id}]
		switch {
		case was == nil:
			first[[2]string{s.trace, s.id}] = s
			out = append(out, s)
		case was.name == s.name && was.start == s.start && was.end == s.end && was.parent == s.parent && reflect.DeepEqual(was.attrs, s.attrs):
			c.leftOut[leftRepeated]++
		default:
			c.note(fmt.Sprintf("%s: span %s of trace %s is also at %s, with other content; the first is kept with --keep-going", s.place, quote(s.id), quote(s.trace), was.place))
		}
	}
	c.spans = out
}

// link finds the parents and the kinds of spans.
func (c *collector) link() {
	by := map[[2]string]*span{}
	for _, s := range c.spans {
		s.kind = kindOf(s)
		by[[2]string{s.trace, s.id}] = s
	}
	for _, s := range c.spans {
		if s.up = by[[2]string{s.trace, s.parent}]; s.up == nil && s.parent != "" {
			c.leftOut[leftParents]++
		}
	}
}

// breakCycles refuses spans that are their own ancestors.
func (c *collector) breakCycles() {
	const visiting, done = 1, 2
	state := map[*span]int{}
	bad := map[*span]bool{}
	for _, s := range c.spans {
		var path []*span
		for at := s; at != nil && state[at] != done; at = at.up {
			if state[at] == visiting {
				c.note(fmt.Sprintf("%s: span %s of trace %s is its own ancestor; its parents make a cycle", at.place, quote(at.id), quote(at.trace)))
				for _, p := range path[slices.Index(path, at):] {
					bad[p] = true
				}
				break
			}
			state[at] = visiting
			path = append(path, at)
		}
		for _, p := range path {
			state[p] = done
		}
	}
	if len(bad) == 0 {
		return
	}
	c.spans = slices.DeleteFunc(c.spans, func(s *span) bool { return bad[s] })
	for _, s := range c.spans {
		if bad[s.up] {
			s.up = nil
		}
	}
}

// within returns the nearest ancestor of a kind.
func (s *span) within(k kind) *span {
	for at := s.up; at != nil; at = at.up {
		if at.kind == k {
			return at
		}
	}
	return nil
}

// episode makes an episode of spans in order of time.
func (c *collector) episode(id string, list []*span) (imports.Episode, bool) {
	e := imports.Episode{ID: id}
	var root *span
	var chats, tools []*span
	for _, s := range list {
		switch {
		case s.kind == chatSpan && s.within(chatSpan) != nil, s.kind == toolSpan && s.within(toolSpan) != nil:
			if s.kind == chatSpan {
				s.within(chatSpan).fill(s)
			}
			c.leftOut[leftInner]++
		case s.kind == chatSpan:
			chats = append(chats, s)
		case s.kind == toolSpan:
			tools = append(tools, s)
		case s.kind == agentSpan && root == nil && s.within(agentSpan) == nil:
			root = s
		case s.kind == other:
			c.leftOut["span "+s.name]++
		}
	}
	if len(chats)+len(tools) == 0 {
		return e, false
	}
	if max(len(chats), len(tools)) > maxParts {
		c.note(fmt.Sprintf("%s: trace %s has %d model calls and %d tool calls, more than %d of a kind", list[0].place, quote(list[0].trace), len(chats), len(tools), maxParts))
		return e, false
	}
	e.Start, e.End = list[0].start/1000, list[0].end/1000
	for _, s := range list {
		e.End = max(e.End, s.end/1000)
	}
	for _, s := range chats {
		e.Turns = append(e.Turns, turnOf(s))
	}
	for _, s := range tools {
		e.Calls = append(e.Calls, callOf(s, e.Turns))
	}
	describe(&e, root, chats, list)
	return e, true
}

// fill takes over what only an inner span of the same call knows.
func (s *span) fill(inner *span) {
	for name, v := range inner.attrs {
		if _, known := s.attrs[name]; !known {
			s.attrs[name] = v
		}
	}
	if s.name == agentsTurn { // which includes the tools
		s.start, s.end = inner.start, inner.end
	}
	s.failed, s.message = s.failed || inner.failed, cmp.Or(s.message, inner.message)
}

// describe fills in what an episode is about and who took part.
func describe(e *imports.Episode, root *span, chats, list []*span) {
	for i, s := range chats {
		if aside(s) && len(chats) > 1 {
			continue
		}
		if e.Model == "" {
			e.Model, e.Provider = s.text(namesModel...), provider(s.text(namesProvider...))
		}
		if e.Request == nil {
			e.Request = request(e.Turns[i].Said.Messages)
		}
		e.Answer = nil
		if t := e.Turns[i]; len(t.Said.Calls) == 0 && t.Failed == "" {
			e.Answer = t.Said.Output
		}
	}
	if root == nil {
		root = list[0]
	}
	if r := request(messages(root.first(namesInput...))); r != nil && root.kind == agentSpan {
		e.Request = r
	}
	if root.kind == agentSpan {
		if text := root.known("user_prompt"); text != nil {
			e.Request = text
		}
		if s := said(root); s.Output != nil {
			e.Answer = s.Output
		}
		if root.failed {
			e.Failed = cmp.Or(root.message, root.text(namesError...), "the trace says that the agent failed")
		}
	}
	e.Task, e.Agent = root.text(attrTask), root.text(attrStrategy)
	if n := root.int(attrTrial); n != nil && *n < 1<<30 {
		e.Trial = int(*n)
	}
	service, _ := root.resource.attrs["service.name"].(string)
	if strings.HasPrefix(service, "unknown_service") {
		service = ""
	}
	e.Candidate = cmp.Or(root.text(attrCandidate), root.text(attrAgentName), root.text("n8n.workflow.name"), service)
}

// provider is the part of a provider's name before the wire, as in openai.responses.
func provider(name string) string {
	if before, _, ok := strings.Cut(name, "."); ok && (before == "openai" || before == "anthropic" || before == "google" || before == "mistral") {
		return before
	}
	return name
}
