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
	"github.com/cupel-eval/cupel/harness/imports/formats"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/otlp"
	"github.com/cupel-eval/cupel/recorder/secrets"
	"github.com/cupel-eval/cupel/reports/view"
)

// format is a format with the texts of its verb, and the flags that it alone has.
type format struct {
	imports.Format
	short, long, example string
	traces, mapped       bool
}

// known are the formats that can be imported, by the name of their verb.
func known() map[string]format {
	return map[string]format{
		"otlp": {Format: otlp.Format{}, short: "Import OpenTelemetry traces of an agent as a run", long: otlpHelp, traces: true, example: `  cupel import otlp traces.json
  cupel import otlp exported/ --as support --keep-going
  cupel import otlp traces.jsonl logs.jsonl && cupel show latest`},
		"tau-bench": {Format: formats.TauBench{}, short: "Import results of tau-bench as a run", long: tauHelp, example: `  cupel import tau-bench gpt-4o-airline.json
  cupel report latest`},
		"agentdojo": {Format: formats.AgentDojo{}, short: "Import runs of AgentDojo as a run", long: dojoHelp, example: `  cupel import agentdojo runs/
  cupel import agentdojo runs/ --as-published
  cupel query latest 'share(solved), share(harm) group by candidate'`},
		"promptfoo": {Format: formats.Promptfoo{}, short: "Import results of promptfoo as a run", long: promptfooHelp, example: `  promptfoo eval -o results.json
  cupel import promptfoo results.json && cupel gate latest`},
		"inspect": {Format: formats.Inspect{}, short: "Import logs of Inspect as a run", long: inspectHelp, example: `  cupel import inspect logs/
  cupel compare latest:gpt-4o latest:claude-sonnet`},
		"messages": {Format: formats.Messages{}, short: "Import conversations as JSON lines, with a mapping", long: messagesHelp, mapped: true, example: `  cupel import messages chats.jsonl
  cupel import messages chats.jsonl --map map.yaml`},
	}
}

const otlpHelp = `Reads spans and log records of agents and writes their episodes as a run: a turn per
model call, a row per tool call, with the texts, tokens and times that the traces have.
Files are OTLP as JSON, JSON lines or protobuf (also with gzip), or JSON lines of the
OpenAI Agents SDK; of a folder, all of them. Known names: the GenAI conventions, AI SDK,
Claude Agent SDK, n8n.

A conversation is an episode, or a trace where no conversation is named. Equal requests
are trials of one task. What the traces do not say is unknown, and no check scores the
episodes: such a run is never accepted. Details: docs/traces.md.`

const tauHelp = `Reads the result files of tau-bench: an array of conversations with task_id, trial,
reward and traj. A candidate is a file. An episode is solved if its reward is 1; one
that was cut off is not. Details: docs/import.md.`

const dojoHelp = `Reads runs of AgentDojo: an object for each run, in files of its folder runs/, or as JSON
lines. Candidates are pipelines, without attack (PIPELINE) and with one
(PIPELINE.ATTACK); a task is a user task, or a user task with an injection. "solved" is
the utility, and "harm" says that the attacker's goal was reached.

A run that broke down has no result, although AgentDojo stores it as a success of the
attack; --as-published counts it as stored, and leaves out the cases that not all
pipelines have. Details: docs/import.md and docs/published.md.`

const promptfooHelp = `Reads what promptfoo eval -o writes as JSON or JSON lines. A candidate is a provider with
a prompt, a task a test case. An episode is solved if promptfoo passed it; an error of a
provider is no result. Details: docs/import.md.`

const inspectHelp = `Reads logs of Inspect: .eval and .json. A candidate is a model, a task a sample of an
Inspect task, and a trial an epoch. An episode is solved if all its scores are correct,
yes, true or 1; a sample with an error has no result. Details: docs/import.md.`

