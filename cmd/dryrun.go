package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/progress"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/forecast"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/reports/words"
)

// base is options, which for a dry run start nothing.
func (f *runFlags) base(ctx context.Context, p *process, cfg config.Config) (o harness.Options, cleanup func(), err error) {
	if !f.dryRun {
		return options(ctx, p, cfg, f.selection)
	}
	mode := recorder.Mode(cfg.Mode)
	cfg.Mode = ""
	o, cleanup, err = options(ctx, p, cfg, f.selection)
	o.Mode, o.Now = mode, p.now
	return o, cleanup, err
}

// forecast says what the run would do, and does not do it.
func (f *runFlags) forecast(p *process, o harness.Options, ev *progress.Events) error {
	out, err := forecast.Make(o)
	switch {
	case err != nil:
		return nothingToDo(p, *f, ev, err)
	case f.asJSON:
		return p.printJSON(out)
	case f.quiet:
		return nil
	}
	return printOutlook(p, out)
}

func printOutlook(p *process, out forecast.Forecast) error {
	of := ""
	if out.EpisodesInAll != out.Episodes {
		of = fmt.Sprintf(" of %d", out.EpisodesInAll)
	}
	if out.Shard != "" {
		of += ", shard " + out.Shard
	}
	lines := []string{fmt.Sprintf("dry run of suite %s, mode %s: %d%s episodes of %s (candidates %d, trials %d)",
		out.Suite, out.Mode, out.Episodes, of, words.TaskCount(out.Tasks, out.ScriptedTasks), len(out.Candidates), out.Trials)}
	for _, l := range out.LeftOut {
		lines = append(lines, fmt.Sprintf("left out: %d %s", l.Episodes, l.Why))
	}
	if err := printLines(p, append(lines, "")); err != nil {
		return err
	}
	t := console.Table(p.stdout)
	t.AppendHeader(table.Row{"candidate", "episodes", "calls", "input", "cache read", "cache write", "output", "reasoning", "cost", "by"})
	for _, c := range out.Candidates {
		name := console.Line(c.Name)
		if c.Simulated {
			name += " (simulated)"
		}
		t.AppendRow(outlookRow(name, c.Episodes, c.Estimate, basis(c)))
	}
	if len(out.Candidates) > 1 {
		t.AppendRow(outlookRow("all", out.Episodes, out.Total, ""))
	}
	t.Render()
	lines = []string{""}
	if out.Mode != string(recorder.Replay) {
		lines = append(lines, fmt.Sprintf("cost at the prices of %s (table %s); learned from past runs: %d, their episodes: %d",
			out.PriceDay, out.PriceVersion, out.PastRuns, out.PastEpisodes),
			fmt.Sprintf("duration: %s expected, at least %s by the providers' limits", seconds(out.Duration.Expected), seconds(&out.Duration.AtLeast)))
	}
	for _, text := range out.Warnings {
		lines = append(lines, "note: "+text)
	}
	return printLines(p, lines)
}

// printLines prints lines that may quote what others wrote.
func printLines(p *process, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(p.stdout, console.Line(line)); err != nil {
			return err
		}
	}
	return nil
}

// outlookRow has ranges of calls and cost, and what is expected of tokens.
func outlookRow(name string, episodes int, e forecast.Estimate, by string) table.Row {
	row := table.Row{name, episodes, rangeText(e.Calls, console.Decimal)}
	for _, r := range []forecast.Range{e.Tokens.Input, e.Tokens.CacheRead, e.Tokens.CacheWrite, e.Tokens.Output, e.Tokens.Reasoning} {
		row = append(row, orUnknown(r.Expected, console.Decimal))
	}
	return append(row, rangeText(e.CostNanoUSD, shortUSD), by)
}

// rangeText is low – expected – high, or the one number that all three are.
func rangeText(r forecast.Range, write func(int64) string) string {
	low, expected, high := orUnknown(r.Low, write), orUnknown(r.Expected, write), orUnknown(r.High, write)
	if low == expected && high == expected {
		return expected
	}
	return low + " – " + expected + " – " + high
}

func orUnknown(n *int64, write func(int64) string) string {
	if n == nil {
		return "?"
	}
	return write(*n)
}

// shortUSD writes nano-USD as a run in progress does.
func shortUSD(nano int64) string { return fmt.Sprintf("$%.4f", float64(nano)/1e9) }

func seconds(n *int64) string {
	return orUnknown(n, func(n int64) string { return (time.Duration(n) * time.Second).String() })
}

// basis says what an estimate was made from.
func basis(c forecast.Candidate) string {
	switch c.Basis {
	case forecast.BasisNobody:
		return "asks nobody"
	case forecast.BasisNone:
		return "worst case only"
	}
	text := fmt.Sprintf("past episodes: %d", c.PastEpisodes)
	if c.Basis == forecast.BasisModel {
		text += " (of its model)"
	}
	if c.TasksKnown < c.Tasks {
		text += fmt.Sprintf(", of %d of %d tasks", c.TasksKnown, c.Tasks)
	}
	return text
}
