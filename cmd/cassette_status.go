package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/agents"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/packs"
)

func newCassetteStatus(p *process) *cobra.Command {
	var sel harness.Selection
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "status [SUITE]",
		Short: "List stale, missing and corrupt cassettes",
		Long: `Compares the cassette of every planned episode with what a run would use now: provider,
model, adapter version, and digests of prompt, tools, contract, policy, task and
candidate settings. Runs no episode.

  fresh    recorded with the current versions of all of these
  stale    recorded with other versions, which are named
  missing  planned but not recorded
  corrupt  truncated, edited or not a cassette
  unused   of an additional trial or a fork; kept
  orphan   not planned by the suite; "cupel cassette prune" deletes it

Prints all that are not fresh. Exits with 3 if one is stale, missing or corrupt.
Proposes rules where two trials of an external agent differ only in volatile texts.
--task, --candidate and --tag limit the check to planned cassettes.`,
		Example: `  cupel cassette status
  cupel cassette status builtin:counts --all
  cupel cassette status --candidate gpt --json`,
		RunE: func(c *cobra.Command, args []string) error {
			o, err := cassetteOptions(p, c, args, sel)
			if err != nil {
				return err
			}
			done, err := packing.Use(&o, p.cfg.Pack)
			defer done()
			if err != nil {
				return err
			}
			list, err := harness.Cassettes(o)
			if err != nil {
				return err
			}
			rules, err := agents.Volatile(o, list)
			return errors.Join(err, printStatus(p, o, list, rules, all, asJSON))
		},
	}
	suiteFlags(cmd)
	packing.Flag(cmd)
	trialsFlag(cmd)
	selectionFlags(cmd.Flags(), &sel)
	cmd.Flags().BoolVar(&all, "all", false, "print fresh cassettes, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print every cassette as JSON")
	return cmd
}

func trialsFlag(cmd *cobra.Command) {
	cmd.Flags().Int("trials", 1, "planned repetitions of each task")
}

// cassetteOptions returns the options for a replay of the suite that the argument, the
// flag or the configuration names.
func cassetteOptions(p *process, c *cobra.Command, args []string, sel harness.Selection) (harness.Options, error) {
	cfg, err := p.loadWith(c, args)
	if err != nil {
		return harness.Options{}, err
	}
	cfg.Mode = string(recorder.Replay)
	o, _, err := options(c.Context(), p, cfg, sel)
	return o, err
}

func printStatus(p *process, o harness.Options, list []cassettes.Status, rules []string, all, asJSON bool) error {
	count := map[cassettes.State]int{}
	for _, s := range list {
		count[s.State]++
	}
	if asJSON {
		err := p.printJSON(map[string]any{"suite": o.Suite.Path, "count": count, "cassettes": list, "rules": rules})
		return errors.Join(err, statusOutcome(o, count, len(list)))
	}
	w := console.Table(p.stdout, "cassette", "state", "why")
	for _, s := range list {
		if all || s.State != cassettes.Fresh {
			w.AppendRow(table.Row{console.Line(s.Path), s.State, console.Line(strings.Join(s.Why, "; "))})
		}
	}
	if w.Length() > 0 {
		w.Render()
		_, _ = fmt.Fprintln(p.stdout)
	}
	_, err := fmt.Fprintf(p.stdout, "%s: %d fresh, %d stale, %d missing, %d corrupt, %d unused, %d orphaned\n", o.Suite.Path,
		count[cassettes.Fresh], count[cassettes.Stale], count[cassettes.Missing], count[cassettes.Corrupt],
		count[cassettes.Unused], count[cassettes.Orphan])
	if len(rules) > 0 {
		_, _ = fmt.Fprintf(p.stdout, "\n%s\n", strings.Join(rules, "\n\n"))
	}
	return errors.Join(err, statusOutcome(o, count, len(list)))
}

// statusOutcome returns an error with exit code 3 and what to do, unless all planned
// cassettes are fresh.
func statusOutcome(o harness.Options, count map[cassettes.State]int, total int) error {
	planned := total - count[cassettes.Orphan] - count[cassettes.Unused]
	if count[cassettes.Fresh] == planned {
		return nil
	}
	text := fmt.Sprintf("%d of %d planned cassettes are not fresh", planned-count[cassettes.Fresh], planned)
	if o.Records() || strings.Contains(o.RecordFlags, " --pack ") {
		text += "; record them with: cupel run" + o.RecordFlags + " --mode record --stale --suite " + o.Suite.Path
		if o.Trials > 1 {
			text += fmt.Sprintf(" --trials %d", o.Trials)
		}
	}
	if o.CassetteDir != "" && count[cassettes.Corrupt] > 0 {
		text += "\nafter an intentional edit, reseal the file with: cupel cassette seal FILE"
	}
	return exit.With(exit.Replay, errors.New(text))
}

func newCassettePrune(p *process) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "prune [SUITE]",
		Short: "List orphaned cassettes; delete them with --yes",
		Long: `Lists the cassettes that no planned episode of the suite uses, and why. A cassette of a
second trial is orphaned unless --trials or the configuration plans that trial. With
--yes, deletes them and folders that become empty.`,
		Example: `  cupel cassette prune
  cupel cassette prune --trials 3 --yes`,
		RunE: func(c *cobra.Command, args []string) error {
			o, err := cassetteOptions(p, c, args, harness.Selection{})
			if err != nil {
				return err
			}
			return prune(p, o, p.cfg.Pack, yes)
		},
	}
	suiteFlags(cmd)
	packing.Flag(cmd)
	trialsFlag(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "delete the orphaned cassettes")
	return cmd
}

func prune(p *process, o harness.Options, from string, yes bool) (err error) {
	var pack *packs.Folder
	var done func()
	if yes && (o.CassetteDir != "" || from != "") {
		o.Cassettes, pack, done, err = packing.Target(o, from)
	} else {
		done, err = packing.Use(&o, from)
	}
	defer done()
	if err != nil {
		return err
	}
	list, err := harness.Cassettes(o)
	if err != nil {
		return err
	}
	var orphans []string
	w := console.Table(p.stdout, "cassette", "why")
	for _, s := range list {
		if s.State == cassettes.Orphan {
			orphans = append(orphans, s.Path)
			w.AppendRow(table.Row{console.Line(s.Path), console.Line(strings.Join(s.Why, "; "))})
		}
	}
	if len(orphans) == 0 {
		_, err := fmt.Fprintf(p.stdout, "%s: no orphans\n", o.Suite.Path)
		return err
	}
	w.Render()
	switch {
	case !yes:
		_, err := fmt.Fprintf(p.stdout, "\n%s; delete with --yes\n", console.Count(len(orphans), "orphan"))
		return err
	case o.Cassettes == nil:
		return exit.Usage(fmt.Errorf("the cassettes of %s are read-only; name a suite folder", o.Suite.Path))
	}
	if err := packing.Prune(o, pack, done, orphans); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "\n%s deleted\n", console.Count(len(orphans), "orphan"))
	return err
}
