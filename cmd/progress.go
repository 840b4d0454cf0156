package cmd

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/cupel-eval/cupel/harness"
)

// width is the width of standard output in columns; 100 when it is no terminal.
func (p *process) width() int {
	if f, ok := file(p.stdout); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 100
}

// progress shows a run under way: one live line on a terminal, which a summary
// replaces in the end, and plain lines elsewhere.
type progress struct {
	stderr, out io.Writer // out is where the run is shown; nowhere if it is not to be
	term        io.Writer // the terminal of the live line; nil for plain lines
	now         func() time.Time
	clean       func(string) string
	cap         int64 // on the cost, in nano-USD; 0 for none

	mu    sync.Mutex
	live  *mpb.Progress
	bar   *mpb.Bar
	state harness.Progress
	pace  pace
	plain plainLines
}

// newProgress shows no live line where questions are asked on the same terminal.
func newProgress(p *process, f runFlags) *progress {
	g := &progress{stderr: p.stderr, out: p.stderr, now: p.now}
	// The terminal is written to past the writer that looks for credentials.
	g.clean = func(s string) string { return p.secrets.Redact("output", s) }
	if f.quiet || f.asJSON {
		g.out = io.Discard
	} else if t, ok := file(p.stderr); ok && !f.human && term.IsTerminal(int(t.Fd())) {
		g.term = t
	}
	return g
}

// watch takes the state of a run that begins, and between its episodes.
func (g *progress) watch(s harness.Progress) {
	g.mu.Lock()
	defer g.mu.Unlock()
	begins := g.pace.begun.IsZero()
	if begins {
		g.pace.begun = g.now()
		g.plain.begin(g.pace.begun, s)
	}
	g.state = s
	if g.term == nil {
		g.write(g.plain.between(g.now(), g.view()))
	} else if begins {
		g.live = mpb.New(mpb.WithOutput(g.term), mpb.WithRefreshRate(200*time.Millisecond))
		g.bar = g.live.MustAdd(0, nil, mpb.BarFillerTrim(), mpb.PrependDecorators(decor.Any(func(s decor.Statistics) string {
			return g.line(s.AvailableWidth - 1) // the last column is left to the cursor
		})))
	}
}

// episode takes the state after an episode.
func (g *progress) episode(s harness.Progress) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = s
	g.pace.ended(g.now())
	if g.term == nil {
		g.write(g.plain.ended(g.now(), g.view()))
	}
}

// line is the live line now.
func (g *progress) line(width int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.clean(g.view().line(width))
}

func (g *progress) view() view {
	return view{Progress: g.state, rate: g.pace.rate(g.now()), cap: g.cap}
}

func (g *progress) write(lines []string) {
	for _, l := range lines {
		_, _ = io.WriteString(g.out, l+"\n")
	}
}

// Write implements io.Writer: what the program says meanwhile stands above the
// live line.
func (g *progress) Write(b []byte) (int, error) {
	g.mu.Lock()
	live := g.live
	g.mu.Unlock()
	if live == nil {
		return g.stderr.Write(b)
	}
	if _, err := live.Write([]byte(g.clean(string(b)))); errors.Is(err, mpb.ErrDone) {
		return g.stderr.Write(b)
	}
	return len(b), nil
}

// round says what a round decided, above the live line.
func (g *progress) round(line string) {
	if g.out == io.Discard {
		return
	}
	_, _ = io.WriteString(g, line+"\n")
}

// finish leaves one line that sums up, also after an early end.
func (g *progress) finish() {
	if g.bar != nil {
		g.bar.Abort(true)
		g.live.Wait()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.pace.begun.IsZero() {
		g.write(append(g.plain.unsaid(), g.view().sum(g.now().Sub(g.pace.begun))))
	}
}
