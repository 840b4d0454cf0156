package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/imports"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/cmd/internal/transcripts"
	"github.com/cupel-eval/cupel/cmd/internal/viewer"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/loopback"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/reports"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/text"
)

// formats are the single-file renderings, by suffix of -o.
var formats = map[string]func(io.Writer, model.Report) error{
	".html": reports.HTML,
	".md":   text.Markdown,
	".xml":  text.JUnit,
	".json": text.JSON,
}

func newReport(p *process) *cobra.Command {
	var outputs, thresholds []string
	var target string
	var pictures bool
	cmd := &cobra.Command{
		Use:   "report RUN…",
		Short: "Rebuild the report of a run from its ledger",
		Long: `Rebuilds index.html, report.md, junit.xml, report.json and the plots in RUN/report/.
Prompts and outputs come from the cassettes, if replaying these still gives the same
ledger. Plots are SVG; --png adds PNG. With -o, writes single files instead, in the
format of their suffix: .html, .md, .xml (JUnit) or .json; "-" and a suffix write to
standard output, as in -o -.md.

RUN is a run folder, an id or its beginning, "latest" or "previous".
Details: docs/runs.md.`,
		Example: `  cupel report latest
  cupel report latest -o summary.md -o junit.xml
  cupel report latest -o -.md | gh pr comment 7 --body-file -`,
		RunE: p.withConfig(func(c *cobra.Command, cfg config.Config, args []string) error {
			if len(outputs) > 0 && len(args) > 1 {
				return exit.Usage(fmt.Errorf("-o takes one run, not %d", len(args)))
			}
			if len(outputs) > 0 && pictures {
				return exit.Usage(errors.New("--png adds to the report folder and -o does not write it; remove one of them"))
			}
			for _, name := range args {
				if target != "" {
					dir, r, err := rundir.Report(cfg.Runs, name, thresholds)
					if err = cmp.Or(err, p.export(c.Context(), dir, target, r)); err != nil {
						return err
					}
					continue
				}
				if err := writeReport(c.Context(), p, cfg, name, outputs, thresholds, pictures); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	runsFlags(cmd)
	p.stores().AddFlags(cmd)
	cmd.Flags().StringArrayVarP(&outputs, "output", "o", nil, "write only this file; repeatable")
	thresholdFlag(cmd, &thresholds)
	otlpFlag(cmd.Flags(), &target)
	cmd.Flags().BoolVar(&pictures, "png", false, "also write the plots as PNG")
	cmd.Flags().String("pack", "", "pack with the prompts and outputs, if the run was replayed from one")
	return cmd
}

func otlpFlag(fl *pflag.FlagSet, to *string) {
	fl.StringVar(to, "otlp", "", "export the run as traces to this collector (http or https `URL`) or .jsonl file; see docs/traces.md")
}

// export writes a run as traces, if a target is given.
func (p *process) export(ctx context.Context, dir, target string, r model.Report) error {
	if target == "" || dir == "" {
		return nil
	}
	return imports.Export(ctx, p.stderr, dir, target, r, p.env)
}

func writeReport(ctx context.Context, p *process, cfg config.Config, name string, outputs, thresholds []string, pictures bool) error {
	dir, r, err := rundir.Report(cfg.Runs, name, thresholds)
	if err != nil {
		return err
	}
	if len(outputs) == 0 {
		d := p.detailsOf(ctx, cfg, dir)
		if cfg.Pack != "" { // who names a pack wants it
			err = d.Open()
		}
		if err == nil {
			err = reports.Write(dir, r, d.Episode)
		}
		if err == nil && pictures {
			err = reports.WritePNGs(dir, r)
		}
		if err := cmp.Or(d.Close(), err); err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.stdout, filepath.Join(dir, "report", "index.html"))
		return err
	}
	if err := known(formats, outputs); err != nil {
		return err
	}
	return writeOutputs(p, formats, outputs, r)
}

// writeReportOf builds and writes the report of a run that has just been made, and
// closes what its details come from.
func writeReportOf(dir string, d *transcripts.Transcripts) (model.Report, error) {
	_, report, err := rundir.Report("", dir, nil)
	if err == nil {
		err = reports.Write(dir, report, d.Episode)
	}
	if closed := d.Close(); closed != nil {
		return report, closed
	}
	if err != nil {
		return report, fmt.Errorf("write report (the ledger in %s is complete; retry with: cupel report %s): %w", dir, dir, err)
	}
	return report, nil
}

// detailsOf are those of a run of which nothing but its folder is known, and the
// pack of the configuration, if any, that it was made from.
func (p *process) detailsOf(ctx context.Context, cfg config.Config, dir string) *transcripts.Transcripts {
	return transcripts.New(ctx, dir, p.secrets.Redact, func(m manifest.Manifest) (harness.Options, func(), error) {
		o, cleanup, err := p.replayOf(ctx, cfg, m)
		if err == nil {
			p.learn(o.Candidates, o.Suite)
		}
		return o, cleanup, err
	})
}

// detailsWith are those of a run made with these options.
func (p *process) detailsWith(ctx context.Context, o harness.Options, dir string) *transcripts.Transcripts {
	d := transcripts.New(ctx, dir, p.secrets.Redact, func(m manifest.Manifest) (harness.Options, func(), error) {
		p.learn(o.Candidates, o.Suite)
		o.Fork, _ = forkOf(m, "")
		return o, func() {}, nil
	})
	d.Tasks = o.Suite.Tasks
	return d
}

// keepDetails has a replay keep details; of any other run the cassettes, which are
// still to be written, have the last word.
func (p *process) keepDetails(o *harness.Options) *transcripts.Kept {
	if o.Mode != recorder.Replay && o.Mode != "" {
		return nil
	}
	p.learn(o.Candidates, o.Suite)
	k := transcripts.NewKept(p.secrets.Redact)
	o.Traced = k.Keep
	return k
}

func newView(p *process) *cobra.Command {
	var addr string
	var stay bool
	cmd := &cobra.Command{
		Use:   "view [RUN|DIR]",
		Short: "Show runs in the browser",
		Long: `Serves the runs of a folder on this machine and opens them in the browser: a list
with verdicts and search, trends, runs in progress, comparisons of any two runs, and
the reports. DIR is a folder of run folders (default: the configured one); with RUN
the browser opens at that run. Nothing is written, and only this machine can connect.
Ctrl-C ends it.

Without a display and over SSH no browser is opened; open the printed address. From
another machine, forward the port: ssh -L 8178:127.0.0.1:8178 HOST.`,
		Example: `  cupel view
  cupel view latest
  cupel view artifacts/runs --no-open --listen 127.0.0.1:9000`,
		RunE: p.withConfig(func(c *cobra.Command, cfg config.Config, args []string) error {
			page := "/"
			if len(args) > 0 {
				var err error
				if cfg.Runs, page, err = viewer.Locate(cfg.Runs, args[0]); err != nil {
					return err
				}
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			s, err := p.startViewer(ctx, cfg, addr)
			if err != nil {
				return err
			}
			address := s.URL() + page
			_, _ = fmt.Fprintf(p.stderr, "runs of %s on %s (Ctrl-C ends)\n", cfg.Runs, address)
			if !stay {
				viewer.OpenBrowser(address, p.env)
			}
			<-ctx.Done()
			_ = s.Close() // a page that is not finished by now is not missed
			return nil
		}),
	}
	runsFlags(cmd)
	packing.Flag(cmd)
	cmd.Flags().StringVar(&addr, "listen", "", "loopback address to listen on (default "+viewer.Address+", or a free port)")
	cmd.Flags().BoolVar(&stay, "no-open", false, "do not open the browser")
	return cmd
}

// startViewer serves the runs of cfg on addr, empty for the usual one.
func (p *process) startViewer(ctx context.Context, cfg config.Config, addr string) (*loopback.Server, error) {
	return viewer.Start(ctx, addr, viewer.Options{
		Runs: cfg.Runs, Redact: p.secrets.Redact, Now: p.now,
		Compare: func(ctx context.Context, w io.Writer, baseline, newRun, changed string) error {
			compared, err := p.compare(cfg, []string{baseline}, newRun, nil, changed)
			if err != nil {
				return err
			}
			return p.compareHTML(ctx, cfg, baseline, newRun)(w, compared)
		},
	})
}
