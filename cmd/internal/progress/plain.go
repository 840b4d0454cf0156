package progress

import (
	"fmt"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
)

const (
	// maxNotices bounds the lines about single failures and limits.
	maxNotices = 20
	// leastGap is the shortest time between two lines about the state.
	leastGap = 2 * time.Second
)

// plainLines show the progress of a run without a terminal: a line every tenth of
// it, but not within leastGap of the last one, and at least every half minute; and
// immediately the first failure of a kind and every limit that is lowered.
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
		lines = l.notice(lines, fmt.Sprintf("%s: %s: %s", console.OneLine(rundir.EpisodeName(e), 120), e.ErrorKind, console.OneLine(e.ErrorText, 200)))
	}
	lines = l.stopping(lines, v)
	if v.Done >= l.next && v.Done < v.Total && now.Sub(l.last) >= leastGap {
		l.last = now
		l.aim(v.Progress)
		lines = append(lines, v.plain())
	}
	return lines
}

// stopping says once why no more episodes start.
func (l *plainLines) stopping(lines []string, v view) []string {
	if v.Stopping == l.stopped {
		return lines
	}
	l.stopped = v.Stopping
	return append(lines, "no more episodes start: "+console.OneLine(v.Stopping, 300))
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
		return fmt.Sprintf("%s: %d requests in parallel, was %d (%s)", lane, c.Limit, before, c.Why)
	}
	return ""
}
