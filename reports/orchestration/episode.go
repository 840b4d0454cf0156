// Package orchestration says who worked in an episode, on what and when, and what people were
// asked: the agents as a tree, tasks on the virtual clock, requests in order, and the totals of
// a candidate. It draws the timeline as SVG and as text.
package orchestration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/work"
	"github.com/cupel-eval/cupel/reports/words"
)

// Bounds of what is shown of an episode.
const (
	maxShown = 60 // agents, lanes and requests
	maxDepth = 6  // of the tree, as it is indented
	maxSpans = 200
)

// Episode is what is shown of one episode: copied text, visible and bounded, without a pointer
// into its rows.
type Episode struct {
	// Agents are the tree of agents, each before those that it started; empty without sub-agents.
	Agents []Agent
	// Lanes are the main conversation, the tasks, and agents without a task, by start; empty
	// without sub-agents and tasks. Length is the virtual time that they span.
	Lanes  []Lane
	Length string
	// Requests are what people were asked, in order.
	Requests []Request
	// More says what was left out.
	More string
}

// Agent is a conversation.
type Agent struct {
	// Depth is 0 of the main conversation and of agents whose parent is not known.
	Depth        int
	Name, Role   string
	Turns, Calls int
	Tokens, Cost string // words.Unknown if a turn's are
}

// Lane is a row of the timeline. Times are shares of Episode.Length.
type Lane struct {
	// Name and Title are the task, Agent who worked on it, Time when.
	Name, Title, Agent, Time, State string
	// Bad says that the task failed or is blocked.
	Bad bool
	// Span is from start to end; nil if the task was not started. Busy are the turns of the
	// agent, and Asked when it asked people.
	Span  *Span
	Busy  []Span
	Asked []float64
}

// Span is a part of the timeline.
type Span struct{ From, To float64 }

// Request is what a person was asked.
type Request struct{ At, Agent, What, Severity, Message, Answer, Wait string }

// conversation gathers what an agent did.
type conversation struct {
	name, parent, role string
	turns, calls       int
	tokens, cost       sum
	start, end         int64 // of its turns
	spans              [][2]int64
	worked             bool // on a task
}

// sum adds numbers; one that is unknown makes it unknown.
type sum struct {
	n       int64
	unknown bool
}

func (s *sum) add(n *int64) {
	if n == nil {
		s.unknown = true
		return
	}
	s.n += *n
}

func (s sum) value() *int64 {
	if s.unknown {
		return nil
	}
	return &s.n
}

// conversations returns those of an episode, in the order of their first turns; the main one is
// first.
func conversations(rows *ledger.EpisodeRows) []*conversation {
	list := []*conversation{{}}
	by := map[string]*conversation{"": list[0]}
	of := func(name, parent string) *conversation {
		if by[name] == nil {
			by[name] = &conversation{name: name, parent: parent}
			list = append(list, by[name])
		}
		return by[name]
	}
	for i := range rows.Turns {
		t := &rows.Turns[i]
		c := of(t.SubAgent, t.ParentAgent)
		if c.turns++; c.turns == 1 {
			c.role, c.start = t.Role, t.TsStart
		}
		c.end = max(c.end, t.TsEnd)
		c.spans = append(c.spans, [2]int64{t.TsStart, t.TsEnd})
		if t.HTTPStatus != nil && *t.HTTPStatus >= 400 {
			continue // it cost nothing
		}
		c.cost.add(t.CostNanoUSD)
		for _, n := range []*int64{t.In, t.Out, t.CacheRead, t.CacheWrite, t.Reasoning} {
			c.tokens.add(n)
		}
	}
	for i := range rows.ToolCalls {
		of(rows.ToolCalls[i].SubAgent, rows.ToolCalls[i].ParentAgent).calls++
	}
	return list
}

// shows reports that an episode has sub-agents, tasks, or requests besides questions of its only
// agent.
func shows(rows *ledger.EpisodeRows) bool {
	e := &rows.Episode
	return len(e.Tasks) > 0 ||
		slices.ContainsFunc(e.Requests, func(r work.Request) bool { return r.Kind != "question" || r.SubAgent != "" }) ||
		slices.ContainsFunc(rows.Turns, func(t ledger.Turn) bool { return t.SubAgent != "" }) ||
		slices.ContainsFunc(rows.ToolCalls, func(c ledger.ToolCall) bool { return c.SubAgent != "" })
}

// Of returns what is shown of an episode; nil if it has no sub-agents, no tasks, and no requests
// besides questions of its only agent.
func Of(rows ledger.EpisodeRows) *Episode {
	if !shows(&rows) {
		return nil
	}
	all, e := conversations(&rows), &rows.Episode
	b := &builder{all: all, e: e, out: &Episode{}, names: map[string]string{}}
	for _, c := range all {
		b.names[c.name] = b.nameOf(c)
	}
	if len(all) > 1 || len(e.Tasks) > 0 {
		b.tree()
		b.timeline()
	}
	for _, r := range e.Requests[:min(len(e.Requests), maxShown)] {
		b.out.Requests = append(b.out.Requests, b.request(r))
	}
	b.left(len(e.Requests)-maxShown, "request")
	b.out.More = strings.Join(b.more, ", ")
	return b.out
}

// builder makes an Episode.
type builder struct {
	all   []*conversation
	e     *ledger.Episode
	out   *Episode
	names map[string]string // of conversations
	more  []string
}

func (b *builder) left(n int, noun string) {
	if n > 0 {
		b.more = append(b.more, words.Plural(n, "more "+noun))
	}
}

