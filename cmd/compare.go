package cmd

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports"
	"github.com/cupel-eval/cupel/reports/compare"
)

// compareFormats are the single-file renderings of a comparison, by suffix of -o.
// baseline is the first baseline run, whose episodes a page shows.
func (p *process) compareFormats(ctx context.Context, cfg config.Config, baseline, newRun string) map[string]func(io.Writer, compare.Comparison) error {
	return map[string]func(io.Writer, compare.Comparison) error{
		".html": p.compareHTML(ctx, cfg, baseline, newRun),
		".md":   reports.CompareMarkdown,
		".xml":  reports.CompareJUnit,
		".json": reports.CompareJSON,
	}
}

func newCompare(p *process) *cobra.Command {
	var outputs []string
	var changed string
	cmd := &cobra.Command{
		Use:   "compare BASELINE… NEW",
		Short: "Compare a run with a baseline and test for regressions",
		Long: `Compares two runs by their ledgers, paired by task and trial: configuration
differences, metrics with their changes and intervals, tasks that broke or were
fixed, and one verdict. The last run is the new one; several baselines are pooled,
which needs runs of one unchanged configuration.

A run is RUN or RUN:CANDIDATE; RUN is a folder, an id or its beginning, "latest" or
"previous". Candidates of one name are paired; name both to compare two of different
names. RUN:AGENT names all candidates of a strategy, paired by provider and model.
Changed tasks are refused unless --changed says what to do with them. Section
regression of cupel.yaml sets levels and margins: see docs/compare.md.

Exits with 0 even if it finds a regression; cupel gate --baseline exits with the
verdict. -o writes .html, .md, .xml (JUnit) or .json; -o -.json to standard output.`,
		Example: `  cupel compare previous latest
  cupel compare latest:weak latest:strong
  cupel compare latest:tools latest:plan
  cupel compare night-1 night-2 night-3 latest
  cupel compare previous latest --changed skip -o compare.html -o compare.md`,
		Args: func(c *cobra.Command, args []string) error { return exit.Usage(cobra.MinimumNArgs(2)(c, args)) },
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := p.load(c)
			if err != nil {
				return err
			}
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
			return reports.CompareSummary(p.stdout, compared, p.width())
		},
	}
	cmd.Flags().String("config", config.Name, "configuration file")
	cmd.Flags().String("runs", "", "folder of run folders (default runs)")
	changedFlag(cmd, &changed)
	cmd.Flags().StringArrayVarP(&outputs, "output", "o", nil, "write this file only; repeatable")
	return cmd
}

func changedFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "changed", "", "what to do with tasks that changed between the runs: refuse, skip or keep (default refuse)")
}

// known refuses an output whose format nobody has.
func known[T any](formats map[string]func(io.Writer, T) error, outputs []string) error {
	for _, out := range outputs {
		if formats[filepath.Ext(out)] == nil {
			var suffixes []string
			for _, s := range []string{".html", ".md", ".xml", ".json"} {
				if formats[s] != nil {
					suffixes = append(suffixes, s)
				}
			}
			return exit.Usage(fmt.Errorf("-o %s: unknown suffix; known: %s", out, strings.Join(suffixes, ", ")))
		}
	}
	return nil
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
			err = writeOutput(out, b.Bytes())
		}
		if err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

// compared is one run of a comparison, and the candidates of it that may be paired.
type compared struct {
	dir      string
	manifest manifest.Manifest
	episodes iter.Seq2[ledger.EpisodeRows, error]
	names    []string
	// selector is what follows RUN: on the command line, empty without it.
	selector string
	// ran are all candidates of the run, manifest has those chosen.
	ran []manifest.Candidate
	// chosen says that the caller named them; agent that it was by their strategy.
	chosen, agent bool
}

// runCandidate is RUN:CANDIDATE. Candidates are made of these characters only.
var runCandidate = regexp.MustCompile(`^(.+):([a-z0-9._-]+)$`)

// openSide opens RUN or RUN:CANDIDATE; names are further candidates to choose.
func openSide(runs, text string, names []string) (s compared, err error) {
	run := text
	if m := runCandidate.FindStringSubmatch(text); m != nil {
		if _, err := os.Stat(filepath.Join(text, "run.json")); err != nil { // and no folder of this name
			run, s.selector, names = m[1], m[2], m[2:]
		}
	}
	if s.dir, s.manifest, s.episodes, err = openRun(runs, run); err != nil {
		return s, err
	}
	if s.manifest, err = withModelChanges(s.dir, s.manifest); err != nil {
		return s, err
	}
	s.ran = slices.Clone(s.manifest.Candidates) // only deletes from the original
	if all := ofAgent(s.manifest, names); all != nil {
		names, s.agent = all, true
	}
	if s.manifest.Candidates, err = only(s.manifest, names); err != nil {
		return s, err
	}
	s.chosen = len(names) > 0
	for _, c := range s.manifest.Candidates {
		if c.Provider != reports.Scripted || s.chosen { // scripts prove the harness
			s.names = append(s.names, c.Name)
		}
	}
	return s, nil
}

