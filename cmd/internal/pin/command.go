package pin

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Command is the verb suite tools. open returns the suite that the arguments name.
func Command(open func(c *cobra.Command, args []string) (Suite, error)) *cobra.Command {
	pinned := false
	cmd := &cobra.Command{
		Use:   "tools [SUITE]",
		Short: "Print or pin the tools of process worlds and MCP servers",
		Long: `Starts the command of each world of kind process, and each MCP server, in the suite
folder, asks it for its tools and stops it. Reads only tools and worlds of suite.yaml, so
that the tasks need not exist yet. Prints the tools of worlds as YAML: add "write: true" to
those that change state. --pin writes the tools of MCP servers to tools.lock.json, and
prints what has changed.`,
		Example: "  cupel suite tools suites/mine >> suites/mine/suite.yaml\n  cupel suite tools suites/mine --pin",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := open(c, args)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if pinned {
				return s.Pin(ctx)
			}
			return s.Print(ctx)
		},
	}
	cmd.Flags().BoolVar(&pinned, "pin", false, "write the tools of MCP servers to tools.lock.json")
	return cmd
}
