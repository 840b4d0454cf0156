package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/packs"
)

func newCassetteSeal(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "seal FILE…",
		Short: "Reseal cassettes after an intentional edit",
		Long: `Recomputes the checksums of edited cassettes: request digests, sizes of changed bodies,
then the seal of the file. It also seals files that go-vcr wrote, and leaves intact
cassettes unchanged. Exits with 3 if a file holds a credential or is not a cassette.`,
		Example: `  cupel cassette seal suites/first/cassettes/strong/F01/1.yaml`,
		RunE: p.withConfig(func(_ *cobra.Command, cfg config.Config, args []string) error {
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
		}),
	}
	suiteFlags(cmd)
	return cmd
}

func sealCassette(p *process, file string) error {
	if filepath.Ext(file) == ".pack" || packs.Is(file) {
		return exit.Usage(fmt.Errorf("%s is a pack, of which no cassette can be edited; name a YAML file", file))
	}
	unlock, err := packing.LockToWrite(file)
	if err != nil {
		return err
	}
	defer unlock()
	changed, err := cassette.SealFile(cassette.File{Dir: filepath.Dir(file), Path: filepath.Base(file), Secrets: p.secrets})
	var secret *cassette.SecretError
	switch {
	case errors.As(err, &secret):
		return exit.With(exit.Replay, fmt.Errorf("%s: %w", file, err))
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	}
	what := "sealed"
	if !changed {
		what = "intact"
	}
	_, err = fmt.Fprintf(p.stdout, "%-7s %s\n", what, console.Line(file))
	return err
}

func newCassetteScan(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scan [SUITE]",
		Short: "Search the cassettes of a suite for credentials",
		Long: `Searches every cassette of a suite for credentials: those in the environment that
providers, candidates and tools use, and strings that look like one, also inside escapes
and split across stream events. Prints file, exchange and field of the first match in
each exchange, never the value. Exits with 3 on a match or an unreadable file.`,
		Example: `  cupel cassette scan
  cupel cassette scan builtin:counts`,
		RunE: p.withConfig(func(c *cobra.Command, cfg config.Config, args []string) error {
			suite, _, err := p.suiteArg(c, args)
			if err != nil {
				return err
			}
			p.learn(cfg.Candidates, suite)
			return scanCassettes(p, suite, p.cfg.Pack)
		}),
	}
	suiteFlags(cmd)
	packing.Flag(cmd)
	return cmd
}

func scanCassettes(p *process, suite *goldens.Suite, from string) error {
	w := console.Table(p.stdout, "cassette", "interaction", "field", "credential")
	files := 0
	var bad []error
	err := eachCassette(suite, from, func(fsys fs.FS, name string) error {
		files++
		found, err := cassette.FindSecrets(cassette.File{FS: fsys, Path: name, Secrets: p.secrets})
		for _, s := range found {
			where := fmt.Sprint(s.Interaction)
			if s.Interaction < 0 {
				where = "-"
			}
			w.AppendRow(table.Row{console.Line(name), where, console.Line(s.Field), s.Kind})
		}
		if _, ok := errors.AsType[*cassette.CorruptError](err); ok {
			bad, err = append(bad, errors.New(console.Line(err.Error()))), nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if n := w.Length(); n > 0 {
		w.Render()
		bad = append(bad, fmt.Errorf("found %d credentials in %d cassettes; revoke those that are real, and record these cassettes again", n, files))
	}
	if len(bad) > 0 {
		return exit.With(exit.Replay, errors.Join(bad...))
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %d cassettes, no credentials found\n", suite.Path, files)
	return err
}

func newCassettePack(p *process) *cobra.Command {
	cmd := packing.PackCommand(p.suiteArg, func() io.Writer { return p.stdout })
	suiteFlags(cmd)
	return cmd
}