// compare compares a run with one baseline run or several, by the current rules. It
// refuses, with every reason, what would mislead. candidates are those of the new run
// to compare, all if nil.
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
	pool, err := openBaselines(cfg.Runs, baselines)
	if err != nil {
		return none, err
	}
	t, err := openSide(cfg.Runs, newRun, candidates)
	if err != nil {
		return none, err
	}
	pairs, err := comparable(pool, t, rules)
	if err != nil {
		return none, err
	}
	return comparison(pool, t, pairs, rules)
}

// comparable pairs the candidates of a run with those of its baseline, or says why they
// cannot be compared.
func comparable(pool []compared, t compared, rules compare.Rules) ([]compare.Names, error) {
	pairs, err := pairUp(pool[0], t)
	if err != nil {
		return nil, err
	}
	if err := checkPool(pool, t, pairs); err != nil {
		return nil, err
	}
	if err := refuse(pool[0], t, compare.Differences(pool[0].manifest, t.manifest, pairs), rules.Resolved().Changed); err != nil {
		return nil, err
	}
	return pairs, nil
}

// comparison reads both sides.
func comparison(pool []compared, t compared, pairs []compare.Names, rules compare.Rules) (none compare.Comparison, err error) {
	builder := compare.NewBuilder(manifestsOf(pool), t.manifest, pairs, rules)
	for i, b := range pool {
		if err := b.each(func(rows ledger.EpisodeRows) { builder.AddBaseline(i, rows) }); err != nil {
			return none, err
		}
	}
	if err := t.each(builder.AddNew); err != nil {
		return none, err
	}
	return builder.Comparison()
}

// each adds every episode of the run.
func (s compared) each(add func(ledger.EpisodeRows)) error {
	for rows, err := range s.episodes {
		if err != nil {
			return err
		}
		add(rows)
	}
	return nil
}

// pairUp pairs candidates: one of each side whatever they are called, else those of
// one name.
func pairUp(b, t compared) ([]compare.Names, error) {
	if b.agent || t.agent {
		return pairModels(b, t)
	}
	if sameFolder(b.dir, t.dir) && (len(b.names) != 1 || len(t.names) != 1 || b.names[0] == t.names[0]) {
		return nil, exit.Usage(fmt.Errorf("run %s with itself: name two of its candidates, as in RUN:%s RUN:OTHER; it has: %s",
			t.manifest.RunID, cmp.Or(strings.Join(t.names[:min(1, len(t.names))], ""), "ONE"), strings.Join(t.names, ", ")))
	}
	if len(b.names) == 1 && len(t.names) == 1 {
		return []compare.Names{{Baseline: b.names[0], New: t.names[0]}}, nil
	}
	var pairs []compare.Names
	for _, name := range t.names {
		if slices.Contains(b.names, name) {
			pairs = append(pairs, compare.Names{Baseline: name, New: name})
		} else if t.chosen {
			return nil, exit.Usage(fmt.Errorf("the baseline %s has no candidate %q; it has: %s; name one of them, as in RUN:CANDIDATE",
				b.manifest.RunID, name, strings.Join(b.names, ", ")))
		}
	}
	if pairs == nil {
		return nil, exit.Usage(fmt.Errorf("no candidate is in both runs: %s has %s, %s has %s; name one of each, as in RUN:CANDIDATE",
			b.manifest.RunID, cmp.Or(strings.Join(b.names, ", "), "none"), t.manifest.RunID, cmp.Or(strings.Join(t.names, ", "), "none")))
	}
	return pairs, nil
}

// sameFolder compares folders, not ids: nothing changed since a baseline elsewhere
// gives the same id.
func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// refuse says why two runs cannot be compared, all of it, and what to do.
func refuse(b, t compared, differences []compare.Difference, changed compare.Changed) error {
	had := map[string]bool{}
	for _, task := range b.manifest.Tasks {
		had[task.ID] = true
	}
	if !slices.ContainsFunc(t.manifest.Tasks, func(task manifest.Task) bool { return had[task.ID] }) {
		return exit.Usage(fmt.Errorf("nothing to compare: no task is in both %s (suite %s) and %s (suite %s)",
			b.manifest.RunID, b.manifest.Suite, t.manifest.RunID, t.manifest.Suite))
	}
	if changed != compare.Refuse {
		return nil
	}
	var lines []string
	rescore := true
	for _, d := range differences {
		if d.Misleads {
			how := d.New
			if d.What == "request" && how != "changed" {
				how = fmt.Sprintf("changed to %.80q", how)
			}
			lines = append(lines, fmt.Sprintf("  %s: %s %s", d.Where, d.What, how))
			rescore = rescore && d.What == "checks"
		}
	}
	if lines == nil {
		return nil
	}
	lines = append(lines, "leave them out with --changed skip, or compare them anyway with --changed keep")
	if rescore {
		lines = append(lines, "or score the baseline with the current checks: cupel rescore "+b.dir)
	}
	return exit.Usage(fmt.Errorf("these tasks changed since run %s, so a different outcome may not be caused by the candidate:\n%s", b.manifest.RunID, strings.Join(lines, "\n")))
}
