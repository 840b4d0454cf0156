package cmd

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// scaffold is what init writes: a commented configuration and a first suite.
//
//go:embed scaffold
var scaffold embed.FS

func newInit(p *process) *cobra.Command {
	return &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a commented cupel.yaml and a first suite; overwrites nothing",
		Example: `  cupel init
  cupel run --mode record    # the first suite, with simulated models
  cupel run`,
		Args: atMostOne,
		RunE: func(_ *cobra.Command, args []string) error {
			root := "."
			if len(args) == 1 {
				root = args[0]
			}
			return writeScaffold(p, root)
		},
	}
}

// writeScaffold writes every file of the scaffold that does not exist yet.
func writeScaffold(p *process, root string) error {
	return fs.WalkDir(scaffold, "scaffold", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel("scaffold", filepath.FromSlash(path))
		if err != nil {
			return err
		}
		text, err := scaffold.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(root, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return fmt.Errorf("init: %w", err)
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			_, _ = fmt.Fprintf(p.stdout, "kept    %s (exists)\n", to)
			return nil
		}
		if err != nil {
			return fmt.Errorf("init: %w", err)
		}
		if _, err := f.Write(text); err != nil {
			_ = f.Close()
			return fmt.Errorf("init: write %s: %w", to, err)
		}
		_, _ = fmt.Fprintf(p.stdout, "wrote   %s\n", to)
		return f.Close()
	})
}
