package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/imports"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/draft"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

func newSuiteAdd(p *process) *cobra.Command {
	var from, id string
	cmd := &cobra.Command{
		Use:   "add --from RUN/EPISODE",
		Short: "Turn an episode of a run into a golden task",
		Long: `Writes an episode of a recorded or replayed run as a new task: request, world, tools,
budgets and expected outcome. For a solved episode, the expectation is what happened,
and a comment "# edit:" marks each check to review. Otherwise it is what the task
expected, and a comment says what happened.

EPISODE is an episode id or TASK/CANDIDATE[/TRIAL]. The task is added to the suite of
the run, or to --suite, which is created if it has no suite.yaml. Overwrites nothing, and
writes nothing unless "cupel suite lint" accepts the result. Copies the cassette of the
episode if it replays in that suite. Details: docs/suites.md.`,
		Example: `  cupel suite add --from latest/G41/weak --suite suites/mine
  cupel suite add --from latest/F01/strong/1 --id today-frozen`,
		RunE: p.withConfig(func(c *cobra.Command, cfg config.Config, _ []string) error {
			if from == "" {
				return exit.Usage(errors.New("--from names the episode: RUN/TASK/CANDIDATE[/TRIAL] or RUN/EPISODE-ID; list them with: cupel show RUN"))
			}
			return addTask(c.Context(), p, cfg, from, id)
		}),
	}
	suiteFlags(cmd)
	packing.Flag(cmd)
	cmd.Flags().String("runs", "", "folder of run folders (default runs)")
	cmd.Flags().StringVar(&from, "from", "", "episode: RUN/TASK/CANDIDATE[/TRIAL] or RUN/EPISODE-ID")
	cmd.Flags().StringVar(&id, "id", "", "id of the new task (default TASK-CANDIDATE)")
	cmd.Flags().Lookup("suite").Usage = "suite folder to add to (default: the suite of the run)"
	return cmd
}

func addTask(ctx context.Context, p *process, cfg config.Config, from, id string) error {
	ep, err := findSource(cfg, from)
	if err != nil {
		return err
	}
	dir := ep.manifest.SuitePath
	if cfg.FromFlag("suite") {
		dir = cfg.Suite
	}
	if strings.HasPrefix(dir, builtinPrefix) {
		return exit.Usage(fmt.Errorf("%s is read-only: name a folder to add to, such as --suite suites/first (cupel init writes it; in a folder without a suite.yaml, a suite is started)", dir))
	}
	if err := ep.replay(ctx, p, cfg); err != nil {
		return err
	}
	var draft draft.Draft
	if ep.manifest.Imported.Format != "" {
		if draft, err = imports.Draft(ep.options.Suite, ep.manifest, ep.row, ep.outcome); err != nil {
			return exit.Usage(err)
		}
	} else {
		draft = ep.draft(cfg)
	}
	added, err := addDraft(&draft, dir, id)
	if err != nil {
		return err
	}
	if draft.Pinned {
		task := added.Suite.Tasks[taskIndex(added.Suite, draft.Task.ID)]
		if solved, checks := goldens.Score(task, ep.outcome); !solved {
			return fmt.Errorf("the task drafted from %s would not be solved by it: %v", from, checks)
		}
	}
	files := make([]output, 0, len(added.Files)+1)
	recorded, why := ep.cassette(ctx, p, cfg, dir, added, draft.Task.ID)
	if why == nil {
		files = append(files, recorded)
	}
	for _, f := range added.Files {
		if kind := p.secrets.Find(string(f.Text)); kind != "" && !f.Replaces {
			return exit.Usage(fmt.Errorf("%s would hold %s, so nothing was written: add the task by hand, without it", f.Path, kind))
		}
		files = append(files, output{filepath.Join(dir, filepath.FromSlash(f.Path)), f.Text, f.Replaces})
	}
	write := writeAll
	if why == nil {
		write = func(files []output) error { return ep.writeRecorded(dir, draft.Task.ID, files) }
	}
	if err := write(files); err != nil {
		return fmt.Errorf("add task %s: %w", draft.Task.ID, err)
	}
	return sayAdded(p, ep, dir, draft.Task.ID, files, added, why)
}

