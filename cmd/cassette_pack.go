package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/recorder"
)

func newCassettePack(p *process) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "pack [SUITE]",
		Short: "Write a suite's cassettes into one compressed file that replays as it is",
		Long: `Writes every cassette of a suite into one file, by default cassettes.pack in the
suite's folder: small, and read without unpacking. A replay from it gives
the same ledger; the same cassettes give the same bytes. YAML stays the form to
review.

A suite with a pack and no cassettes folder replays from the pack. With both,
the folder wins; "cupel run --pack FILE" takes the pack. Recording writes YAML:
pack again afterwards.`,
		Example: `  cupel cassette pack --suite suites/mine
  cupel cassette pack --suite builtin:counts -o counts.pack
  cupel run --pack counts.pack`,
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := p.load(c)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				cfg.Suite = args[0]
			}
			return pack(p, cfg.Suite, out)
		},
	}
	cmd.Flags().String("suite", "", "suite folder, builtin:counts or builtin:research")
	cmd.Flags().String("config", config.Name, "configuration file")
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default cassettes.pack in the suite's folder)")
	return cmd
}

func pack(p *process, path, out string) error {
	suite, dir, err := p.loadSuite(path)
	if err != nil {
		return err
	}
	if out == "" {
		if dir == "" {
			return exit.Usage(fmt.Errorf("the suite %s is inside the program: name the file to write with -o", path))
		}
		out = filepath.Join(dir, cassettes.PackName)
	}
	files, err := fs.Sub(suite.FS, "cassettes")
	if err != nil {
		return err
	}
	if _, err := fs.Stat(files, "."); errors.Is(err, fs.ErrNotExist) {
		return exit.With(exit.Replay, fmt.Errorf("suite %s has no cassettes to pack; record them with: cupel run --mode record --suite %s", path, path))
	}
	if dir != "" {
		unlock, err := recorder.Lock(filepath.Join(dir, "cassettes")) // what is packed stays as it is
		if err != nil {
			return err
		}
		defer unlock()
	}
	sum, err := recorder.WritePack(out, files)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %d cassettes, %d bytes; as YAML %d bytes\n", out, sum.Cassettes, sum.Pack, sum.YAML)
	return err
}

// openPack makes a replay read the pack at path.
func openPack(o *harness.Options, path string) (closePack func(), err error) {
	if o.Mode != recorder.Replay && o.Mode != "" {
		return nil, exit.Usage(fmt.Errorf("--pack replays: leave it out with --mode %s, which writes YAML", o.Mode))
	}
	pack, err := recorder.OpenPack(regular.DirFS(filepath.Dir(path)), filepath.Base(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.With(exit.Replay, fmt.Errorf("no pack %s; write it with: cupel cassette pack -o %s", path, path))
	}
	if err != nil {
		return nil, err
	}
	o.Cassettes = pack
	return func() { _ = pack.Close() }, nil // only read: nothing can be lost
}
