package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/imports"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/draft"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// sourceEpisode is the episode that a task is made of.
type sourceEpisode struct {
	dir       string // of its run
	manifest  manifest.Manifest
	row       ledger.Episode
	candidate string // by its name in the configuration

	options harness.Options // of its replay
	rows    ledger.EpisodeRows
	traces  []episode.Trace
	outcome goldens.Outcome
	human   bool // a person answered, not the task
	// secrets are taken out of what the model said before it is cut.
	secrets *secrets.Finder
	pack    string // path of the pack with its recording; empty for the cassettes of its suite
}

func (ep *sourceEpisode) clean(text string) string { return ep.secrets.Redact("suite add", text) }

var (
	episodeID = regexp.MustCompile(`^[0-9A-Z]{26}$`)
	digits    = regexp.MustCompile(`^[0-9]+$`)
)

// findSource resolves RUN/TASK[/CANDIDATE[/TRIAL]] or RUN/EPISODE-ID, where RUN may be
// a path.
func findSource(cfg config.Config, text string) (*sourceEpisode, error) {
	parts := strings.Split(filepath.ToSlash(text), "/")
	last := parts[len(parts)-1]
	lengths := []int{2, 1} // of the episode's name, in parts
	switch {
	case episodeID.MatchString(last):
		lengths = []int{1}
	case digits.MatchString(last):
		lengths = []int{3, 2, 1}
	}
	var missing error
	for _, n := range lengths {
		if len(parts) <= n {
			continue
		}
		dir, m, rows, err := rundir.Load(cfg.Runs, strings.Join(parts[:len(parts)-n], "/"))
		if dir == "" { // no such run
			missing = cmp.Or(missing, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		row, err := rundir.FindEpisode(rows, strings.Join(parts[len(parts)-n:], "/"))
		if err != nil {
			return nil, err
		}
		return checkSource(dir, m, row)
	}
	return nil, cmp.Or(missing, exit.Usage(fmt.Errorf("%q is not an episode; give RUN/TASK/CANDIDATE[/TRIAL] or RUN/EPISODE-ID, listed by: cupel show RUN", text)))
}

// checkSource refuses what no task can be made of.
func checkSource(dir string, m manifest.Manifest, row ledger.Episode) (*sourceEpisode, error) {
	switch {
	case m.Mode == "live":
		return nil, exit.Usage(fmt.Errorf("run %s was live: a live run stores no prompts or replies; use --mode record", m.RunID))
	case row.Provider == episode.ScriptedCandidate:
		return nil, exit.Usage(fmt.Errorf("%s is a scripted episode, which tests the harness; write such a task by hand", rundir.EpisodeName(row)))
	case row.Excluded() != "" && m.Imported.Format == "":
		return nil, exit.Usage(fmt.Errorf("%s has no result (%s): there is nothing to make a task of", rundir.EpisodeName(row), row.ErrorKind))
	}
	_, candidate := forkOf(m, row.Candidate)
	return &sourceEpisode{dir: dir, manifest: m, row: row, candidate: candidate}, nil
}

// replay executes the episode again from its cassette.
func (ep *sourceEpisode) replay(ctx context.Context, p *process, cfg config.Config) error {
	if ep.manifest.Imported.Format != "" {
		return ep.read(p, cfg)
	}
	o, err := replayOptions(ctx, p, cfg, ep.manifest, ep.row)
	if err != nil {
		return err
	}
	if ep.human, err = takeAnswers(&o, ep.dir, ep.row); err != nil {
		return err
	}
	ep.options, ep.pack = o, cfg.Pack
	ep.rows, ep.traces, err = harness.Replay(ctx, o, int(ep.row.Trial))
	if err != nil {
		return err
	}
	switch was, is := ep.row, ep.rows.Episode; {
	case is.InfraError:
		return exit.With(exit.Replay, fmt.Errorf("%s does not replay: %s", rundir.EpisodeName(was), is.ErrorText))
	case is.Status != was.Status || is.Solved != was.Solved:
		return exit.With(exit.Replay, fmt.Errorf("the replay ended %s, the ledger says %s: suite, code or cassette changed since the run", is.Status, was.Status))
	case is.CassetteDigest != was.CassetteDigest && was.CassetteDigest != "":
		return exit.With(exit.Replay, fmt.Errorf("the cassette of %s was recorded again since the run: run the suite again, and add from that run", rundir.EpisodeName(was)))
	}
	p.learn(cfg.Candidates, &goldens.Suite{HTTP: o.Suite.HTTP, MCP: o.Suite.MCP, Candidates: o.Suite.Candidates})
	ep.secrets = p.secrets
	ep.outcome = ep.observed()
	return nil
}

// read reads an imported episode, for the suite that its task comes into.
func (ep *sourceEpisode) read(p *process, cfg config.Config) (err error) {
	if !cfg.FromFlag("suite") {
		return exit.Usage(errors.New("an imported run has no suite: name the folder of one with --suite"))
	}
	if ep.options.Suite, _, err = p.loadSuite(cfg.Suite); err != nil {
		return err
	}
	p.learn(cfg.Candidates, ep.options.Suite)
	ep.secrets, ep.candidate = p.secrets, imports.CandidateOf(ep.options.Suite, ep.row)
	ep.rows, ep.traces, err = imports.Find(ep.dir, ep.manifest, ep.row)
	ep.outcome = ep.observed()
	return err
}

// takeAnswers gives the episode's task what a person said in the run, which the run
// folder keeps, and reports whether there is such.
func takeAnswers(o *harness.Options, dir string, row ledger.Episode) (bool, error) {
	said, err := episode.ReadAnswers(dir)
	if err != nil {
		return false, fmt.Errorf("read what the human said: %w", errors.Unwrap(err))
	}
	task := taskIndex(o.Suite, row.TaskID)
	for _, a := range said {
		if task >= 0 && a.Task == row.TaskID && a.Candidate == row.Candidate && a.Trial == int(row.Trial) {
			suite := *o.Suite
			suite.Tasks = slices.Clone(suite.Tasks)
			suite.Tasks[task].Replies, suite.Tasks[task].Approvals = a.Replies, a.Approvals
			o.Suite = &suite
			return true, nil
		}
	}
	return false, nil
}

// observed is what the episode's checks look at, its answer without credentials.
func (ep *sourceEpisode) observed() (o goldens.Outcome) {
	for _, t := range ep.traces {
		if t.Outcome != nil {
			o = *t.Outcome
		}
	}
	o.Answer = ep.clean(o.Answer)
	return o
}

// draft is the episode as a task.
func (ep *sourceEpisode) draft(cfg config.Config) draft.Draft {
	suite := ep.options.Suite
	t := suite.Tasks[taskIndex(suite, ep.row.TaskID)]
	d := draft.Draft{Task: t, From: suite, GoTools: slices.Collect(maps.Keys(ep.options.Tools)), Pinned: ep.rows.Episode.Solved, Comments: ep.story(t)}
	if d.Pinned {
		e := goldens.Pin(t, ep.outcome)
		for i, c := range e.Trajectory.Required {
			if ep.secrets.Find(fmt.Sprint(c.Args)) != "" {
				e.Trajectory.Required[i].Args = nil // any
			}
		}
		for i, c := range e.State {
			if ep.secrets.Find(fmt.Sprint(c.Wants)) != "" {
				e.State[i].Wants = map[string]any{"exists": true}
			}
		}
		if strings.Contains(ep.outcome.Answer, secrets.Hidden) {
			e.ContainsAll = nil
		}
		if e.Trajectory.Order == goldens.Strict && overlapped(ep.rows) {
			e.Trajectory.Order = goldens.AnyOrder
		}
		d.Task.Expect = []goldens.Expect{e}
	}
	d.Task.ID = freshID(t.ID, ep.row.Candidate)
	if cfg.Candidates == nil {
		for _, c := range ep.options.Candidates {
			if c.Name == ep.candidate {
				d.Candidates = []goldens.Candidate{c}
			}
		}
	}
	return d
}

// overlapped says whether turns or calls of an episode overlapped: their order is then
// one of speed, which the next recording need not repeat.
func overlapped(rows ledger.EpisodeRows) bool {
	var spans [][]int64 // start and end
	for _, t := range rows.Turns {
		spans = append(spans, []int64{t.TsStart, t.TsEnd})
	}
	for _, c := range rows.ToolCalls {
		spans = append(spans, []int64{c.TsStart, c.TsEnd})
	}
	slices.SortFunc(spans, slices.Compare)
	for i := 1; i < len(spans); i++ {
		if spans[i][0] < spans[i-1][1] {
			return true
		}
	}
	return false
}

// continuationNote says which tasks come before the episode's in its session; empty if none do.
func (ep *sourceEpisode) continuationNote() string {
	var earlier []string
	tasks, at := ep.options.Suite.Tasks, taskIndex(ep.options.Suite, ep.row.TaskID)
	for _, t := range tasks[:max(at, 0)] { // an imported episode has no task there
		if t.Session != "" && t.Session == tasks[at].Session {
			earlier = append(earlier, t.ID)
		}
	}
	if earlier == nil {
		return ""
	}
	return fmt.Sprintf("Its conversation began with %s, which a suite without them does not remember: add those first, or say in its request what it needs of them.",
		strings.Join(earlier, ", "))
}

// freshID begins the new task's id; there must be room for a number behind it.
func freshID(task, candidate string) string {
	const most = 90
	id := task + "-" + candidate
	return strings.TrimRight(id[:min(len(id), most)], ".-")
}

// story tells where a task comes from and what happened there, line by line.
func (ep *sourceEpisode) story(t goldens.Task) []string {
	e, o := ep.rows.Episode, ep.outcome
	recorded := ""
	if data, err := ep.recording(); err == nil && data.Header.Recorded != "" {
		recorded = ", recorded " + data.Header.Recorded
	}
	lines := []string{
		fmt.Sprintf("From run %s, episode %s (%s):", ep.manifest.RunID, ep.row.EpisodeID, rundir.EpisodeName(ep.row)),
		fmt.Sprintf("candidate %s, model %s of %s%s.", e.Candidate, e.Model, e.Provider, recorded), "",
	}
	how := "It was not solved: what is expected below is what task " + t.ID + " expects. What happened:"
	if e.Solved {
		how = "It was solved, and what is expected below is what happened: edit it to what matters."
	}
	if note := ep.continuationNote(); note != "" {
		lines = append(lines, note, "")
	}
	lines = append(lines, how, fmt.Sprintf("  %s · steps %d · tool calls %d · questions %d", strings.TrimSpace(o.Status+" "+o.StopReason), o.Steps, len(o.Calls), o.Clarifies))
	lines = append(lines, ep.trajectory()...)
	if o.Answer != "" {
		lines = append(lines, fmt.Sprintf("  answer: %.300q", o.Answer))
	}
	changes, _ := episode.StateChanges(o, 20)
	for _, line := range changes {
		lines = append(lines, "  changed "+ep.clean(line))
	}
	for _, c := range e.Checks {
		if !c.Passed {
			lines = append(lines, fmt.Sprintf("  failed %s: %s", c.Name, ep.clean(c.Detail)))
		}
	}
	return lines
}

// trajectory tells what was called and asked, a few lines at most.
func (ep *sourceEpisode) trajectory() (lines []string) {
	const most = 30
	for _, t := range ep.traces {
		switch {
		case t.Tool != nil:
			what := strings.TrimSpace(fmt.Sprintf("%s %s%.100s", t.Result.Outcome, ep.clean(t.Result.Code), ep.clean(string(t.Result.Value))))
			if t.Tool.Deduped {
				what += " (same as before, not run again)"
			}
			lines = append(lines, fmt.Sprintf("  %s %.200s → %s", t.Tool.Call.Name, ep.clean(string(t.Tool.Call.Args)), what))
		case t.Question != "" && t.Silent:
			lines = append(lines, fmt.Sprintf("  asks %.150q, without an answer", ep.clean(t.Question)))
		case t.Question != "":
			lines = append(lines, fmt.Sprintf("  asks %.150q, and is told %.150q", ep.clean(t.Question), ep.clean(t.Reply)))
		}
	}
	if len(lines) > most {
		lines = append(lines[:most], fmt.Sprintf("  … and %d lines more", len(lines)-most))
	}
	return lines
}

// recording is the episode's cassette.
func (ep *sourceEpisode) recording() (*cassette.Data, error) {
	files, done, err := packing.Files(ep.options.Suite, ep.pack)
	defer done()
	if err != nil {
		return nil, err
	}
	if pack, ok := files.(cassette.Archive); ok {
		files = struct{ fs.FS }{pack} // of which Load reads the YAML: of a pack it leaves out the headers of requests
	}
	return cassette.Load(cassette.File{FS: files, Path: cassettes.Path(ep.row.TaskID, ep.row.Candidate, int(ep.row.Trial))})
}

// cassette is the episode's own under the new task's name, or why there is none: it
// must replay in the suite it comes into as it did in its own.
func (ep *sourceEpisode) cassette(ctx context.Context, p *process, cfg config.Config, dir string, added draft.Addition, id string) (output, error) {
	if ep.manifest.Imported.Format != "" {
		return output{}, errors.New("it is imported, without the replies of a model that could be replayed")
	}
	if ep.manifest.Fork != nil {
		return output{}, errors.New("it is a fork's, whose first turns another candidate took")
	}
	if _, err := os.Stat(filepath.Join(dir, "cassettes")); errors.Is(err, fs.ErrNotExist) && !packing.InFolder(dir) {
		if _, err := os.Stat(filepath.Join(dir, cassettes.PackName)); err == nil {
			return output{}, fmt.Errorf("the suite replays from %s, which a cassettes folder would hide", cassettes.PackName)
		}
	}
	data, err := ep.recording()
	if err != nil {
		return output{}, err
	}
	h := &data.Header
	if h.Suite, h.Task, h.Trial = added.Suite.Name, id, 1; ep.human {
		delete(h.Digests, "task") // which had no such answers
	}
	name := cassettes.Path(id, ep.candidate, 1)
	text, err := cassette.Seal(cassette.File{Path: name, Secrets: p.secrets}, data)
	if err != nil {
		return output{}, err
	}
	if err := ep.replaysIn(ctx, p, cfg, added.Suite, id, fstest.MapFS{name: {Data: text}}); err != nil {
		return output{}, err
	}
	folder := "cassettes"
	if packing.InFolder(dir) {
		folder = cassettes.PackName
	}
	return output{path: filepath.Join(dir, folder, filepath.FromSlash(name)), text: text}, nil
}

// replaysIn replays the new task from its cassette.
func (ep *sourceEpisode) replaysIn(ctx context.Context, p *process, cfg config.Config, suite *goldens.Suite, id string, files fs.FS) (err error) {
	o := ep.options
	o.Suite, o.Cassettes, o.Trials = suite, files, 1
	o.Select = harness.Selection{Tasks: []string{id}, Candidates: []string{ep.candidate}}
	if o.Candidates, err = p.addressed(cfg.CandidatesOf(suite)); err != nil {
		return err
	}
	rows, _, err := harness.Replay(ctx, o, 1)
	switch was, is := ep.rows.Episode, rows.Episode; {
	case err != nil:
		return err
	case is.InfraError:
		return errors.New(is.ErrorText)
	case is.Status != was.Status || is.Solved != was.Solved || is.Answer != was.Answer:
		return fmt.Errorf("it ends %s there, not %s", is.Status, was.Status)
	}
	return nil
}
