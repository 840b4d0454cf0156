package starter

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// configuration is the file that a project is known by.
const configuration = "cupel.yaml"

const (
	nextAfterInit = `  cupel run --mode record      # record the tasks with simulated models: no key, no cost
  cupel show latest --failed   # the episodes that are not solved
  cupel suite prove            # do the tasks accept right solutions, and refuse mistakes?
  cupel gate latest            # exit 11: three tasks are too few for a verdict
`
	nextExternal = `  cupel doctor                 # what the agent runs on, and what is missing
  cupel run --mode record      # run the agent once, with simulated models: no key, no cost
  cupel run                    # the same again, from the recording alone
`
	noPython = `
note: agent/agent.py needs Python, which was not found on this machine. Install
Python 3, or name a program of your own in exec.command of cupel.yaml.
`
)

// Command is the verb init. open returns the files to write, with those of a project with an
// external agent in the folder external, and where to print.
func Command(open func() (files fs.FS, out io.Writer, err error)) *cobra.Command {
	var withAgent bool
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Create cupel.yaml and an example suite",
		Long: `Writes cupel.yaml, with a comment for every field, and suites/first: three tasks,
their tools and their reference solutions. Existing files are kept as they are. The
example needs no key: its two candidates are simulated models. With --external, one of
the candidates is an agent outside of cupel: agent/agent.py, in Python without packages.`,
		Example: `  cupel init
  cupel init my-project
  cupel init --external`,
		RunE: func(_ *cobra.Command, args []string) error {
			root := "."
			if len(args) == 1 {
				root = args[0]
			}
			_, missing := os.Stat(filepath.Join(root, configuration))
			files, out, err := open()
			if err == nil {
				err = Write(Options{Files: files, Root: root, External: withAgent, Out: out})
			}
			if err != nil {
				return err
			}
			next := nextAfterInit
			if withAgent {
				next = nextExternal
			}
			if missing == nil { // its candidates may cost money
				next = "  cupel doctor                 # what the existing cupel.yaml configures, and what is missing\n"
			}
			if filepath.Clean(root) != "." {
				next = "  cd " + root + "\n" + next
			}
			if withAgent && Python() == "" {
				next += noPython
			}
			_, err = fmt.Fprint(out, "\nnext:\n"+next)
			return err
		},
	}
	cmd.Flags().BoolVar(&withAgent, "external", false, "add an agent outside of cupel: a small one in Python")
	return cmd
}
