// Package work has the lists of an episode's row that agents with sub-agents, plans and
// approvals fill in, and the labels of people.
package work

// Request is what a person was asked for: an approval, a plan review, a question or a setup.
type Request struct {
	SubAgent string `parquet:"sub_agent"` // who asked; empty is the main conversation
	Tool     string `parquet:"tool"`
	Kind     string `parquet:"kind"`
	Severity string `parquet:"severity"`
	Message  string `parquet:"message"`
	// Say is approve, deny, feedback, answer, select or skip, and empty without an answer.
	Say     string `parquet:"say"`
	Text    string `parquet:"text"`
	TsAsked int64  `parquet:"ts_asked,timestamp(microsecond)"`
	// WaitUs is the virtual time until the answer.
	WaitUs int64 `parquet:"wait_us"`
}

// Task is a piece of work that an agent planned or handed to a sub-agent.
type Task struct {
	// ID is the name of the task in its plan, and Plan the number of that plan, from 1; empty and 0
	// if the task is outside of plans.
	ID   string `parquet:"id"`
	Plan int32  `parquet:"plan"`
	// Kind is that of the task in its plan, or delegate or build-workflow.
	Kind string `parquet:"kind"`
	// Title is what the agent calls the task, which is untrusted text.
	Title string `parquet:"title"`
	// SubAgent is the conversation that worked on the task; empty if it was the main one, or none.
	SubAgent string `parquet:"sub_agent"`
	// State is planned, running, succeeded, failed, blocked or cancelled. An episode that ends
	// early leaves tasks that are planned or running.
	State string `parquet:"state"`
	// Reason is why a task failed: idle_timeout, max_lifetime, max_turns or error; else empty.
	Reason string `parquet:"reason"`
	// TsStart is null if the task was not started, and TsEnd if it has not ended.
	TsStart *int64 `parquet:"ts_start,optional,timestamp(microsecond)"`
	TsEnd   *int64 `parquet:"ts_end,optional,timestamp(microsecond)"`
}

// Members appends a pointer to every member in schema order. Package ledger reads and writes
// the members by them.
func (r *Request) Members(dst []any) []any {
	return append(dst, &r.SubAgent, &r.Tool, &r.Kind, &r.Severity, &r.Message, &r.Say, &r.Text, &r.TsAsked, &r.WaitUs)
}

// Members is like that of Request.
func (t *Task) Members(dst []any) []any {
	return append(dst, &t.ID, &t.Plan, &t.Kind, &t.Title, &t.SubAgent, &t.State, &t.Reason, &t.TsStart, &t.TsEnd)
}

// Label is the verdict of a person on an episode, beside the automatic one.
type Label struct {
	// Check is the check that the person judged, such as judge.tone; empty if it is the whole
	// episode, whose automatic verdict is Solved.
	Check string `parquet:"check"`
	// Labeller names the person.
	Labeller string `parquet:"labeller"`
	Pass     bool   `parquet:"pass"`
	// Score is null if the person gave none.
	Score *float64 `parquet:"score,optional"`
}

// Members appends a pointer to every member in schema order.
func (l *Label) Members(dst []any) []any {
	return append(dst, &l.Check, &l.Labeller, &l.Pass, &l.Score)
}
