package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/usage"
	"github.com/cupel-eval/cupel/providers/audit"
)

func newCassetteAudit(p *process) *cobra.Command {
	var asJSON, strict bool
	cmd := &cobra.Command{
		Use:   "audit PATH…",
		Short: "Show which recorded usage fields cupel reads",
		Long: `Decodes recorded replies, from cupel or other recorders, and prints for each API format
what cupel does with every number in the provider's usage: the ledger column it fills,
or why it does not change the cost; then what it does not understand and what does not
add up. A run reports the cost of such a reply as unknown.

PATH is a folder or a file: a cassette of cupel or go-vcr (.yaml, .yml), a pack,
or JSON lines (.jsonl) with request (method, url, body) and response (status, headers,
body). Opens no network connection. Exits with 3 if a file cannot be read, and with
--strict with 1 if a field is not understood. Details: docs/cassettes.md.`,
		Example: `  cupel cassette audit suites/first/cassettes
  cupel cassette audit traffic.jsonl --json
  cupel cassette audit tests/fixtures --strict`,
		RunE: p.withConfig(func(_ *cobra.Command, cfg config.Config, args []string) error {
			prices, err := cfg.LoadPrices()
			if err != nil {
				return err
			}
			a := usage.New(prices)
			var bad []error
			for _, arg := range args {
				bad = append(bad, usage.Read(a, arg))
			}
			if errors.Is(errors.Join(bad...), fs.ErrNotExist) {
				return exit.Usage(errors.Join(bad...))
			}
			if err := printAudit(p, a.Report(), asJSON); err != nil {
				return err
			}
			if err := errors.Join(bad...); err != nil {
				return exit.With(exit.Replay, err)
			}
			if n := a.Report().Doubtful(); n > 0 && strict {
				return fmt.Errorf("%s not understood", many(n, "finding is", "findings are"))
			}
			return nil
		}),
	}
	cmd.Flags().String("config", config.Name, "configuration file")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the results as JSON")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 1 if a field is not understood")
	return cmd
}

func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

func printAudit(p *process, r audit.Report, asJSON bool) error {
	if asJSON {
		return p.printJSON(r)
	}
	for _, w := range r.Wires {
		_, _ = fmt.Fprintf(p.stdout, "%s: %s, %s, %d with usage\n", w.Wire, many(w.Exchanges, "exchange", "exchanges"), many(w.Replies, "reply", "replies"), w.Reported)
		t := console.Table(p.stdout, "usage field", "replies", "becomes")
		for _, f := range w.Fields {
			t.AppendRow(table.Row{console.Line(f.Path), f.Count, cmp.Or(f.Column, "not read: "+f.Reason)})
		}
		if len(w.Fields) > 0 {
			t.Render()
		}
		if w.Costs > 0 {
			_, _ = fmt.Fprintf(p.stdout, "  %s a cost; the price table has a price for %d of them\n", many(w.Costs, "reply reports", "replies report"), w.Priced)
		}
		for _, kind := range slices.Sorted(maps.Keys(w.Errors)) {
			_, _ = fmt.Fprintf(p.stdout, "  error %s: %d\n", kind, w.Errors[kind])
		}
		printFindings(p, "not understood", w.NotUnderstood)
		printFindings(p, "not read", w.NotRead)
		_, _ = fmt.Fprintln(p.stdout)
	}
	if len(r.Other) > 0 {
		_, _ = fmt.Fprintln(p.stdout, "requests of no known API format:")
		printFindings(p, "other", r.Other)
	}
	return nil
}

func printFindings(p *process, label string, list []audit.Finding) {
	for _, f := range list {
		_, _ = fmt.Fprintf(p.stdout, "  %s: %s: %d, first in %s\n", label, console.Line(f.What), f.Count, console.Line(f.First))
	}
}
