// Package listing prints the episodes of a run, and wraps long lines for a terminal.
package listing

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/words"
)

// Filter selects episodes. The zero Filter selects all.
type Filter struct {
	// Failed selects the episodes that are not solved, also those without a result.
	Failed bool
	// Tasks and Candidates are patterns as in package path; an empty list matches all.
	Tasks, Candidates []string
}

// On says whether the filter can leave an episode out.
func (f Filter) On() bool { return f.Failed || len(f.Tasks)+len(f.Candidates) > 0 }

// Select returns the episodes that the filter takes. A pattern that matches no episode of
// the run is an error that lists what there is.
func (f Filter) Select(rows []ledger.Episode) (taken []ledger.Episode, err error) {
	task := func(e ledger.Episode) string { return e.TaskID }
	candidate := func(e ledger.Episode) string { return e.Candidate }
	if err := errors.Join(known("task", f.Tasks, rows, task), known("candidate", f.Candidates, rows, candidate)); err != nil {
		return nil, exit.Usage(err)
	}
	for _, e := range rows {
		if (!f.Failed || !e.Solved) && Matches(f.Tasks, e.TaskID) && Matches(f.Candidates, e.Candidate) {
			taken = append(taken, e)
		}
	}
	return taken, nil
}

// Matches says whether one of the patterns, as in package path, matches a name. An empty
// list matches all.
func Matches(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok })
}

// known refuses patterns that match nothing.
func known(what string, patterns []string, rows []ledger.Episode, name func(ledger.Episode) string) error {
	var names []string
	for _, e := range rows {
		names = append(names, name(e))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("--%s %q: %w; write * for any characters, as in G0*", what, p, err)
		}
		if !slices.ContainsFunc(names, func(n string) bool { return Matches([]string{p}, n) }) {
			return fmt.Errorf("--%s %q matches no episode of this run; it has: %s", what, p, console.OneLine(strings.Join(names, ", "), 300))
		}
	}
	return nil
}

// Write lists episodes in a table that fits the width, in columns; 0 is unlimited. Where
// the width is too small it leaves out the ids, says so, and at last writes two lines for
// each episode. all is how many episodes the run has.
func Write(w io.Writer, rows []ledger.Episode, all, width int) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintf(w, "none of %s matches\n", console.Count(all, "episode"))
		return err
	}
	lines, hint := tableOf(rows, true), ""
	if needs := widest(lines); width > 0 && needs > width {
		hint = fmt.Sprintf("ids left out: they need %d columns\n", needs)
		if lines = tableOf(rows, false); widest(lines) > width {
			lines = stacked(rows)
		}
	}
	solved := 0
	for _, e := range rows {
		if e.Solved {
			solved++
		}
	}
	count := fmt.Sprintf("%s, %d solved", console.Count(all, "episode"), solved)
	if len(rows) != all {
		count = fmt.Sprintf("%d of %s, %d solved", len(rows), console.Count(all, "episode"), solved)
	}
	_, err := io.WriteString(w, strings.Join(append(lines, count), "\n")+"\n"+hint)
	return err
}

func tableOf(rows []ledger.Episode, ids bool) []string {
	header := []any{"episode", "solved", "status", "steps", "cost", "time, s"}
	if ids {
		header = append(header, "id")
	}
	t := console.Table(nil, header...)
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 5, Align: text.AlignRight}, {Number: 6, Align: text.AlignRight}})
	costs := costsOf(rows)
	for i, e := range rows {
		row := table.Row{rundir.EpisodeName(e), solved(e), status(e), e.Steps, costs[i], seconds(e)}
		if ids {
			row = append(row, e.EpisodeID)
		}
		t.AppendRow(row)
	}
	var lines []string
	for line := range strings.Lines(t.Render()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}

func stacked(rows []ledger.Episode) (lines []string) {
	costs := costsOf(rows)
	for i, e := range rows {
		name := rundir.EpisodeName(e)
		lines = append(lines, name, fmt.Sprintf("  solved %s · %s · %s · %s · %s s", solved(e), status(e), console.Count(int(e.Steps), "step"), costs[i], seconds(e)))
	}
	return lines
}

func solved(e ledger.Episode) string {
	switch why := e.Excluded(); {
	case e.Solved:
		return "yes"
	case why == manifest.NotScored:
		return why
	case why != "":
		return "no result"
	}
	return "no"
}

// status is how an episode ended, why, and whether it did harm or what its attacker wants.
func status(e ledger.Episode) string {
	s := strings.TrimSpace(e.Status + " " + e.StopReason)
	if e.HarmReason != "" {
		s += " (harm)"
	}
	if e.AttackSucceeded != nil && *e.AttackSucceeded {
		s += " (attack succeeded)"
	}
	return s
}

func seconds(e ledger.Episode) string {
	if !e.Timed() {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", float64(*e.ElapsedUs)/1e6)
}

func costsOf(rows []ledger.Episode) []string {
	amounts := make([]*float64, len(rows))
	for i, e := range rows {
		if e.CostNanoUSD != nil {
			amounts[i] = new(float64(*e.CostNanoUSD))
		}
	}
	return words.USDColumn(amounts)
}

func widest(lines []string) (columns int) {
	for _, l := range lines {
		columns = max(columns, text.StringWidthWithoutEscSequences(l))
	}
	return columns
}

// Wrap breaks the lines of a text that are wider than a width, in columns, between words
// where it can; 0 is unlimited. What follows begins with the blanks and the bar that the
// line begins with.
func Wrap(s string, width int) string {
	if width <= 0 {
		return s
	}
	width = max(width, 20)
	var b strings.Builder
	for line := range strings.Lines(s) {
		rest := strings.TrimLeft(line, " │")
		lead := line[:len(line)-len(rest)]
		if text.StringWidthWithoutEscSequences(lead) > width/2 {
			lead, rest = "", line
		}
		b.WriteString(lead)
		if !strings.Contains(lead, "│") {
			lead = "   "
		}
		room := width - text.StringWidthWithoutEscSequences(lead)
		for at := breakAt(rest, room); at < len(rest); at = breakAt(rest, room) {
			b.WriteString(strings.TrimRight(rest[:at], " ") + "\n" + lead)
			rest = strings.TrimLeft(rest[at:], " ")
		}
		b.WriteString(rest)
	}
	return b.String()
}

// breakAt is where to break a line: after the last blank that fits, or else where the room
// ends, or at the end of the line if all of it fits.
func breakAt(line string, room int) int {
	columns, blank := 0, 0
	for i, r := range line {
		if columns += text.RuneWidth(r); columns > room && i > 0 {
			return cmp.Or(blank, i)
		}
		if r == ' ' {
			blank = i + 1
		}
	}
	return len(line)
}
