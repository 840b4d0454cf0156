package main

import (
	"fmt"
	"io"
	"sync"

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

// progress shows a run under way: one live line on a terminal, a line every
// tenth of the run elsewhere.
type progress struct {
	out  io.Writer
	live bool
	bars *mpb.Progress
	bar  *mpb.Bar
	mu   sync.Mutex
	last harness.Progress
	next int
}

// newProgress shows no live line where questions are asked on the same terminal.
func newProgress(p *process, quiet, asks bool) *progress {
	out := p.stderr
	if quiet {
		out = io.Discard
	}
	if f, ok := file(out); ok && !asks && term.IsTerminal(int(f.Fd())) {
		return &progress{out: f, live: true} // numbers only
	}
	return &progress{out: out}
}

// update is called after every episode.
func (g *progress) update(s harness.Progress) {
	g.mu.Lock()
	g.last = s
	g.mu.Unlock()
	if !g.live {
		g.line(s)
		return
	}
	if g.bar == nil {
		g.bars = mpb.New(mpb.WithOutput(g.out), mpb.WithWidth(40))
		g.bar = g.bars.AddBar(int64(s.Total),
			mpb.PrependDecorators(decor.CountersNoUnit("%d/%d episodes ")),
			mpb.AppendDecorators(decor.Any(g.facts), decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 8})))
	}
	g.bar.Increment()
}

func (g *progress) facts(decor.Statistics) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return fmt.Sprintf(" solved %d · $%.4f · failed %d · ETA ", g.last.Solved, float64(g.last.CostNanoUSD)/1e9, g.last.InfraErrors)
}

func (g *progress) line(s harness.Progress) {
	if s.Done < g.next && s.Done < s.Total {
		return
	}
	g.next = s.Done + max(1, s.Total/10)
	_, _ = fmt.Fprintf(g.out, "%d/%d episodes · solved %d · $%.4f · without result %d\n", s.Done, s.Total, s.Solved, float64(s.CostNanoUSD)/1e9, s.InfraErrors)
}

// finish leaves the terminal clean, also after an early end.
func (g *progress) finish() {
	if g.bar == nil {
		return
	}
	g.bar.Abort(false)
	g.bars.Wait()
}
