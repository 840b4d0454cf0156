package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/recorder"
)

// askOnTerminal makes the person at the terminal the run's human. Episodes then
// run one after the other unless the configuration says otherwise.
func (p *process) askOnTerminal(o *harness.Options) error {
	if o.Mode == recorder.Replay || o.Mode == "" {
		return exit.Usage(errors.New("--human asks while a run is recorded or live: give --mode record or --mode live; a replay takes the tasks' replies and approvals"))
	}
	if p.stdin == nil || !term.IsTerminal(int(p.stdin.Fd())) {
		return exit.Usage(errors.New("--human needs a terminal to ask on, and standard input is none: leave it out and give the tasks replies and approvals"))
	}
	if o.Concurrency == 0 {
		o.Concurrency = 1
	}
	o.Human = newPrompter(p.stdin, p.stderr).ask
	return nil
}

// maxLine bounds what a person may type, in bytes.
const maxLine = 64 << 10

// prompter asks one question at a time and reads one line for each.
type prompter struct {
	mu    sync.Mutex
	out   io.Writer
	lines chan string // closed at the end of the input
}

// newPrompter reads lines from in until it ends. A line nobody asked for yet
// waits for the next question.
func newPrompter(in io.Reader, out io.Writer) *prompter {
	t := &prompter{out: out, lines: make(chan string)}
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

// ask implements harness.Human. An empty line and the end of the input are no
// answer; only y and yes approve.
func (t *prompter) ask(ctx context.Context, q harness.Question) (harness.Answer, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	hint := "answer (empty: none): "
	if q.Call != nil {
		hint = "[y/N]: "
	}
	_, _ = fmt.Fprintf(t.out, "\n%s/%s/%d asks: %s\n%s", q.Task, q.Candidate, q.Trial, q, hint)
	select {
	case <-ctx.Done():
		return harness.Answer{}, false
	case line, ok := <-t.lines:
		if !ok {
			_, _ = fmt.Fprintln(t.out)
			return harness.Answer{}, false
		}
		line = strings.TrimSpace(line)
		yes := strings.EqualFold(line, "y") || strings.EqualFold(line, "yes")
		return harness.Answer{Text: line, Approved: q.Call != nil && yes}, line != ""
	}
}
