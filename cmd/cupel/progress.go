package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
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

// maxNotices bounds the lines about single failures and limits.
const maxNotices = 20

// plainLines are what is shown of a run where there is no terminal: a line every
// tenth of it and, while its second ones are told, every half minute; and at once
// the first failure of a kind and every limit that is lowered.
type plainLines struct {
	next  int       // how many done make the next line due
	last  time.Time // of the last line
	kinds map[string]bool
	// limits are those of lanes by their names.
	limits  map[string]int
	stopped string
	notices int
}

func (l *plainLines) begin(now time.Time, s harness.Progress) {
	*l = plainLines{last: now, kinds: map[string]bool{}, limits: map[string]int{}}
	l.aim(s)
}

// aim sets the next tenth.
func (l *plainLines) aim(s harness.Progress) { l.next = s.Done + max(1, s.Total/10) }

// between is what is to be said between episodes.
func (l *plainLines) between(now time.Time, v view) (lines []string) {
	if c := v.Change; c != nil {
		lines = l.notice(lines, l.slower(*c))
	}
	lines = l.stopping(lines, v)
	if now.Sub(l.last) >= 30*time.Second {
		l.last = now
		l.aim(v.Progress)
		lines = append(lines, v.plain())
	}
	return lines
}

// ended is what is to be said after an episode. The last one is left to the sum.
func (l *plainLines) ended(now time.Time, v view) (lines []string) {
	if e := v.Last; e.InfraError && !l.kinds[e.ErrorKind] {
		l.kinds[e.ErrorKind] = true
		lines = l.notice(lines, fmt.Sprintf("%s: %s: %s", oneLine(episodeName(e), 120), e.ErrorKind, oneLine(e.ErrorText, 200)))
	}
	lines = l.stopping(lines, v)
	if v.Done >= l.next && v.Done < v.Total {
		l.last = now
		l.aim(v.Progress)
		lines = append(lines, v.plain())
	}
	return lines
}

// stopping says once why no more episodes are begun.
func (l *plainLines) stopping(lines []string, v view) []string {
	if v.Stopping == l.stopped {
		return lines
	}
	l.stopped = v.Stopping
	return append(lines, "no more episodes are begun: "+oneLine(v.Stopping, 300))
}

// notice adds a line, as long as there have not been too many.
func (l *plainLines) notice(lines []string, text string) []string {
	if text == "" {
		return lines
	}
	if l.notices++; l.notices > maxNotices {
		return lines
	}
	return append(lines, text)
}

// unsaid counts the notices that were too many.
func (l *plainLines) unsaid() []string {
	if n := l.notices - maxNotices; n > 0 {
		return []string{fmt.Sprintf("and %d more failures and lowered limits, see limits.jsonl of the run", n)}
	}
	return nil
}

// slower says how a change slows the run down; "" if it does not.
func (l *plainLines) slower(c admission.Change) string {
	lane := c.Provider
	if c.Lane > 1 {
		lane += fmt.Sprintf(" key %d", c.Lane)
	}
	before, known := l.limits[lane]
	l.limits[lane] = c.Limit
	switch {
	case c.Gap > 0:
		return fmt.Sprintf("%s: requests %s apart for %s (%s)", lane, brief(c.Gap), brief(c.Until.Sub(c.At)), c.Why)
	case !c.Until.IsZero():
		return fmt.Sprintf("%s: paused for %s (%s)", lane, brief(c.Until.Sub(c.At)), c.Why)
	case known && c.Limit < before:
		return fmt.Sprintf("%s: %d requests at once, no longer %d (%s)", lane, c.Limit, before, c.Why)
	}
	return ""
}

// oneLine is untrusted text on one line, cut to so many characters.
func oneLine(s string, most int) string {
	return clipped(strings.Map(printed, s), most)
}
