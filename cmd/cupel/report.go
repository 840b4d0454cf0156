package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/reports"
)

// formats are the single-file renderings, by suffix of -o.
var formats = map[string]func(io.Writer, reports.Report) error{
	".html": reports.HTML,
	".md":   reports.Markdown,
	".xml":  reports.JUnit,
	".json": reports.JSON,
}

func newReport(p *process) *cobra.Command {
	var outputs []string
	cmd := &cobra.Command{
		Use:   "report RUN…",
		Short: "Rebuild the report of a run from its ledger",
		Long: `Rebuilds index.html, report.md, junit.xml, report.json and the plots below
RUN/report/, from the ledger alone. With -o it writes single files instead, in
the format their suffix names: .html, .md, .xml (JUnit) or .json; "-" followed
by a suffix writes to standard output, as in -o -.md.

RUN is a run folder, a run id or its beginning, or "latest".`,
		Example: `  cupel report latest
  cupel report latest -o summary.md -o junit.xml
  cupel report latest -o -.md | gh pr comment 7 --body-file -`,
		Args: func(c *cobra.Command, args []string) error { return wrapUsage(cobra.MinimumNArgs(1)(c, args)) },
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := loadConfig(p, c.Flags())
			if err != nil {
				return err
			}
			if len(outputs) > 0 && len(args) > 1 {
				return usage(fmt.Errorf("-o takes one run, not %d", len(args)))
			}
			defer p.collectLess()()
			for _, name := range args {
				if err := writeReport(p, cfg, name, outputs); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().String("config", configName, "configuration file")
	cmd.Flags().String("runs", "", "folder of run folders (default runs)")
	cmd.Flags().StringArrayVarP(&outputs, "output", "o", nil, "write this file only; repeatable")
	return cmd
}

func writeReport(p *process, cfg config, name string, outputs []string) error {
	dir, r, err := loadReport(cfg.Runs, name)
	if err != nil {
		return err
	}
	if len(outputs) == 0 {
		if err := reports.Write(dir, r); err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.stdout, filepath.Join(dir, "report", "index.html"))
		return err
	}
	for _, out := range outputs {
		render, ok := formats[filepath.Ext(out)]
		if !ok {
			return usage(fmt.Errorf("-o %s: unknown suffix; known: .html, .md, .xml, .json", out))
		}
		var b bytes.Buffer
		if err := render(&b, r); err != nil {
			return err
		}
		if strings.HasPrefix(out, "-.") {
			_, err = p.stdout.Write(b.Bytes())
		} else {
			err = os.WriteFile(out, b.Bytes(), 0o644)
		}
		if err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

func newGate(p *process) *cobra.Command {
	var candidates []string
	cmd := &cobra.Command{
		Use:   "gate RUN",
		Short: "The acceptance verdict of a run as an exit code",
		Long: `Judges a run by its ledger and exits 0 (accepted), 10 (rejected) or 11
(inconclusive: not enough evidence). With several candidates the worst decides:
one rejected candidate rejects the run. RUN is a run folder, a run id or its
beginning, or "latest". On GitHub Actions (GITHUB_ACTIONS=true) the verdict is
annotated as well: errors, warnings and notices.`,
		Example: `  cupel gate latest
  cupel gate latest --candidate strong`,
		Args: exactlyOne,
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := loadConfig(p, c.Flags())
			if err != nil {
				return err
			}
			_, r, err := loadReport(cfg.Runs, args[0], candidates...)
			if err != nil {
				return err
			}
			if err := reports.Summary(p.prose(p.stdout), r, p.width()); err != nil {
				return err
			}
			if err := p.annotate(r); err != nil {
				return err
			}
			return gateOutcome(r)
		},
	}
	cmd.Flags().String("config", configName, "configuration file")
	cmd.Flags().String("runs", "", "folder of run folders (default runs)")
	cmd.Flags().StringSliceVar(&candidates, "candidate", nil, "judge only these candidates; repeatable")
	return cmd
}

// gateOutcome is the verdict as an exit code; what there is to say was printed.
func gateOutcome(r reports.Report) error {
	switch r.Verdict {
	case reports.Pass:
		return nil
	case reports.Fail:
		return &codeError{code: exitRejected}
	}
	return &codeError{code: exitInconclusive}
}
