package cmd

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
)

// printLimits prints what holds for single providers.
func printLimits(p *process, cfg config.Config) {
	if len(cfg.Limits) == 0 {
		return
	}
	_, _ = fmt.Fprintln(p.stdout)
	w := console.Table(p.stdout)
	w.AppendHeader(table.Row{"provider", "at once", "requests/min", "tokens/min", "max USD", "max tokens", "max requests"})
	for _, name := range slices.Sorted(maps.Keys(cfg.Limits)) {
		l := cfg.Limits[name]
		row := table.Row{name}
		for _, n := range []int64{int64(l.Concurrency), l.RequestsPerMinute, l.TokensPerMinute} {
			row = append(row, orDash(n, console.Decimal))
		}
		w.AppendRow(append(row, orDash(l.CostNanoUSD, console.USD), orDash(l.Tokens, console.Decimal), orDash(l.Requests, console.Decimal)))
	}
	w.Render()
}

// orDash writes a limit; there is none if it is 0.
func orDash(n int64, write func(int64) string) string {
	if n == 0 {
		return "–"
	}
	return write(n)
}

// printMatrix prints what the configuration's matrix comes to.
func printMatrix(p *process, cfg config.Config) {
	if len(cfg.Matrix) == 0 {
		return
	}
	_, _ = fmt.Fprintf(p.stdout, "\nmatrix: %d candidates\n", len(cfg.Matrix))
	w := console.Table(p.stdout)
	w.AppendHeader(table.Row{"candidate", "agent", "provider", "model", "mode", "profile"})
	for _, c := range cfg.Matrix {
		w.AppendRow(table.Row{c.Name, c.Agent, c.Provider, c.Model, c.Mode, c.Profile})
	}
	w.Render()
}
