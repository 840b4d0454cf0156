package tape

import (
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
)

// help is the long help of the verb.
const help = `Runs a command and answers its requests to models from a cassette. The first run records:
requests go on to the provider. Later runs replay: offline, without a key, with the same
replies each time. A request that was not recorded fails with an explanation, and cupel
exits with 3. Otherwise the exit code is that of the command.

The command gets the environment with OPENAI_BASE_URL, ANTHROPIC_BASE_URL,
GOOGLE_GEMINI_BASE_URL, OLLAMA_HOST and CO_API_URL set to cupel, and a token in place of
providers' keys. If an address is already set, cupel sends the requests there.

--mode auto, the default, replays if the cassette exists and records otherwise; it never
records if CI is set. Details: docs/tape.md.`

// Command is the verb. complete adds what flags do not say to the options.
func Command(complete func(*Options)) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "tape --cassette FILE COMMAND…",
		Short: "Record and replay the model requests of any command",
		Long:  help,
		Example: `  cupel tape --cassette llm.yaml -- npm test
  cupel tape --cassette llm.yaml --mode record -- pytest tests
  cupel tape --cassette llm.yaml --replace 'session-[0-9a-f]+' -- go test ./...
  cupel cassette diff old.yaml llm.yaml`,
		RunE: func(c *cobra.Command, args []string) error {
			o.Command = args
			complete(&o)
			code, err := Run(c.Context(), o)
			if err != nil || code == exit.Accepted {
				return err
			}
			return exit.With(code, nil)
		},
	}
	cmd.Flags().SetInterspersed(false) // what follows the command's name is its own
	cmd.Flags().StringVar(&o.File, "cassette", "", "file of the recording (required)")
	cmd.Flags().StringVar(&o.Mode, "mode", Auto, "auto, record or replay")
	cmd.Flags().StringArrayVar(&o.Ignore, "ignore", nil, "JSON pointer to a part of requests that is not compared; repeatable")
	cmd.Flags().StringArrayVar(&o.Replace, "replace", nil, "pattern (RE2) of text in requests that is not compared; repeatable")
	cmd.Flags().StringVar(&o.Prices, "prices", "", "price file, laid over the built-in table")
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{Auto, Record, Replay}, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}
