package harness

import (
	"context"

	"github.com/cupel-eval/cupel/providers"
)

// StreamEvent is a piece of what a model says, as Options.Observe is told it. A turn
// has one begin, then texts and tool calls, then one end. Its attempts are no turns:
// a call that is made again after a failure begins no second time, and nothing is
// asked again once a piece of text has come. A fallback model's turn is a turn of its
// own. All text is untrusted.
type StreamEvent struct {
	Kind StreamKind
	// Task, Candidate and Trial name the episode, EpisodeID is its row's.
	Task, Candidate string
	Trial           int
	EpisodeID       string
	// Turn counts from 1, as in the ledger; Role and Step are the turn's.
	Turn       int
	Role, Step string
	// Model is who is asked.
	Model string
	// Text is a piece of the answer; of a candidate that does not stream the whole.
	// Reasoning and refusals are no part of it.
	Text string
	// Call is a tool call, complete.
	Call *providers.ToolCall
	// Finish is why the model stopped; Err is set instead if the call failed.
	Finish providers.Finish
	Err    error
}

// StreamKind says what a StreamEvent is.
type StreamKind string

// The kinds of stream events.
const (
	StreamBegin    StreamKind = "begin"
	StreamText     StreamKind = "text"
	StreamToolCall StreamKind = "tool_call"
	StreamEnd      StreamKind = "end"
)

// watched is a model whose calls the run's observer is told of; model itself where
// there is none. The observer is called by several episodes, and by the turns of one
// that are under way at once, at the same time: it must be safe for concurrent use.
// The events of one turn come in order, and its call waits for each.
func (e *episode) watched(m *modelCall, model providers.Model) providers.Model {
	if e.observe == nil {
		return model
	}
	about := StreamEvent{
		Task: e.task.ID, Candidate: e.candidate.Name, Trial: e.trial, EpisodeID: e.id,
		Turn: m.row + 1, Role: m.Role, Step: m.Step, Model: m.Call.Model,
	}
	return &watchedModel{model, e.observe, about}
}

type watchedModel struct {
	providers.Model
	tell  func(StreamEvent)
	about StreamEvent
}

// Call implements providers.Model.
func (w *watchedModel) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	say := func(kind StreamKind, set func(*StreamEvent)) {
		e := w.about
		e.Kind = kind
		set(&e)
		w.tell(e)
	}
	say(StreamBegin, func(*StreamEvent) {})
	streamed, next := false, call.OnDelta
	call.OnDelta = func(d providers.Delta) {
		if d.Kind == providers.DeltaText && d.Text != "" {
			streamed = true
			say(StreamText, func(e *StreamEvent) { e.Text = d.Text })
		}
		if next != nil {
			next(d)
		}
	}
	reply, err := w.Model.Call(ctx, call)
	if err == nil {
		if !streamed && reply.Text != "" {
			say(StreamText, func(e *StreamEvent) { e.Text = reply.Text })
		}
		for _, c := range reply.Calls {
			say(StreamToolCall, func(e *StreamEvent) { e.Call = &c })
		}
	}
	say(StreamEnd, func(e *StreamEvent) { e.Finish, e.Err = reply.Finish, err })
	return reply, err
}
