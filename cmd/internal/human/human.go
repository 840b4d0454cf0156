// Package human asks the person at a terminal, who answers in place of a task's scripted
// replies and approvals.
package human

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/harness/episode"
)

// maxLine bounds what a person may type, in bytes.
const maxLine = 64 << 10

// Prompter asks one question at a time and reads one line for each.
type Prompter struct {
	mu    sync.Mutex
	out   io.Writer
	lines chan string // closed at the end of the input
}

// New reads lines from in until it ends. A line that arrives before a question answers the next
// one.
func New(in io.Reader, out io.Writer) *Prompter {
	t := &Prompter{out: out, lines: make(chan string)}
	go func() {
		defer close(t.lines)
		s := bufio.NewScanner(in)
		s.Buffer(nil, maxLine)
		for s.Scan() {
			t.lines <- s.Text()
		}
	}()
	return t
}

// Ask implements episode.Human. An empty line and the end of the input are no
// answer; only y and yes approve.
func (t *Prompter) Ask(ctx context.Context, q episode.Question) (episode.Answer, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	hint := "answer (empty: none): "
	if q.Call != nil {
		hint = "[y/N]: "
	}
	_, _ = fmt.Fprintf(t.out, "\n%s/%s/%d asks: %s\n%s", q.Task, q.Candidate, q.Trial, q, hint)
	select {
	case <-ctx.Done():
		return episode.Answer{}, false
	case line, ok := <-t.lines:
		if !ok {
			_, _ = fmt.Fprintln(t.out)
			return episode.Answer{}, false
		}
		line = strings.TrimSpace(line)
		yes := strings.EqualFold(line, "y") || strings.EqualFold(line, "yes")
		return episode.Answer{Text: line, Approved: q.Call != nil && yes}, line != ""
	}
}
