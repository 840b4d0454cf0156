package drive

import (
	"context"

	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/providers"
)

// watched wraps a model to call the run's observer; without an observer it returns model.
// Episodes, and turns of one episode, call the observer in parallel. The events of one turn
// are in order, and its call waits for each.
func watched(e *driver, m *modelCall, model providers.Model) providers.Model {
	if e.Observe == nil {
		return model
	}
	about := episode.StreamEvent{
		Task: e.Task.ID, Candidate: e.Candidate.Name, Trial: e.Trial, EpisodeID: e.id,
		Turn: m.row + 1, Role: m.Role, Step: m.Step, Model: m.Call.Model,
	}
	return &watchedModel{model, e.Observe, about}
}

type watchedModel struct {
	providers.Model
	tell  func(episode.StreamEvent)
	about episode.StreamEvent
}

// Call implements providers.Model.
func (w *watchedModel) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	say := func(kind episode.StreamKind, set func(*episode.StreamEvent)) {
		e := w.about
		e.Kind = kind
		set(&e)
		w.tell(e)
	}
	say(episode.StreamBegin, func(*episode.StreamEvent) {})
	streamed, next := false, call.OnDelta
	call.OnDelta = func(d providers.Delta) {
		if d.Kind == providers.DeltaText && d.Text != "" {
			streamed = true
			say(episode.StreamText, func(e *episode.StreamEvent) { e.Text = d.Text })
		}
		if next != nil {
			next(d)
		}
	}
	reply, err := w.Model.Call(ctx, call)
	if err == nil {
		if !streamed && reply.Text != "" {
			say(episode.StreamText, func(e *episode.StreamEvent) { e.Text = reply.Text })
		}
		for _, c := range reply.Calls {
			say(episode.StreamToolCall, func(e *episode.StreamEvent) { e.Call = &c })
		}
	}
	say(episode.StreamEnd, func(e *episode.StreamEvent) { e.Finish, e.Err = reply.Finish, err })
	return reply, err
}
