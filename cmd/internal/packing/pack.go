package packing

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// PackCommand is the verb pack. load returns the suite of its arguments and flags, and the suite's
// folder, which is empty if it has none.
func PackCommand(load func(c *cobra.Command, args []string) (*goldens.Suite, string, error), stdout func() io.Writer) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "pack [SUITE]",
		Short: "Pack a suite's cassettes into one replayable file",
		Long: `Writes all cassettes of a suite to one compressed file, by default cassettes.pack in the
suite folder. Replaying it gives the same ledger; equal cassettes give equal bytes.

A suite with a pack and no cassettes folder replays from the pack. With both, the folder
is used unless "cupel run --pack FILE" names the pack. A recording adds to a pack only if
it is a folder, as "cupel run --mode record --pack FOLDER" makes it. Without -o, the verb
compacts such a folder, and keeps what is intact if it is damaged; with -o, it writes the
cassettes of the folder to one file. Details: docs/cassettes.md.`,
		Example: `  cupel cassette pack --suite suites/mine
  cupel cassette pack --suite builtin:counts -o counts.pack
  cupel run --pack counts.pack
  cupel cassette pack --pack recordings`,
		RunE: func(c *cobra.Command, args []string) error {
			suite, dir, err := load(c, args)
			if err != nil {
				return err
			}
			from, _ := c.Flags().GetString("pack") // which Flag declared
			return pack(suite, dir, from, out, stdout())
		},
	}
	Flag(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default cassettes.pack in the suite's folder)")
	return cmd
}

func pack(suite *goldens.Suite, dir, from, out string, stdout io.Writer) error {
	o := harness.Options{}
	if dir != "" {
		o.CassetteDir = filepath.Join(dir, "cassettes")
	}
	if out == "" {
		folder, done, err := Folder(o, from)
		defer done()
		switch {
		case err != nil:
			return err
		case folder != nil:
			return Compact(folder, cmp.Or(from, filepath.Join(dir, cassettes.PackName)), stdout)
		case dir == "":
			return exit.Usage(fmt.Errorf("the suite %s is built in and has no folder; name the file to write with -o", suite.Path))
		}
		out = filepath.Join(dir, cassettes.PackName)
	}
	files, done, err := Files(suite, from)
	defer done()
	if err != nil {
		return err
	}
	if names, err := cassette.List(files); err == nil && len(names) == 0 {
		return exit.With(exit.Replay, fmt.Errorf("suite %s has no cassettes to pack; record them with: cupel run --mode record --suite %s", suite.Path, suite.Path))
	}
	if _, archive := files.(cassette.Archive); dir != "" && !archive {
		unlock, err := cassette.Lock(o.CassetteDir) // what is packed stays as it is
		if err != nil {
			return err
		}
		defer unlock()
	}
	sum, err := cassette.WritePack(out, files)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %d cassettes, %d bytes; as YAML %d bytes\n", out, sum.Cassettes, sum.Pack, sum.YAML)
	return err
}
