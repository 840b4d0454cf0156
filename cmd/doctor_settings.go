package cmd

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/reports/compare"
)

// staleAfter is the age from which doctor warns that prices may be out of date.
const staleAfter = 90 * 24 * time.Hour

// printPrices prints the age of the price table and its size for each provider, or every
// price of the providers named.
func (p *process) printPrices(prices price.Table, names []string) error {
	all := prices.All()
	known := map[string]int{}
	for _, e := range all {
		known[e.Provider]++
	}
	for _, name := range names {
		if known[name] == 0 {
			return exit.Usage(fmt.Errorf("no price of provider %s; there are prices of: %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
		}
	}
	_, _ = fmt.Fprintf(p.stdout, "price table %s%s, digest %.12s\n\n", prices.Version(), p.age(prices), prices.Digest())
	if len(names) == 0 {
		p.printPriced(all)
		_, _ = fmt.Fprintln(p.stdout, "\n`cupel doctor --prices PROVIDER` lists every price; prices in cupel.yaml names a file of custom ones.")
		return nil
	}
	_, _ = fmt.Fprintln(p.stdout, "USD per million tokens")
	w := console.Table(p.stdout, "provider", "model", "since", "input", "output", "cache read", "cache write", "context", "source")
	for _, e := range all {
		if !slices.Contains(names, e.Provider) {
			continue
		}
		input, output, read, write := e.PerMillion()
		for _, above := range e.Above() {
			input += fmt.Sprintf(" (more above %d)", above)
		}
		context := ""
		if e.Context > 0 {
			context = fmt.Sprint(e.Context)
		}
		w.AppendRow(table.Row{e.Provider, e.Name(), since(e), input, output, read, write, context, origin(e)})
	}
	w.Render()
	return nil
}

// printPriced counts the entries of each provider.
func (p *process) printPriced(all []price.Entry) {
	type row struct {
		entries int
		newest  time.Time
		source  string
	}
	rows := map[string]row{}
	for _, e := range all {
		r := rows[e.Provider]
		r.entries++
		r.source = cmp.Or(r.source, origin(e))
		if e.From.After(r.newest) {
			r.newest = e.From
		}
		rows[e.Provider] = r
	}
	w := console.Table(p.stdout, "provider", "entries", "latest change", "source")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r, latest := rows[name], ""
		if !r.newest.IsZero() {
			latest = r.newest.Format(time.DateOnly)
		}
		w.AppendRow(table.Row{name, r.entries, latest, r.source})
	}
	w.Render()
}

// age is how long ago the table's prices were read, in days. The newest file counts.
func (p *process) age(prices price.Table) string {
	version := prices.Version()
	read, err := time.Parse(time.DateOnly, version[strings.LastIndexByte(version, '+')+1:])
	if err != nil {
		return ""
	}
	old := p.now().UTC().Sub(read)
	text := fmt.Sprintf(" (%d days old)", int(old.Hours()/24))
	if old > staleAfter {
		text += ", which may be out of date"
	}
	return text
}

func since(e price.Entry) string {
	if e.From.IsZero() {
		return ""
	}
	return e.From.Format(time.DateOnly)
}

func origin(e price.Entry) string {
	if e.Simulated {
		return "invented"
	}
	return e.Source
}

// priceOf describes the price of a model on a day.
func priceOf(prices price.Table, provider, model string, at time.Time) string {
	e, ok := prices.Lookup(provider, model, at)
	if !ok {
		return "unknown, so costs will be null; add it to a prices file"
	}
	input, output, read, write := e.PerMillion()
	text := fmt.Sprintf("%s in, %s out, %s cache read, %s cache write: USD per million tokens", input, output, read, write)
	for _, above := range e.Above() {
		text += fmt.Sprintf(", more above %d", above)
	}
	if e.Simulated {
		text += " (invented)"
	}
	return text
}

// printLimits prints the limits of single providers.
func printLimits(p *process, cfg config.Config) {
	if len(cfg.Limits) == 0 {
		return
	}
	_, _ = fmt.Fprintln(p.stdout)
	w := console.Table(p.stdout, "provider", "in parallel", "requests/min", "tokens/min", "max USD", "max tokens", "max requests")
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

// orDash writes a limit, or a dash for 0, which means no limit.
func orDash(n int64, write func(int64) string) string {
	if n == 0 {
		return "–"
	}
	return write(n)
}

// printRegression prints the rules of comparisons and the known-flaky list, if the file
// sets any.
func printRegression(p *process, cfg config.Config) {
	rules := cfg.Regression
	if reflect.DeepEqual(rules, compare.Rules{}) {
		return
	}
	rules.Today = p.now().UTC()
	rules = rules.Resolved()
	_, _ = fmt.Fprintln(p.stdout)
	w := console.Table(p.stdout, "regression", "value")
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
	w = console.Table(p.stdout, "known flaky", "candidate", "owner", "expires", "")
	for _, k := range rules.Flaky {
		state := ""
		if k.Expired {
			state = "expired: gates again"
		}
		w.AppendRow(table.Row{k.Task, cmp.Or(k.Candidate, "all"), k.Owner, k.Expires, state})
	}
	w.Render()
}
