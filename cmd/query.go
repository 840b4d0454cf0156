package cmd

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/expr"
)

// queryHelp is the long help of query.
const queryHelp = `Aggregates columns of the ledgers of one or more runs. A QUERY is

  VALUE, … [where CONDITION] [group by COLUMN, …]

VALUE is count(), count(COND), share(COND), mean(X), sum(X), min(X), max(X), a percentile
such as p95(X), rate(X) (the mean per episode), or arithmetic of them. X is a column of
episodes, turns or tool_calls, or arithmetic of columns; name a column of several tables
with its table, as in turns.cost_nanousd. CONDITION uses == != < <= > >=, in (…), is null,
and, or, not. Write durations as 250ms or 4s, money as $2, shares as 99%, texts in quotes.

cupel skips rows without a value and counts them below the table. Exits with 3 if a
file of the run was changed; --verify also checks the digest of all rows.
Details: docs/query.md.`

func newQuery(p *process) *cobra.Command {
	var output string
	var verify bool
	cmd := &cobra.Command{
		Use:   "query RUN… QUERY",
		Short: "Aggregate ledger columns (counts, means, percentiles)",
		Long:  queryHelp,
		Example: `  cupel query latest 'p50(duration_us), p95(duration_us) where role == "main" group by candidate'
  cupel query latest 'share(solved), mean(steps), sum(episodes.cost_nanousd) group by candidate'
  cupel query latest 'count() where not contract_valid group by task_id' -o invalid.csv`,
		RunE: p.withConfig(func(c *cobra.Command, cfg config.Config, args []string) error {
			render, ok := tableFormats[filepath.Ext(output)]
			if !ok || output != "" && render == nil {
				return exit.Usage(fmt.Errorf("-o %s: unknown suffix; known: .json, .csv", output))
			}
			runs, text := args[:len(args)-1], args[len(args)-1]
			q, err := expr.ParseQuery(text)
			if _, misplaced := expr.ParseQuery(args[0]); err != nil && misplaced == nil {
				return exit.Usage(fmt.Errorf("query: the QUERY comes last; write cupel query %s '%s'", strings.Join(args[1:], " "), args[0]))
			}
			if err != nil {
				return exit.Usage(fmt.Errorf("query: %w", err))
			}
			dirs, err := endedRuns(cfg.Runs, runs, verify)
			if err != nil {
				return err
			}
			r, err := q.Run(c.Context(), dirs...)
			if err != nil {
				return err
			}
			return writeTable(p, r, output, render)
		}),
	}
	runsFlags(cmd)
	cmd.Flags().BoolVar(&verify, "verify", false, "also check the digest of all rows")
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write: .json or .csv; - and a suffix for standard output")
	return cmd
}

// endedRuns finds the folders of runs that have ledgers. verify reads all their rows, and so
// checks the digests.
func endedRuns(runs string, names []string, verify bool) (dirs []string, err error) {
	for _, name := range names {
		dir, err := rundir.Find(runs, name)
		if err != nil {
			return nil, err
		}
		m, _, err := ledger.Open(dir)
		if err != nil {
			return nil, err
		}
		if m.Status == "running" {
			return nil, rundir.Unfinished(dir, m)
		}
		if verify {
			for _, err := range ledger.Scan(dir) {
				if err != nil {
					return nil, err
				}
			}
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// tableFormats write the result of a query, by suffix; none is the terminal.
var tableFormats = map[string]func(io.Writer, expr.Result) error{"": nil, ".json": resultJSON, ".csv": resultCSV}

func writeTable(p *process, r expr.Result, output string, render func(io.Writer, expr.Result) error) error {
	if render == nil {
		showResult(p, r)
		return nil
	}
	var b bytes.Buffer
	err := render(&b, r)
	if err == nil && strings.HasPrefix(output, "-.") {
		_, err = p.machine(output).Write(b.Bytes())
	} else if err == nil {
		err = console.WriteFile(output, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

func showResult(p *process, r expr.Result) {
	var header []any
	var aligned []table.ColumnConfig
	for i, c := range r.Columns {
		header = append(header, c.Name)
		if c.Type == expr.Number {
			aligned = append(aligned, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w := console.Table(p.stdout, header...)
	w.SetColumnConfigs(aligned)
	for _, cells := range r.Rows {
		row := table.Row{}
		for i, cell := range cells {
			row = append(row, r.Columns[i].Format(cell))
		}
		w.AppendRow(row)
	}
	w.Render()
	for _, c := range r.Columns {
		if c.Missing > 0 {
			_, _ = fmt.Fprintf(p.stdout, "%s: %d rows have no value and are left out\n", c.Name, c.Missing)
		}
	}
}

// resultColumn describes a column of the result in JSON.
type resultColumn struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	// Missing counts rows without a value.
	Missing int64 `json:"missing,omitempty"`
}

func resultJSON(w io.Writer, r expr.Result) error {
	out := struct {
		Columns []resultColumn   `json:"columns"`
		Rows    []map[string]any `json:"rows"`
		Read    int64            `json:"rows_read"`
		Skipped int              `json:"row_groups_skipped"`
	}{[]resultColumn{}, []map[string]any{}, r.Read, r.Skipped}
	for _, c := range r.Columns {
		out.Columns = append(out.Columns, resultColumn{c.Name, resultUnits[c.Unit], c.Missing})
	}
	for _, cells := range r.Rows {
		row := map[string]any{}
		for i, cell := range cells {
			row[r.Columns[i].Name] = r.Columns[i].Value(cell)
		}
		out.Rows = append(out.Rows, row)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

var resultUnits = map[expr.Unit]string{expr.Duration: "us", expr.Money: "nanousd", expr.Percent: "share"}

func resultCSV(w io.Writer, r expr.Result) error {
	out := csv.NewWriter(w)
	var record []string
	for _, c := range r.Columns {
		record = append(record, c.Name)
	}
	_ = out.Write(record) // Flush has the error
	for _, cells := range r.Rows {
		record = record[:0]
		for i, cell := range cells {
			switch v := r.Columns[i].Value(cell).(type) {
			case nil:
				record = append(record, "")
			case float64:
				record = append(record, strconv.FormatFloat(v, 'f', -1, 64))
			default:
				record = append(record, fmt.Sprint(v))
			}
		}
		_ = out.Write(record)
	}
	out.Flush()
	return out.Error()
}
