package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/cmd/internal/sides"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/html"
	"github.com/cupel-eval/cupel/reports/text"
	"github.com/cupel-eval/cupel/reports/transcript"
)

// compareFormats are the single-file renderings of a comparison, by suffix of -o. baseline
// is the first baseline run, whose episodes the HTML page shows.
func (p *process) compareFormats(ctx context.Context, cfg config.Config, baseline, newRun string) map[string]func(io.Writer, compare.Comparison) error {
	return map[string]func(io.Writer, compare.Comparison) error{
		".html": p.compareHTML(ctx, cfg, baseline, newRun),
		".md":   text.CompareMarkdown,
		".xml":  text.CompareJUnit,
		".json": text.CompareJSON,
	}
}

func newCompare(p *process) *cobra.Command {
	var outputs []string
	var changed string
	cmd := &cobra.Command{
		Use:   "compare BASELINE… NEW",
		Short: "Compare two runs and test for regressions",
		Long: `Compares two runs, paired by task and trial: configuration differences, metrics with
changes and intervals, tasks that broke or were fixed, and one verdict. NEW is the run
under test; several baselines of one configuration are pooled.

A run is RUN or RUN:CANDIDATE; RUN is a folder, an id or its beginning, "latest" or
"previous". Candidates of equal names are paired; name both to compare two others.
RUN:AGENT stands for all candidates of a strategy, paired by provider and model.
If tasks changed between the runs, --changed says what to do with them.

Exits with 0 even if it finds a regression, and with 2 if the runs cannot be compared;
"cupel gate --baseline" exits with the verdict. -o writes .html, .md, .xml (JUnit) or
.json; -o -.json writes to standard output. Section regression of cupel.yaml sets levels
and margins. Details: docs/compare.md.`,
		Example: `  cupel compare previous latest
  cupel compare latest:weak latest:strong
  cupel compare latest:tools latest:plan
  cupel compare night-1 night-2 night-3 latest
  cupel compare previous latest --changed skip -o compare.html -o compare.md`,
		RunE: p.withConfig(func(c *cobra.Command, cfg config.Config, args []string) error {
			baselines, newRun := args[:len(args)-1], args[len(args)-1]
			formats := p.compareFormats(c.Context(), cfg, baselines[0], newRun)
			if err := known(formats, outputs); err != nil {
				return err
			}
			compared, err := p.compare(cfg, baselines, newRun, nil, changed)
			switch {
			case err != nil:
				return err
			case len(outputs) > 0:
				return writeOutputs(p, formats, outputs, compared)
			}
			return p.compareSummary(compared)
		}),
	}
	runsFlags(cmd)
	packing.Flag(cmd)
	changedFlag(cmd, &changed)
	cmd.Flags().StringArrayVarP(&outputs, "output", "o", nil, "write only this file; repeatable")
	return cmd
}

func changedFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "changed", "", "how to treat tasks that changed between the runs: refuse, skip or keep (default refuse)")
}

// known refuses an output whose suffix is not that of a format.
func known[T any](formats map[string]func(io.Writer, T) error, outputs []string) error {
	for _, out := range outputs {
		if formats[filepath.Ext(out)] == nil {
			return exit.Usage(fmt.Errorf("-o %s: unknown suffix; known: %s", out, strings.Join(slices.Sorted(maps.Keys(formats)), ", ")))
		}
	}
	return nil
}

// printJSON prints a value as indented JSON.
func (p *process) printJSON(v any) error {
	to := json.NewEncoder(p.json)
	to.SetIndent("", "  ")
	return to.Encode(v)
}

// machine is standard output for the contents of a file of this name.
func (p *process) machine(name string) io.Writer {
	if filepath.Ext(name) == ".json" {
		return p.json
	}
	return p.stdout
}

// writeOutputs renders v once for each output of a known format.
func writeOutputs[T any](p *process, formats map[string]func(io.Writer, T) error, outputs []string, v T) error {
	for _, out := range outputs {
		var b bytes.Buffer
		err := formats[filepath.Ext(out)](&b, v)
		if err != nil {
			return err
		}
		if strings.HasPrefix(out, "-.") {
			_, err = p.machine(out).Write(b.Bytes())
		} else {
			err = console.WriteFile(out, b.Bytes())
		}
		if err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

// compare compares a run with one or more baseline runs by the current rules. It refuses a
// misleading comparison, with every reason. candidates selects those of the new run; nil
// selects all.
func (p *process) compare(cfg config.Config, baselines []string, newRun string, candidates []string, changed string) (none compare.Comparison, err error) {
	rules := cfg.Regression
	rules.Today = p.now().UTC()
	if changed != "" {
		if rules.Changed, err = config.ParseChanged(changed); err != nil {
			return none, exit.Usage(fmt.Errorf("--changed: %w", err))
		}
	}
	if err := rules.Validate(); err != nil {
		return none, exit.Usage(err)
	}
	pool, err := sides.OpenBaselines(cfg.Runs, baselines)
	if err != nil {
		return none, err
	}
	t, err := sides.Open(cfg.Runs, newRun, candidates)
	if err != nil {
		return none, err
	}
	pairs, err := sides.Pair(pool, t, rules)
	if err != nil {
		return none, err
	}
	return sides.Compare(pool, t, pairs, rules)
}

// compareHTML renders a comparison of two runs, each RUN or RUN:CANDIDATE, as a page. It
// executes the episodes that the page shows side by side again, from their cassettes.
func (p *process) compareHTML(ctx context.Context, cfg config.Config, baseline, newRun string) func(io.Writer, compare.Comparison) error {
	return func(w io.Writer, c compare.Comparison) error {
		b, err := sides.Open(cfg.Runs, baseline, nil)
		if err != nil {
			return err
		}
		t, err := sides.Open(cfg.Runs, newRun, nil)
		if err != nil {
			return err
		}
		baseDetails, newDetails := p.detailsOf(ctx, cfg, b.Dir), p.detailsOf(ctx, cfg, t.Dir)
		err = html.Comparison(w, c, func(isNew bool, task, candidate string, n int) (ledger.EpisodeRows, transcript.Detail, bool) {
			d := baseDetails
			if isNew {
				d = newDetails
			}
			rows, ok := d.Find(ledger.Key{TaskID: task, Candidate: candidate, Trial: int32(n)})
			if !ok {
				return rows, transcript.Detail{}, false
			}
			said, _ := d.Of(rows)
			return rows, said, true
		})
		if stopped, also := baseDetails.Close(), newDetails.Close(); cmp.Or(stopped, also) != nil {
			return exit.With(exit.Interrupted, errors.New("interrupted: the page of the comparison was not written"))
		}
		return err
	}
}
