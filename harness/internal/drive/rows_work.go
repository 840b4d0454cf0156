package drive

import (
	"cmp"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/orchestrator/worklog"
	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/harness/ledger/work"
	"github.com/cupel-eval/cupel/internal/clip"
)

// request opens the row of a request to a person and returns its index.
func (b *rowBuilder) request(who string, r person.Request, at time.Time) int {
	b.requests = append(b.requests, work.Request{
		SubAgent: clip.Bytes(who, 200), Tool: clip.Bytes(r.Tool, 200), Kind: r.Kind, Severity: cmp.Or(r.Severity, person.Info),
		Message: clip.Bytes(r.Message, 500), TsAsked: at.UnixMicro(),
	})
	return len(b.requests) - 1
}

// answered fills in what the person said after a virtual wait; nothing if they did not answer.
func (b *rowBuilder) answered(row int, a person.Answer, ok bool, wait time.Duration) {
	if !ok {
		return
	}
	r := &b.requests[row]
	r.Say, r.Text, r.WaitUs = a.Say, clip.Bytes(cmp.Or(a.Text, strings.Join(a.Choices, ", ")), 500), wait.Microseconds()
}

// maxTasks bounds the tasks of an episode, because models make plans.
const maxTasks = 500

// taskRows returns what the machine reported of its first tasks.
func taskRows(tasks []worklog.Task) []work.Task {
	var out []work.Task
	for _, t := range tasks[:min(len(tasks), maxTasks)] {
		out = append(out, work.Task{
			ID: clip.Bytes(t.ID, 200), Plan: int32(t.Plan), Kind: clip.Bytes(t.Kind, 200), Title: clip.Bytes(t.Title, 200),
			SubAgent: clip.Bytes(t.Agent, 200), State: clip.Bytes(string(t.State), 200), Reason: clip.Bytes(t.Reason, 200),
			TsStart: microsOf(t.Start), TsEnd: microsOf(t.End),
		})
	}
	return out
}

// microsOf returns a time of the ledger; null for the zero time.
func microsOf(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMicro())
}
