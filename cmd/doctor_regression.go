package cmd

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/reports/compare"
)

// printRegression prints how comparisons are judged, and which entries of the
// known-flaky list count today, where the file says anything.
func printRegression(p *process, cfg config.Config) {
	rules := cfg.Regression
	if reflect.DeepEqual(rules, compare.Rules{}) {
		return
	}
	rules.Today = p.now().UTC()
	rules = rules.Resolved()
	_, _ = fmt.Fprintln(p.stdout)
	w := console.Table(p.stdout)
	w.AppendHeader(table.Row{"regression", "value"})
	for _, r := range config.Rules(rules) {
		value := "–"
		if r.Value != 0 {
			value = fmt.Sprint(r.Value)
		}
		w.AppendRow(table.Row{r.Key, value})
	}
	w.AppendRow(table.Row{"on_unclear", rules.OnUnclear})
	w.AppendRow(table.Row{"changed", rules.Changed})
	w.Render()
	if len(rules.Flaky) == 0 {
		return
	}
	_, _ = fmt.Fprintln(p.stdout)
	w = console.Table(p.stdout)
	w.AppendHeader(table.Row{"known flaky", "candidate", "owner", "expires", ""})
	for _, k := range rules.Flaky {
		state := ""
		if k.Expired {
			state = "expired: gates again"
		}
		w.AppendRow(table.Row{k.Task, cmp.Or(k.Candidate, "all"), k.Owner, k.Expires, state})
	}
	w.Render()
}
