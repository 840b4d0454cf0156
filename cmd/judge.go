package cmd

import (
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/judges"
)

func newJudge(p *process) *cobra.Command {
	return judges.Command(func(c *cobra.Command) (judges.Host, error) {
		cfg, err := p.load(c)
		return judges.Host{Stdout: p.stdout, Runs: cfg.Runs}, err
	})
}
