package harness

import (
	"context"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
)

// approve asks whoever decides about calls of a tool; nil lets the call run.
// Waiting takes no virtual time.
func (e *episode) approve(ctx context.Context, c tool.Call) *tool.Result {
	switch e.suite.Approval(c.Name) {
	case goldens.ApproveAlways:
		return nil
	case goldens.ApproveNever:
		return &tool.Result{Outcome: tool.Rejected, Code: codeForbidden, Message: "this tool must not be used here; the call was not run"}
	}
	q := Question{Call: &c}
	a, ok := e.answer(ctx, q)
	trace := Trace{Question: q.String(), Reply: "declined", Silent: !ok}
	if a.Approved {
		trace.Reply = "approved"
	}
	e.emit(trace)
	if a.Approved {
		return nil
	}
	return &tool.Result{Outcome: tool.Rejected, Code: codeDenied, Message: "the user declined this call; it was not run"}
}
