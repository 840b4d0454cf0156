package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/recorder"
)

func newCassetteSeal(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "seal FILE…",
		Short: "Seal cassettes again that were edited on purpose",
		Long: `Says that an edited cassette is meant to be as it is: request digests are computed
anew, and so are the sizes of reads where a reply's body changed; then the file is
checked to read back and sealed. So is a file that go-vcr wrote. A cassette that
is whole is left alone. One that holds a credential is refused; exits 3 when a
file is refused or is no cassette.`,
		Example: `  cupel cassette seal suites/first/cassettes/strong/F01/1.yaml`,
		Args:    func(c *cobra.Command, args []string) error { return exit.Usage(cobra.MinimumNArgs(1)(c, args)) },
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := p.load(c)
			if err != nil {
				return err
			}
			suite, _, err := p.loadSuite(cfg.Suite)
			if err != nil {
				return err
			}
			p.learn(cfg.Candidates, suite)
			var errs []error
			for _, file := range args {
				errs = append(errs, sealCassette(p, file))
			}
			return errors.Join(errs...)
		},
	}
	suiteFlags(cmd)
	return cmd
}

func sealCassette(p *process, file string) error {
	unlock, err := lockToWrite(file)
	if err != nil {
		return err
	}
	defer unlock()
	changed, err := recorder.SealFile(recorder.Options{Dir: filepath.Dir(file), Path: filepath.Base(file), Secrets: p.secrets})
	var secret *recorder.SecretError
	switch {
	case errors.As(err, &secret):
		return exit.With(exit.Replay, fmt.Errorf("%s: %w", file, err))
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	}
	what := "sealed"
	if !changed {
		what = "whole"
	}
	_, err = fmt.Fprintf(p.stdout, "%-7s %s\n", what, console.Line(file))
	return err
}

func newCassetteScan(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scan [SUITE]",
		Short: "Search every cassette of a suite for credentials",
		Long: `Searches every cassette below the suite's cassettes folder for credentials: those
in this process's environment that providers, candidates and tools take, and
whatever looks like one, beneath escapes and across the pieces of a stream. Names
file, interaction and field of the first find in each exchange, never the value.
Files that cannot be read as cassettes are searched as text and named. Exits 3 on
a find or such a file.`,
		Example: `  cupel cassette scan
  cupel cassette scan builtin:counts`,
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := p.load(c)
			if err != nil {
				return err
			}
			suite, err := suiteArg(p, c, args)
			if err != nil {
				return err
			}
			p.learn(cfg.Candidates, suite)
			return scanCassettes(p, suite)
		},
	}
	suiteFlags(cmd)
	return cmd
}

func scanCassettes(p *process, suite *goldens.Suite) error {
	w := console.Table(p.stdout)
	w.AppendHeader(table.Row{"cassette", "interaction", "field", "holds"})
	files := 0
	var bad []error
	err := eachCassette(suite, func(fsys fs.FS, name string) error {
		files++
		found, err := recorder.FindSecrets(recorder.Options{FS: fsys, Path: name, Secrets: p.secrets})
		for _, s := range found {
			where := fmt.Sprint(s.Interaction)
			if s.Interaction < 0 {
				where = "-"
			}
			w.AppendRow(table.Row{console.Line(name), where, console.Line(s.Field), s.Kind})
		}
		var corrupt *recorder.CorruptError
		if errors.As(err, &corrupt) {
			bad, err = append(bad, errors.New(console.Line(err.Error()))), nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if n := w.Length(); n > 0 {
		w.Render()
		bad = append(bad, fmt.Errorf("%d finds in %d cassettes: revoke what is real, and record those cassettes again", n, files))
	}
	if len(bad) > 0 {
		return exit.With(exit.Replay, errors.Join(bad...))
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %d cassettes, no credentials found\n", suite.Path, files)
	return err
}
