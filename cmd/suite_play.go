package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/imports"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

func newSuitePlay(p *process) *cobra.Command {
	var from string
	var write bool
	cmd := &cobra.Command{
		Use:   "play --from RUN/EPISODE",
		Short: "Draft a reference solution from an episode",
		Long: `Drafts the reference solution of a task, an entry of playbook.yaml, from a solved
episode. Arguments and numbers of the answer that occur in exactly one earlier result
become expressions; a comment "# edit:" marks numbers that you must review. cupel checks
that the draft does what the episode did.

EPISODE is an episode id or TASK/CANDIDATE[/TRIAL]. With --write, adds the entry to
playbook.yaml of the suite of the run, or of --suite, and leaves the rest of the file
unchanged. Details: docs/playbooks.md.`,
		Example: `  cupel suite play --from latest/G41/strong
  cupel suite play --from latest/F01/strong/1 --write`,
		RunE: p.withConfig(func(c *cobra.Command, cfg config.Config, _ []string) error {
			if from == "" {
				return exit.Usage(errors.New("--from names the episode: RUN/TASK/CANDIDATE[/TRIAL] or RUN/EPISODE-ID; list them with: cupel show RUN"))
			}
			return draftPlay(c.Context(), p, cfg, from, write)
		}),
	}
	suiteFlags(cmd)
	cmd.Flags().String("runs", "", "folder of run folders (default runs)")
	cmd.Flags().StringVar(&from, "from", "", "episode: RUN/TASK/CANDIDATE[/TRIAL] or RUN/EPISODE-ID")
	cmd.Flags().BoolVar(&write, "write", false, "add the entry to playbook.yaml (default: print it)")
	cmd.Flags().Lookup("suite").Usage = "suite folder with the playbook (default: the suite of the run)"
	return cmd
}

func draftPlay(ctx context.Context, p *process, cfg config.Config, from string, write bool) error {
	ep, err := findSource(cfg, from)
	if err != nil {
		return err
	}
	dir := ep.manifest.SuitePath
	if cfg.FromFlag("suite") {
		dir = cfg.Suite
	}
	if write && strings.HasPrefix(dir, builtinPrefix) {
		return exit.Usage(fmt.Errorf("%s is read-only: name a folder with --suite, or leave --write out to print the entry", dir))
	}
	if ep.manifest.Imported.Format != "" {
		return exit.Usage(&imports.Imported{Dir: ep.dir, Manifest: ep.manifest})
	}
	if err := ep.replay(ctx, p, cfg); err != nil {
		return err
	}
	entry, err := ep.play()
	if err != nil {
		return exit.Usage(err)
	}
	if kind := p.secrets.Find(string(entry)); kind != "" {
		return exit.Usage(fmt.Errorf("the solution of %s would hold %s: write it by hand, without it", ep.row.TaskID, kind))
	}
	if !write {
		_, err = p.stdout.Write(entry)
		return err
	}
	return addPlay(p, dir, ep.row.TaskID, entry)
}

// play is the episode as an entry of a playbook.
func (ep *sourceEpisode) play() ([]byte, error) {
	name := rundir.EpisodeName(ep.row)
	if !ep.rows.Episode.Solved {
		return nil, fmt.Errorf("%s was not solved, so it is not a solution; choose a solved episode, list them with: cupel show %s", name, ep.manifest.RunID)
	}
	task := ep.options.Suite.Tasks[taskIndex(ep.options.Suite, ep.row.TaskID)]
	given := map[string]json.RawMessage{}
	for _, in := range task.Inputs {
		given[in.Name] = in.Value
	}
	var did []playbook.Done
	for _, t := range ep.traces {
		switch {
		case t.Tool != nil && t.Result != nil && !t.Tool.Deduped:
			r := playbook.Result{Value: t.Result.Value, Message: t.Result.Message}
			if t.Result.Outcome != tool.OK {
				r.Value, r.Code = nil, cmp.Or(t.Result.Code, "E_"+strings.ToUpper(string(t.Result.Outcome)))
			}
			did = append(did, playbook.Done{Action: playbook.Action{Kind: playbook.Call, Tool: t.Tool.Call.Name, Args: t.Tool.Call.Args}, Result: r})
		case t.Question != "" && !t.Approval: // the reply is empty if there was none
			did = append(did, playbook.Done{Action: playbook.Action{Kind: playbook.Ask, Text: t.Question}, Reply: t.Reply})
		case t.Finish != nil:
			end := playbook.Action{Kind: playbook.Answer, Text: t.Finish.Answer}
			switch {
			case t.Finish.Status == agent.CannotProceed:
				end.Kind = playbook.GiveUp
			case t.Finish.Status == agent.Clarify:
				end = playbook.Action{Kind: playbook.GiveUp, Text: "I need to know that first."}
			case t.Finish.Status == agent.Stopped || t.Finish.Answer == "":
				return nil, fmt.Errorf("%s ended %s without an answer, which a solution does not; write it by hand", name, t.Finish.Status)
			case task.AnswerSchema != nil && json.Valid([]byte(end.Text)):
				end.Value = json.RawMessage(end.Text)
			}
			did = append(did, playbook.Done{Action: end})
		}
	}
	tasks, err := load.PlaybookTasks(ep.options.Suite)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tasks, func(t playbook.Task) bool { return t.ID == task.ID })
	return playbook.Draft(tasks[i], given, did)
}

// addPlay adds an entry to the playbook of the suite folder dir.
func addPlay(p *process, dir, id string, entry []byte) error {
	suite, _, err := p.loadSuite(dir)
	if err != nil {
		return err
	}
	book, err := load.Playbook(suite)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, playbook.File)
	if _, there := book.Of(id); there {
		return exit.Usage(fmt.Errorf("%s has a solution of task %s already; remove it first, or leave --write out to print the draft", path, id))
	}
	var was []byte
	if book != nil {
		if was, err = load.ReadFile(suite.FS, playbook.File); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	text, err := playbook.Add(was, entry)
	if err != nil {
		return exit.Usage(fmt.Errorf("%s: %w", path, err))
	}
	whole := *suite
	whole.FS = fstest.MapFS{playbook.File: {Data: text}}
	if _, err := load.Playbook(&whole); err != nil {
		return err
	}
	if err := writeAll([]output{{path, text, book != nil}}); err != nil {
		return fmt.Errorf("add the solution of task %s: %w", id, err)
	}
	verb := "wrote  "
	if book != nil {
		verb = "changed"
	}
	_, err = fmt.Fprintf(p.stdout, "%s %s\nedit    %s\nlint    cupel suite lint %s\n", verb, path, path, filepath.ToSlash(dir))
	return err
}
