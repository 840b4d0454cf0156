// Package imports is the verb import, and what other verbs do with the runs it makes.
package imports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/otlp"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// formats are the formats that can be imported, by the name of their verb, with its texts.
var formats = map[string]struct {
	imports.Format
	short, long, example string
}{
	"otlp": {otlp.Format{}, "Import OpenTelemetry traces of an agent as a run", otlpHelp, `  cupel import otlp traces.json
  cupel import otlp exported/ --as support --keep-going
  cupel import otlp traces.jsonl logs.jsonl && cupel show latest`},
}

const otlpHelp = `Reads spans and log records of agents and writes their episodes as a run: a turn per
model call, a row per tool call, with the texts, tokens and times that the traces have.
Files are OTLP as JSON, JSON lines or protobuf (also with gzip), or JSON lines of the
OpenAI Agents SDK; of a folder, all of them. Known names: the GenAI conventions, AI SDK,
Claude Agent SDK, n8n.

A conversation is an episode, or a trace where no conversation is named. Equal requests
are trials of one task. What the traces do not say is unknown, and no check scores the
episodes: such a run is never accepted. Details: docs/traces.md.`

// Host is what the verb needs of the program.
type Host struct {
	// Load returns the folder of runs.
	Load           func(*cobra.Command) (runs string, err error)
	Stdout, Stderr io.Writer
	Secrets        *secrets.Finder
	CodeVersion    string
	// Suite loads a suite by its path, and Report writes the report of a run folder.
	Suite  func(path string) (suite *goldens.Suite, dir string, err error)
	Report func(dir string) error
}

// Command is the verb.
func Command(h func() Host) *cobra.Command {
	cmd := &cobra.Command{Use: "import", Short: "Import episodes that another program recorded"}
	for _, name := range slices.Sorted(maps.Keys(formats)) {
		cmd.AddCommand(command(h, name))
	}
	return cmd
}

func command(h func() Host, name string) *cobra.Command {
	f := formats[name]
	var o imports.Options
	var suite, by string
	cmd := &cobra.Command{
		Use: name + " PATH…", Short: f.short, Long: f.long, Example: f.example,
		RunE: func(c *cobra.Command, args []string) error {
			host := h()
			runs, err := host.Load(c)
			if err != nil {
				return err
			}
			if by != "conversation" && by != "trace" {
				return exit.Usage(fmt.Errorf("--by is %.40q, must be conversation or trace", by))
			}
			o.ByTrace = by == "trace"
			files, err := imports.Files(args, f.Suffixes())
			if err != nil {
				return exit.Usage(fmt.Errorf("import: %w", err))
			}
			r, err := f.Read(c.Context(), files, o)
			if err != nil {
				return exit.Usage(err)
			}
			for _, p := range r.Problems {
				_, _ = fmt.Fprintln(host.Stderr, "left out: "+console.Line(p))
			}
			t := imports.Target{Runs: runs, Suite: suite, Format: name, CodeVersion: host.CodeVersion, Files: files, Secrets: host.Secrets}
			dir, m, err := imports.Write(t, r)
			if err != nil {
				return exit.Usage(err)
			}
			if err := host.Report(dir); err != nil {
				return err
			}
			return say(host.Stdout, dir, m)
		},
	}
	cmd.Flags().StringVar(&suite, "as", imports.Mode, "name of the tasks together; runs of one name are compared")
	cmd.Flags().StringVar(&by, "by", "conversation", "what an episode is: conversation, or trace")
	cmd.Flags().BoolVar(&o.KeepGoing, "keep-going", false, "leave out what is wrong, and import the rest")
	return cmd
}

// say prints what was imported.
func say(w io.Writer, dir string, m manifest.Manifest) error {
	var b strings.Builder
	fmt.Fprintf(&b, "imported  %s, %s, %s of %s\n", console.Count(m.Episodes, "episode"), console.Count(m.Turns, "turn"), console.Count(m.ToolCalls, "tool call"), console.Count(len(m.Imported.Sources), "file"))
	for _, line := range leftOut(m.Imported) {
		fmt.Fprintf(&b, "left out  %s\n", line)
	}
	fmt.Fprintf(&b, "run       %s\nread it   cupel show %s\n", dir, m.RunID)
	_, err := io.WriteString(w, b.String())
	return err
}

// maxLeftOut bounds the lines of what is left out that are printed; run.json has more.
const maxLeftOut = 20

func leftOut(m manifest.Imported) (lines []string) {
	for i, c := range m.LeftOut {
		if i == maxLeftOut {
			return append(lines, fmt.Sprintf("and %d more kinds, in run.json", len(m.LeftOut)-i))
		}
		lines = append(lines, fmt.Sprintf("%d × %s", c.Count, console.Line(c.Name)))
	}
	return lines
}
