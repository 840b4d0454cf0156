package drive

import (
	"context"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/episode"
)

// approve requests a decision about a call of a tool; nil lets the call run. Waiting takes
// no virtual time.
func approve(ctx context.Context, e *driver, c tool.Call) *tool.Result {
	switch e.Suite.Approval(c.Name) {
	case goldens.ApproveAlways:
		return nil
	case goldens.ApproveNever:
		return &tool.Result{Outcome: tool.Rejected, Code: codeForbidden, Message: "this tool must not be used here; the call was not run"}
	}
	q := episode.Question{Call: &c}
	a, ok := answer(ctx, e, q)
	trace := episode.Trace{Question: q.String(), Reply: "declined", Silent: !ok}
	if a.Approved {
		trace.Reply = "approved"
	}
	e.emit(trace)
	if a.Approved {
		return nil
	}
	return &tool.Result{Outcome: tool.Rejected, Code: codeDenied, Message: "the user declined this call; it was not run"}
}

// ask sends a question to the human. Waiting takes no virtual time.
func ask(ctx context.Context, e *driver, c agent.AskUser) completion {
	a, ok := answer(ctx, e, episode.Question{Text: c.Question})
	if ctx.Err() != nil {
		return completion{at: e.clock, id: c.ID, event: agent.Cancelled{At: e.clock}}
	}
	e.rows.clarifies++
	e.emit(episode.Trace{Question: c.Question, Reply: a.Text, Silent: !ok})
	return completion{at: e.clock, id: c.ID, event: agent.UserReplied{At: e.clock, ID: c.ID, Text: a.Text, Silent: !ok}}
}
