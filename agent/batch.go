package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
)

// maxItems bounds the items of a batch.
const maxItems = 1000

// batch works on the items of a list one by one, each in its own loop.
type batch struct {
	strategy.Batch
	items   []json.RawMessage
	results []json.RawMessage // in item order; nil until there is one
	running map[*loop]int     // the item of each
	begun   int               // items
	parent  int               // the command that led to the next ones
	spent   StopReason        // the used-up budget, the same for all items
}

func newBatch(items []json.RawMessage, b strategy.Batch) *batch {
	b.Size = max(b.Size, 1)
	return &batch{Batch: b, items: items, results: make([]json.RawMessage, len(items)), running: map[*loop]int{}}
}

// itemsOf are the items of the input of that name, which must be a list.
func itemsOf(inputs []strategy.Input, name string) ([]json.RawMessage, error) {
	for _, in := range inputs {
		if in.Name != name {
			continue
		}
		list, _, ok := tool.ParseJSON(strings.TrimSpace(string(in.Value)))
		switch {
		case !ok || list.Kind != '[':
			return nil, fmt.Errorf("each: input %q is not a JSON list; give it a list, or remove each", name)
		case len(list.Elems) > maxItems:
			return nil, fmt.Errorf("each: input %q has %d items; give it at most %d", name, len(list.Elems), maxItems)
		}
		items := make([]json.RawMessage, len(list.Elems))
		for i, e := range list.Elems {
			items[i] = json.RawMessage(e.Raw)
		}
		return items, nil
	}
	return nil, fmt.Errorf("each: the task has no input %q", name)
}

// fill starts the items of the next batch. If no item is left, the episode ends.
func (b *batch) fill(m *toolsMachine) {
	for len(b.running) == 0 && b.begun < len(b.items) && b.spent == "" {
		from := b.begun
		b.begun = min(from+b.Size, len(b.items))
		for i := from; i < b.begun; i++ {
			l := newLoop(&m.loopBase, m.spec(b.items[i]))
			b.running[l] = i
			l.begin(b.parent)
			if b.ended(m, l) {
				return
			}
		}
	}
	if len(b.running) == 0 {
		b.finish(m)
	}
}

// onLoopEnd continues after a loop: it starts the next batch when all loops of one have ended.
func (b *batch) onLoopEnd(m *toolsMachine, l *loop) {
	if b.ended(m, l) || len(b.running) > 0 {
		return
	}
	b.parent = l.parent
	if b.Delay > 0 && b.begun < len(b.items) && b.spent == "" {
		w := m.Wait(Wait{Parent: b.parent, For: b.Delay})
		b.parent = w.ID
		m.issue(w, w.ID, nil)
		return
	}
	b.fill(m)
}

// ended keeps the result of a loop that is over and reports whether that ends the
// episode. A budget that is used up is so for all: what is in progress may still end.
func (b *batch) ended(m *toolsMachine, l *loop) bool {
	if l.end == nil {
		return false
	}
	e, i := *l.end, b.running[l]
	delete(b.running, l)
	switch {
	case e.Status == Answered && e.Value != nil:
		b.results[i] = e.Value
	case e.Status == Answered:
		b.results[i], _ = json.Marshal(e.Text) // a string always encodes
	case e.ofEpisode():
		b.spent = e.Reason
	case e.Unanswered || b.StopOnFail:
		m.finish(m.finishOf(e))
		return true
	default:
		b.results[i] = itemError(e.problem())
	}
	return false
}

// finish ends the episode with the results there are.
func (b *batch) finish(m *toolsMachine) {
	f := Finish{Status: Answered, Answer: b.answer()}
	switch {
	case b.spent != "":
		f.Status, f.StopReason = Stopped, b.spent
	case len(m.evidence.replies) > 0:
		f.Status = answeredAfterClarify
	}
	m.finish(f)
}

// answer is the list of results, in item order.
func (b *batch) answer() string {
	all := slices.Clone(b.results)
	for i, r := range all {
		if r == nil {
			all[i] = itemError("the episode ended before there was an answer")
		}
	}
	text, _ := json.Marshal(all) // what is in it is JSON
	return string(text)
}

// itemError replaces the result of an item that failed.
func itemError(problem string) json.RawMessage {
	text, _ := json.Marshal(map[string]string{"error": problem}) // a string always encodes
	return text
}
