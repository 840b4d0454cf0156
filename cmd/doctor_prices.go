package cmd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/providers"
)

// staleAfter is the age from which a price table deserves a second look.
const staleAfter = 90 * 24 * time.Hour

// printPrices says how old the table is and how much of it there is for each
// provider; of the providers named, every price.
func (p *process) printPrices(prices providers.Prices, names []string) error {
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
		_, _ = fmt.Fprintln(p.stdout, "\n`cupel doctor --prices PROVIDER` lists every price; a file of your own goes on top: `prices:` in cupel.yaml.")
		return nil
	}
	_, _ = fmt.Fprintln(p.stdout, "USD per million tokens")
	w := console.Table(p.stdout)
	w.AppendHeader(table.Row{"provider", "model", "since", "input", "output", "cache read", "cache write", "context", "source"})
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
func (p *process) printPriced(all []providers.Price) {
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
	w := console.Table(p.stdout)
	w.AppendHeader(table.Row{"provider", "entries", "latest change", "source"})
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r, latest := rows[name], ""
		if !r.newest.IsZero() {
			latest = r.newest.Format(time.DateOnly)
		}
		w.AppendRow(table.Row{name, r.entries, latest, r.source})
	}
	w.Render()
}

// age says how long ago the table's prices were read; the newest file counts.
func (p *process) age(prices providers.Prices) string {
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

func since(e providers.Price) string {
	if e.From.IsZero() {
		return ""
	}
	return e.From.Format(time.DateOnly)
}

func origin(e providers.Price) string {
	if e.Simulated {
		return "invented: nobody pays it"
	}
	return e.Source
}

// priceOf describes the price of a model on a day.
func priceOf(prices providers.Prices, provider, model string, at time.Time) string {
	e, ok := prices.Lookup(provider, model, at)
	if !ok {
		return "unknown: its cost will be null; add it with a prices file"
	}
	input, output, read, write := e.PerMillion()
	text := fmt.Sprintf("%s in, %s out, %s cache read, %s cache write: USD per million tokens", input, output, read, write)
	for _, above := range e.Above() {
		text += fmt.Sprintf(", more above %d", above)
	}
	if e.Simulated {
		text += " (invented: nobody pays it)"
	}
	return text
}
