package drive

import (
	"context"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/internal/clip"
)

const maxReply = 64 << 10

// AnswerBook collects the answers of a run.
type AnswerBook struct {
	mu   sync.Mutex
	list map[string]*episode.Answers // by episode
}

// NewAnswerBook returns an empty book.
func NewAnswerBook() *AnswerBook { return &AnswerBook{list: map[string]*episode.Answers{}} }

// Take adds the answers of an episode.
func (b *AnswerBook) Take(a episode.Answers) { b.list[EpisodeName(a.Task, a.Candidate, a.Trial)] = &a }

func (b *AnswerBook) keep(q episode.Question, a episode.Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := EpisodeName(q.Task, q.Candidate, q.Trial)
	to := b.list[key]
	if to == nil {
		to = &episode.Answers{Task: q.Task, Candidate: q.Candidate, Trial: q.Trial}
		b.list[key] = to
	}
	if q.Call != nil {
		to.Approvals = append(to.Approvals, a.Approved)
	} else {
		to.Replies = append(to.Replies, a.Text)
	}
}

// Of returns the answers of the n episodes named by name, in their order.
func (b *AnswerBook) Of(n int, name func(i int) string) []episode.Answers {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == 0 {
		return nil
	}
	var out []episode.Answers
	for i := range n {
		if a := b.list[name(i)]; a != nil {
			out = append(out, *a)
		}
	}
	return out
}

// answer sends a question to the episode's human: the run's, or the scripted one.
func answer(ctx context.Context, e *driver, q episode.Question) (episode.Answer, bool) {
	if e.Human == nil || e.rows.past != nil {
		if q.Call != nil {
			return episode.Answer{Approved: e.world.Approve()}, true
		}
		text, ok := e.world.Reply(q.Text)
		return episode.Answer{Text: text}, ok
	}
	q.Task, q.Candidate, q.Trial = e.Task.ID, e.Candidate.Name, e.Trial
	a, ok := e.Human(ctx, q)
	a.Approved = a.Approved && ok
	a.Text = strings.ToValidUTF8(clip.Bytes(a.Text, maxReply), "\uFFFD")
	if q.Call == nil && (!ok || strings.TrimSpace(a.Text) == "") {
		return episode.Answer{}, false
	}
	kept := a
	kept.Text = e.Secrets.Redact("replies.yaml", a.Text)
	e.Answers.keep(q, kept)
	return a, ok
}
