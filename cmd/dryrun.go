package cmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
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

// forecast says what a run would do, and does not do it.
func (p *process) forecast(o harness.Options, asJSON, quiet bool) error {
	out, err := forecast.Make(o)
	switch {
	case err != nil || quiet && !asJSON:
		return err
	case asJSON:
		return p.printJSON(out)
	}
	return printForecast(p, out)
}

func printForecast(p *process, f forecast.Forecast) error {
	var text strings.Builder
	say := func(format string, args ...any) { text.WriteString(console.Line(fmt.Sprintf(format, args...)) + "\n") }
	of := ""
	if f.EpisodesInAll != f.Episodes {
		of = fmt.Sprintf(" of %d", f.EpisodesInAll)
	}
	if f.Shard != "" {
		of += ", shard " + f.Shard
	}
	say("dry run of suite %s, mode %s: %d%s episodes of %s (candidates %d, trials %d)",
		f.Suite, f.Mode, f.Episodes, of, words.TaskCount(f.Tasks, f.ScriptedTasks), len(f.Candidates), f.Trials)
	for _, l := range f.LeftOut {
		say("left out: %d %s", l.Episodes, l.Why)
	}
	t := console.Table(nil, "candidate", "episodes", "calls", "input", "cache read", "cache write", "output", "reasoning", "cost", "by")
	add := func(name string, episodes int, e forecast.Estimate, by string) {
		row := table.Row{name, episodes, rangeText(e.Calls, console.Decimal)}
		for _, r := range []forecast.Range{e.Tokens.Input, e.Tokens.CacheRead, e.Tokens.CacheWrite, e.Tokens.Output, e.Tokens.Reasoning} {
			row = append(row, orUnknown(r.Expected, console.Decimal))
		}
		t.AppendRow(append(row, rangeText(e.CostNanoUSD, shortUSD), by))
	}
	for _, c := range f.Candidates {
		name := console.Line(c.Name)
		if c.Simulated {
			name += " (simulated)"
		}
		add(name, c.Episodes, c.Estimate, basis(c))
	}
	if len(f.Candidates) > 1 {
		add("all", f.Episodes, f.Total, "")
	}
	text.WriteString("\n" + t.Render() + "\n\n")
	if f.Mode != string(recorder.Replay) {
		say("cost at the prices of %s (table %s); learned from past runs: %d, their episodes: %d", f.PriceDay, f.PriceVersion, f.PastRuns, f.PastEpisodes)
		if f.Batched {
			say("all requests are sent in batches, and the cost is that of batches")
		} else {
			say("duration: %s expected, at least %s by the providers' limits", orUnknown(f.Duration.Expected, seconds), seconds(f.Duration.AtLeast))
		}
	}
	for _, warning := range f.Warnings {
		say("note: %s", warning)
	}
	_, err := fmt.Fprint(p.stdout, text.String())
	return err
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

func seconds(n int64) string { return (time.Duration(n) * time.Second).String() }

// basis says what an estimate was made from.
func basis(c forecast.Candidate) string {
	switch c.Basis {
	case forecast.BasisNobody:
		return "no requests"
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