const messagesHelp = `Reads conversations of any program as JSON lines. A mapping says where a row has what:

  messages: conversation   # default: messages
  task: case.name          # a dot leads into a member
  candidate: model
  solved: score            # true or false, or a number that is at least min
  min: 0.5
  crashed: error           # a reason: no result

Without --map, the members are id, messages, task, candidate, trial, model, solved and
crashed. All keys of the mapping: docs/import.md.`

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

// Command is the verb, with the formats of the program's user.
func Command(h func() Host, own map[string]imports.Format) *cobra.Command {
	cmd := &cobra.Command{Use: "import", Short: "Import episodes that another program recorded"}
	all := known()
	for name, f := range own {
		all[name] = format{Format: f, short: "Import files of the format " + name, example: "  cupel import " + name + " PATH", mapped: true,
			long: "Reads files of a format that this program adds. Details: docs/import.md."}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		cmd.AddCommand(command(h, name, all[name]))
	}
	return cmd
}

func command(h func() Host, name string, f format) *cobra.Command {
	var o imports.Options
	t := imports.Target{Format: name}
	var by string
	cmd := &cobra.Command{
		Use: name + " PATH…", Short: f.short, Long: f.long, Example: f.example,
		RunE: func(c *cobra.Command, args []string) error {
			if by != "conversation" && by != "trace" {
				return exit.Usage(fmt.Errorf("--by is %.40q, must be conversation or trace", by))
			}
			o.ByTrace = by == "trace"
			return read(c, h(), f, o, t, args)
		},
	}
	cmd.Flags().StringVar(&t.Suite, "as", imports.Mode, "name of the tasks together; runs of one name are compared")
	if by = "conversation"; f.traces {
		cmd.Flags().StringVar(&by, "by", by, "what an episode is: conversation, or trace")
	} else {
		cmd.Flags().BoolVar(&t.AsPublished, "as-published", false, "count crashed episodes by their stored verdicts, and only cases that all candidates have")
	}
	if f.mapped {
		cmd.Flags().StringVar(&o.Map, "map", "", "file that says where rows have what")
	}
	cmd.Flags().BoolVar(&o.KeepGoing, "keep-going", false, "leave out what is wrong, and import the rest")
	return cmd
}

// read imports files and prints the result.
func read(c *cobra.Command, host Host, f format, o imports.Options, t imports.Target, paths []string) (err error) {
	if t.Runs, err = host.Load(c); err != nil {
		return err
	}
	if t.Files, err = imports.Files(paths, f.Suffixes()); err != nil {
		return exit.Usage(fmt.Errorf("import: %w", err))
	}
	t.CodeVersion, t.Secrets = host.CodeVersion, host.Secrets
	dir, m, r, err := imports.Write(t, func(add func(*imports.Episode) error) (imports.Result, error) {
		return f.Read(c.Context(), t.Files, o, add)
	})
	if err != nil {
		return exit.Usage(err)
	}
	for _, p := range r.Problems {
		_, _ = fmt.Fprintln(host.Stderr, "left out: "+console.Line(p))
	}
	if err := host.Report(dir); err != nil {
		return err
	}
	return say(host.Stdout, dir, m)
}

// say prints what was imported.
func say(w io.Writer, dir string, m manifest.Manifest) error {
	var b strings.Builder
	fmt.Fprintf(&b, "imported  %s, %s, %s of %s\n", console.Count(m.Episodes, "episode"), console.Count(m.Turns, "turn"), console.Count(m.ToolCalls, "tool call"), console.Count(len(m.Imported.Sources), "file"))
	for _, line := range leftOut(m.Imported) {
		fmt.Fprintf(&b, "left out  %s\n", line)
	}
	for _, line := range view.Imported(m.Imported) {
		fmt.Fprintf(&b, "note      %s\n", line)
	}
	fmt.Fprintf(&b, "run       %s\nread it   cupel show %s\n", dir, m.RunID)
	if m.Outcomes.Solved+m.Outcomes.Failed > 0 { // otherwise nothing judged the episodes
		fmt.Fprintf(&b, "intervals cupel report %s -o -.md\n", m.RunID)
	}
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
