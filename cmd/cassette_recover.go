package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/recorder"
)

func newCassetteRecover(p *process) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "recover PATH…",
		Short: "Get at what a recording that was killed or failed had already exchanged",
		Long: `Lists the journals that unfinished recordings left (*.yaml.journal, and
*.yaml.journal.old, which the next recording set aside), given as files or found
in folders, with how many exchanges are intact and in how many places one is torn.
"cupel run --resume RUN" continues them by itself. With -o, writes the exchanges of
one journal as a sealed cassette; it never overwrites a file. A replay of it ends
where the recording did. Exits 3 when there is nothing to write.`,
		Example: `  cupel cassette recover suites/first/cassettes
  cupel cassette recover suites/first/cassettes/strong/F01/1.yaml.journal -o left.yaml`,
		Args: func(c *cobra.Command, args []string) error { return exit.Usage(cobra.MinimumNArgs(1)(c, args)) },
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := journals(args)
			switch {
			case err != nil:
				return exit.Usage(err)
			case out == "":
				return listJournals(p, files)
			case len(files) != 1:
				return exit.Usage(fmt.Errorf("-o %s takes the exchanges of one journal, %d were found; name one", out, len(files)))
			}
			return recoverTo(p, files[0], out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the exchanges of one journal as a sealed cassette to this new file")
	return cmd
}

// journals are the files named, and the journals in the folders named.
func journals(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		err := filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (path == p || strings.HasSuffix(strings.TrimSuffix(path, ".old"), ".journal")) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("find journals: %w", err)
		}
	}
	return files, nil
}

func listJournals(p *process, files []string) error {
	w := console.Table(p.stdout)
	w.AppendHeader(table.Row{"journal", "exchanges", "torn"})
	var errs []error
	for _, file := range files {
		got, err := recorder.Recover(file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if strings.ContainsFunc(file, invisible.Unsafe) {
			file = strconv.Quote(file)
		}
		w.AppendRow(table.Row{file, got.Exchanges, got.Torn})
	}
	if w.Length() > 0 {
		w.Render()
	}
	if len(files) == 0 {
		_, err := fmt.Fprintln(p.stdout, "no journals: every recording was saved")
		return err
	}
	return errors.Join(errs...)
}

func recoverTo(p *process, file, out string) error {
	got, err := recorder.Recover(file)
	if err != nil {
		return err
	}
	if got.Exchanges == 0 {
		return exit.With(exit.Replay, fmt.Errorf("%s holds no whole exchange: there is nothing to recover", file))
	}
	unlock, err := lockToWrite(out)
	if err == nil {
		defer unlock()
		if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
			return exit.Usage(fmt.Errorf("-o %s exists already, and may be an intact cassette; name a new file", out))
		}
		err = atomicfile.WriteBytes(out, got.Cassette)
	}
	if err != nil {
		return fmt.Errorf("write recovered cassette: %w", err)
	}
	_, err = fmt.Fprintf(p.stdout, "%d exchanges written to %s; torn: %d\n", got.Exchanges, out, got.Torn)
	return err
}
