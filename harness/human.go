package harness

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/agent/tool"
)

// Human answers the questions of a live or recording run in place of the tasks'
// scripted replies; false: nobody answers. Time spent waiting is no part of the
// episode's. Episodes ask concurrently; ctx ends when the run is being stopped.
type Human func(ctx context.Context, q Question) (Answer, bool)

// Question is what an episode asks its human. All text is untrusted.
type Question struct {
	// Task, Candidate and Trial say which episode asks.
	Task, Candidate string
	Trial           int
	// Text is the agent's clarifying question; empty when Call is set.
	Text string
	// Call is the tool call that needs approval; nil for a clarifying question.
	Call *tool.Call
}

// String is the question on one line, with control characters made visible so
// that a terminal can show it.
func (q Question) String() string {
	text := q.Text
	if q.Call != nil {
		text = fmt.Sprintf("Allow %s with arguments %s?", q.Call.Name, q.Call.Args)
	}
	return visible(bounded(strings.ToValidUTF8(text, "\uFFFD"), maxQuestion))
}

// Answer is what the human said.
type Answer struct {
	// Text answers a clarifying question, at most 64 KiB of it are taken;
	// Approved a tool call.
	Text     string
	Approved bool
}

const (
	maxQuestion = 4 << 10
	maxReply    = 64 << 10
)

// Answers are what the human of a live or recording run said in one episode, in
// order: what the task's replies and approvals must be for a replay.
type Answers struct {
	Task, Candidate string
	Trial           int
	Replies         []string
	Approvals       []bool
}

// answerBook collects the answers of a run.
type answerBook struct {
	mu   sync.Mutex
	list map[string]*Answers // by cassette path
}

func (b *answerBook) keep(q Question, a Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := CassettePath(q.Task, q.Candidate, q.Trial)
	to := b.list[key]
	if to == nil {
		to = &Answers{Task: q.Task, Candidate: q.Candidate, Trial: q.Trial}
		b.list[key] = to
	}
	if q.Call != nil {
		to.Approvals = append(to.Approvals, a.Approved)
	} else {
		to.Replies = append(to.Replies, a.Text)
	}
}

// inOrder returns the answers in the order of the plan.
func (b *answerBook) inOrder(plan *plan) []Answers {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == 0 {
		return nil
	}
	var out []Answers
	for _, p := range plan.all() {
		if a := b.list[CassettePath(p.task.ID, p.candidate.Name, p.trial)]; a != nil {
			out = append(out, *a)
		}
	}
	return out
}

// answer puts a question to the episode's human: the run's, or the scripted one.
func (e *episode) answer(ctx context.Context, q Question) (Answer, bool) {
	if e.human == nil || e.rows.past != nil {
		if q.Call != nil {
			return Answer{Approved: e.world.Approve()}, true
		}
		text, ok := e.world.Reply(q.Text)
		return Answer{Text: text}, ok
	}
	q.Task, q.Candidate, q.Trial = e.task.ID, e.candidate.Name, e.trial
	a, ok := e.human(ctx, q)
	a.Approved = a.Approved && ok
	a.Text = strings.ToValidUTF8(bounded(a.Text, maxReply), "\uFFFD")
	if q.Call == nil && (!ok || strings.TrimSpace(a.Text) == "") {
		return Answer{}, false
	}
	kept := a
	kept.Text = e.secrets.Redact("replies.yaml", a.Text)
	e.answers.keep(q, kept)
	return a, ok
}
