// Package progress shows a run while it is in progress: to a person, as a live line or
// plain lines, and to a program, as JSON events.
package progress

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Display shows a run in progress: one live line on a terminal, which a summary
// replaces in the end, and plain lines elsewhere.
type Display struct {
	stderr, out io.Writer // out is where the run is shown; nowhere if it is not to be
	term        io.Writer // the terminal of the live line; nil for plain lines
	now         func() time.Time
	clean       func(string) string
	cap         int64 // on the cost, in nano-USD; 0 for none

	mu    sync.Mutex
	live  *mpb.Progress
	bar   *mpb.Bar
	state harness.Progress
	rate  rate
	plain plainLines
}

// New shows a run on stderr, as a live line only if one is allowed and stderr is
// a terminal. That is written to past the writer that looks for credentials, so clean
// takes them out.
func New(stderr io.Writer, now func() time.Time, clean func(string) string, live bool) *Display {
	g := &Display{stderr: stderr, out: stderr, now: now, clean: clean}
	if t, ok := console.File(stderr); ok && live && term.IsTerminal(int(t.Fd())) {
		g.term = t
	}
	return g
}

// Hide shows nothing of the run. What is written to the progress is still printed.
func (g *Display) Hide() { g.out, g.term = io.Discard, nil }

// SetCap says what the cost of the run is capped at, in nano-USD; 0 means without a cap.
func (g *Display) SetCap(nano int64) { g.cap = nano }

// Watch takes the state of a run that begins, and between its episodes.
func (g *Display) Watch(s harness.Progress) {
	g.mu.Lock()
	defer g.mu.Unlock()
	begins := g.rate.begun.IsZero()
	if begins {
		g.rate.begun = g.now()
		g.plain.begin(g.rate.begun, s)
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

// Episode takes the state after an episode.
func (g *Display) Episode(s harness.Progress) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = s
	g.rate.ended(g.now())
	if g.term == nil {
		g.write(g.plain.ended(g.now(), g.view()))
	}
}

// line is the live line now.
func (g *Display) line(width int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.clean(g.view().line(width))
}

func (g *Display) view() view {
	now := g.now()
	return view{Progress: g.state, now: now, rate: g.rate.rate(now), cap: g.cap}
}

func (g *Display) write(lines []string) {
	for _, l := range lines {
		_, _ = io.WriteString(g.out, l+"\n")
	}
}

// Write implements io.Writer. It writes output of the program above the live line.
func (g *Display) Write(b []byte) (int, error) {
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

// Round says what the last round decided, above the live line: m is the manifest after
// it, stops are the candidates that it stopped.
func (g *Display) Round(m manifest.Manifest, stops []manifest.Stop) {
	if g.out == io.Discard {
		return
	}
	_, _ = io.WriteString(g, newRound(m, stops).line()+"\n")
}

// Finish leaves one line that sums up, also after an early end.
func (g *Display) Finish() {
	if g.bar != nil {
		g.bar.Abort(true)
		g.live.Wait()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.rate.begun.IsZero() {
		g.write(append(g.plain.unsaid(), g.view().sum(g.now().Sub(g.rate.begun))))
	}
}
