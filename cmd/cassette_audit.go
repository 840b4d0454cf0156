package cmd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/audit"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

func newCassetteAudit(p *process) *cobra.Command {
	var asJSON, strict bool
	cmd := &cobra.Command{
		Use:   "audit PATH…",
		Short: "Say what cupel reads of the usage in recorded replies, and what it does not",
		Long: `Reads recorded exchanges, of cupel or of anyone else, and puts every reply through
the wire that its address names. Prints for each wire what becomes of every number
in the provider's usage: the ledger column it is read into, or why it changes no
cost; what is not understood, and what does not reconcile: sums, totals, and costs
that the reply reports. The cost of such a reply is unknown (null) in a run.

PATH is a folder, or a file: a cassette of cupel or go-vcr (.yaml, .yml), a pack
(.pack), or JSON lines (.jsonl), each an object with request (method, url, body) and
response (status, headers, body). No network connection is opened. Exits 3 when a
file cannot be read; with --strict, 1 when something is not understood.`,
		Example: `  cupel cassette audit suites/first/cassettes
  cupel cassette audit traffic.jsonl --json
  cupel cassette audit tests/fixtures --strict`,
		Args: atLeast(1),
		RunE: p.withConfig(func(_ *cobra.Command, cfg config.Config, args []string) error {
			prices, err := cfg.LoadPrices()
			if err != nil {
				return err
			}
			a := newAudit(prices)
			var bad []error
			for _, arg := range args {
				bad = append(bad, auditPath(a, arg))
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit 1 when something is not understood")
	return cmd
}

func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// newAudit makes an auditor of all wires.
func newAudit(prices price.Table) *audit.Auditor {
	return audit.New(audit.Options{Factories: all.Factories(), WireOf: all.Wires(), Fields: all.UsageFields(), Prices: prices})
}

// auditPath reads a file, or every file of a folder that holds exchanges. It returns
// what cannot be read.
func auditPath(a *audit.Auditor, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("read recorded exchanges: %w", err)
	}
	folder, root := filepath.Dir(name), filepath.Base(name)
	if info.IsDir() {
		folder, root = name, "."
	}
	files := regular.DirFS(folder)
	var bad []error
	err = fs.WalkDir(files, root, func(below string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") && below != root {
			return err
		}
		bad = append(bad, auditFile(a, files, below, filepath.Join(folder, filepath.FromSlash(below)), below == root))
		return nil
	})
	return errors.Join(append(bad, err)...)
}

// auditFile reads a file by what its name says it is; of another name, nothing. shown
// is its name for people, and named says that a person named the file itself.
func auditFile(a *audit.Auditor, files fs.FS, name, shown string, named bool) error {
	switch path.Ext(name) {
	case ".yaml", ".yml":
		err := auditCassette(a, files, name, shown)
		if text, _ := fs.ReadFile(files, name); err != nil && !named && !bytes.Contains(text, []byte("interactions:")) {
			return nil // YAML of another kind
		}
		return err
	case ".jsonl":
		f, err := files.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // only read: nothing can be lost
		var bad []error
		for x, err := range audit.Lines(shown, f) {
			if err != nil {
				bad = append(bad, err)
			} else {
				a.Add(x)
			}
		}
		return errors.Join(bad...)
	case ".pack":
		pack, err := cassette.OpenPack(files, name)
		if err != nil {
			return err
		}
		defer func() { _ = pack.Close() }() // only read: nothing can be lost
		var bad []error
		for _, inside := range pack.Names() {
			bad = append(bad, auditCassette(a, pack, inside, shown+"/"+inside))
		}
		return errors.Join(bad...)
	}
	return nil
}

// auditCassette reads the exchanges of a cassette, of cupel or of go-vcr.
func auditCassette(a *audit.Auditor, files fs.FS, name, shown string) error {
	c, err := cassette.Inspect(cassette.File{FS: files, Path: name, AllowUnsealed: true})
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	for i := range c.Interactions {
		r := c.Recorded(i)
		header := http.Header{}
		for key, values := range r.Header {
			header[http.CanonicalHeaderKey(key)] = values
		}
		day, _ := time.Parse(time.DateOnly, c.Header.Recorded) // else that of the reply
		a.Add(audit.Exchange{
			Name: fmt.Sprintf("%s#%d", shown, i), Provider: c.Header.Provider, Method: r.Method, URL: r.URL, Request: []byte(r.Request),
			Status: r.Status, Header: header, Body: []byte(r.Body), Failed: r.Status == 0 || r.Failure != "", Day: day,
		})
	}
	return nil
}

func printAudit(p *process, r audit.Report, asJSON bool) error {
	if asJSON {
		return p.printJSON(r)
	}
	for _, w := range r.Wires {
		_, _ = fmt.Fprintf(p.stdout, "%s: %s, %s, %d with usage\n", w.Wire, many(w.Exchanges, "exchange", "exchanges"), many(w.Replies, "reply", "replies"), w.Reported)
		t := console.Table(p.stdout)
		t.AppendHeader(table.Row{"usage field", "replies", "becomes"})
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
		_, _ = fmt.Fprintln(p.stdout, "requests that no wire makes:")
		printFindings(p, "other", r.Other)
	}
	return nil
}

func printFindings(p *process, label string, list []audit.Finding) {
	for _, f := range list {
		_, _ = fmt.Fprintf(p.stdout, "  %s: %s: %d, first in %s\n", label, console.Line(f.What), f.Count, console.Line(f.First))
	}
}

// usageLine says how much of the usage on a candidate's cassettes is understood.
func usageLine(suite *goldens.Suite, c goldens.Candidate, trials int, prices price.Table) string {
	files, closeAll, err := cassettes.Open(suite)
	if err != nil {
		return err.Error()
	}
	defer closeAll()
	a := newAudit(prices)
	for _, t := range suite.Tasks {
		for trial := 1; trial <= max(trials, 1) && !t.Scripted && files != nil; trial++ {
			name := cassettes.Path(t.ID, c.Name, trial)
			_ = auditCassette(a, files, name, name) // what is missing or corrupt, cupel cassette status says
		}
	}
	replies := 0
	var doubts []string
	for _, w := range a.Report().Wires {
		replies += w.Reported
		for _, f := range w.NotUnderstood {
			doubts = append(doubts, fmt.Sprintf("%s (%d)", console.Line(f.What), f.Count))
		}
	}
	switch {
	case replies == 0:
		return "nothing recorded"
	case doubts == nil:
		return fmt.Sprintf("understood in all %d recorded replies", replies)
	}
	return fmt.Sprintf("not understood, so that the cost is unknown: %s; of %d recorded replies", strings.Join(doubts, "; "), replies)
}