// nameOf is the name of a conversation; of the main one its role, or the strategy.
func (b *builder) nameOf(c *conversation) string {
	name := c.name
	if name == "" {
		if name = c.role; name == "" || name == ledger.RoleMain {
			name = cmp.Or(b.e.Agent, "main")
		}
	}
	return strings.Clone(words.Brief(name, 40))
}

// tree fills in the agents in the order of a tree. Parents are not trusted: one that is unknown,
// or its own descendant, does not count.
func (b *builder) tree() {
	seen := map[string]bool{}
	var walk func(c *conversation, depth int)
	walk = func(c *conversation, depth int) {
		if seen[c.name] {
			return
		}
		if seen[c.name] = true; len(b.out.Agents) < maxShown {
			role := strings.Clone(words.Brief(c.role, 40))
			if role == b.names[c.name] {
				role = ""
			}
			b.out.Agents = append(b.out.Agents, Agent{
				Depth: min(depth, maxDepth), Name: b.names[c.name], Role: role, Turns: c.turns, Calls: c.calls,
				Tokens: words.Count(c.tokens.value()), Cost: words.Dollars(c.cost.value()),
			})
		}
		for _, sub := range b.all {
			if sub.parent == c.name {
				walk(sub, depth+1)
			}
		}
	}
	for _, c := range b.all {
		walk(c, 0)
	}
	b.left(len(b.all)-maxShown, "agent")
}

// timeline fills in the lanes.
func (b *builder) timeline() {
	from, to := b.e.TsStart, b.e.TsStart+max(b.e.Micros(), 1)
	by := map[string]*conversation{}
	for _, c := range b.all {
		to, by[c.name] = max(to, c.end), c
	}
	for _, t := range b.e.Tasks {
		if t.TsEnd != nil {
			to = max(to, *t.TsEnd)
		}
	}
	scale := func(at int64) float64 { return min(max(float64(at-from)/float64(to-from), 0), 1) }
	b.out.Length = words.Duration(float64(to - from))
	lane := func(l Lane, c *conversation, start, end *int64) {
		if start != nil {
			last := to
			if end != nil {
				last = *end
			}
			l.Span = &Span{scale(*start), scale(last)}
			l.Time = words.Duration(float64(*start-from)) + " to " + words.Duration(float64(last-from))
		}
		if c != nil && start != nil {
			l.Agent = b.names[c.name]
			for _, s := range c.spans[:min(len(c.spans), maxSpans)] {
				l.Busy = append(l.Busy, Span{scale(s[0]), scale(s[1])})
			}
			for _, r := range b.e.Requests {
				if r.SubAgent == c.name && len(l.Asked) < maxSpans {
					l.Asked = append(l.Asked, scale(r.TsAsked))
				}
			}
		}
		if len(b.out.Lanes) < maxShown {
			b.out.Lanes = append(b.out.Lanes, l)
		}
	}
	lane(Lane{Name: b.names[""]}, b.all[0], &from, &to)
	b.out.Lanes[0].Agent, b.out.Lanes[0].Time = "", ""
	tasks := slices.Clone(b.e.Tasks)
	slices.SortStableFunc(tasks, func(x, y work.Task) int { return cmp.Compare(startOf(x, to), startOf(y, to)) })
	for _, t := range tasks {
		c := by[t.SubAgent]
		if t.SubAgent == "" {
			c = nil
		} else if c != nil {
			c.worked = true
		}
		lane(Lane{Name: taskName(t), Title: strings.Clone(words.Brief(t.Title, 80)), State: strings.Clone(words.Join(": ", words.Brief(t.State, 40), words.Brief(strings.ReplaceAll(t.Reason, "_", " "), 40))),
			Bad: t.State == "failed" || t.State == "blocked"}, c, t.TsStart, t.TsEnd)
	}
	n := 1 + len(tasks)
	for _, c := range b.all[1:] {
		if !c.worked && c.turns > 0 {
			n++
			lane(Lane{Name: strings.Clone(words.Brief(c.role, 40))}, c, &c.start, &c.end)
		}
	}
	b.left(n-maxShown, "row")
}

// startOf is when a task was started; those that were not come last.
func startOf(t work.Task, last int64) int64 {
	if t.TsStart == nil {
		return last + 1
	}
	return *t.TsStart
}

// taskName is "tag", "plan 2, tag", or the kind of a task outside of plans.
func taskName(t work.Task) string {
	name := t.ID
	switch {
	case t.Plan == 0:
		name = t.Kind
	case t.Plan > 1:
		name = fmt.Sprintf("plan %d, %s", t.Plan, t.ID)
	}
	return strings.Clone(words.Brief(name, 40))
}

func (b *builder) request(r work.Request) Request {
	out := Request{
		At: words.Duration(float64(r.TsAsked - b.e.TsStart)), What: strings.Clone(asked(r.Kind, r.Tool)), Severity: strings.Clone(words.Brief(r.Severity, 20)),
		Message: strings.Clone(words.Clip(r.Message, 300)), Answer: "no answer",
	}
	if out.Agent = b.names[r.SubAgent]; out.Agent == "" {
		out.Agent = strings.Clone(words.Brief(r.SubAgent, 40))
	}
	if r.Say != "" {
		out.Answer, out.Wait = strings.Clone(words.Join(": ", words.Brief(r.Say, 20), words.Clip(r.Text, 200))), words.Duration(float64(r.WaitUs))
	}
	return out
}

// asked is what a request is for: "approval: publish-workflow", "plan review".
func asked(kind, tool string) string {
	kind = words.Brief(strings.ReplaceAll(kind, "_", " "), 40)
	if tool == "" || kind == "plan review" || kind == "question" {
		return kind
	}
	return kind + ": " + words.Brief(tool, 60)
}