// addDraft makes the task's id, a fresh one unless it is given, and the files.
func addDraft(d *draft.Draft, dir, id string) (draft.Addition, error) {
	const most = 100
	base := cmp.Or(id, d.Task.ID)
	d.Task.ID = base
	for n := 2; ; n++ {
		added, err := d.AddTo(regular.DirFS(dir), filepath.ToSlash(dir))
		switch {
		case err == nil:
			return added, nil
		case !errors.Is(err, draft.ErrTaken):
			return added, exit.Usage(err)
		case id != "" || n > most:
			return added, exit.Usage(fmt.Errorf("%w; give another with --id", err))
		}
		d.Task.ID = fmt.Sprintf("%s-%d", base, n)
	}
}

func taskIndex(s *goldens.Suite, id string) int {
	return slices.IndexFunc(s.Tasks, func(t goldens.Task) bool { return t.ID == id })
}

// sayAdded prints what was written and what to do next.
func sayAdded(p *process, ep *sourceEpisode, dir, id string, files []output, added draft.Addition, why error) error {
	var out strings.Builder
	for _, f := range files {
		verb := "wrote  "
		if f.replaces {
			verb = "changed"
		}
		fmt.Fprintf(&out, "%s %s\n", verb, f.path)
	}
	for _, name := range added.Differ {
		fmt.Fprintf(&out, "note    tool %s is defined otherwise in %s, and its own definition is in force\n", name, added.Suite.Path)
	}
	if note := ep.continuationNote(); note != "" {
		fmt.Fprintf(&out, "note    %s\n", note)
	}
	fmt.Fprintf(&out, "edit    %s\n", filepath.Join(dir, filepath.FromSlash(added.Files[0].Path)))
	fmt.Fprintf(&out, "lint    cupel suite lint %s\n", filepath.ToSlash(dir))
	run := fmt.Sprintf("--suite %s --task %s --candidate %s", filepath.ToSlash(dir), id, ep.candidate)
	if why == nil {
		fmt.Fprintf(&out, "run     cupel run %s\n", run)
	} else {
		line, _, _ := strings.Cut(why.Error(), "\n")
		fmt.Fprintf(&out, "record  cupel run --mode record %s\n        (its cassette was not taken over: %s)\n", run, console.Line(line))
	}
	_, err := fmt.Fprint(p.stdout, out.String())
	return err
}

// output is a file to write.
type output struct {
	path     string
	text     []byte
	replaces bool // is there, and changes
}

// writeRecorded writes the files of a task, of which the first is its recording: a file, or in the
// suite's pack.
func (ep *sourceEpisode) writeRecorded(dir, id string, files []output) error {
	if packing.InFolder(dir) {
		if err := writeAll(files[1:]); err != nil {
			return err
		}
		return packing.Add(dir, cassettes.Path(id, ep.candidate, 1), files[0].text)
	}
	unlock, err := cassette.Lock(filepath.Join(dir, "cassettes"))
	if err != nil {
		return err
	}
	defer unlock()
	return writeAll(files)
}

// writeAll writes all files or none: each is complete under another name before the
// first takes its place. A file that is there and does not change is an error.
func writeAll(files []output) (err error) {
	temps := make([]*atomicfile.File, len(files))
	inPlace := 0
	defer func() {
		for i, temp := range temps {
			if temp != nil {
				temp.Abort()
			}
			if err != nil && i < inPlace && !files[i].replaces { // what is replaced is the last: nothing is left that could fail
				err = errors.Join(err, os.Remove(files[i].path))
			}
		}
	}()
	for i, f := range files {
		if f.replaces {
			if f.path, err = filepath.EvalSymlinks(f.path); err != nil {
				return err
			}
		} else if _, err := os.Lstat(f.path); !os.IsNotExist(err) {
			return errors.Join(err, fmt.Errorf("%s is there already", f.path))
		}
		if err := os.MkdirAll(filepath.Dir(f.path), 0o777); err != nil {
			return err
		}
		if temps[i], err = atomicfile.Create(f.path); err != nil {
			return err
		}
		if _, err := temps[i].Write(f.text); err != nil {
			return err
		}
	}
	for ; inPlace < len(files); inPlace++ {
		if err := temps[inPlace].Commit(); err != nil {
			return err
		}
	}
	return nil
}
