package harness

import (
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// newSecrets returns a finder of every credential of the run. A replay uses only those in
// the suite's worlds, because its rows must depend on suite and cassettes alone.
func newSecrets(o Options) *secrets.Finder {
	s := o.Secrets
	if s == nil || o.Mode == recorder.Replay {
		s = secrets.New()
	}
	for _, t := range o.Suite.Tasks {
		for _, name := range drive.SortedKeys(t.World.Env) {
			s.Add(t.World.Env[name])
		}
	}
	return s
}

func registerTask(r *runner, t goldens.Task) error {
	if r.Mode != recorder.Replay {
		_, found, err := drive.ToolHeaders(r.Suite, t, r.Tools, r.LookupEnv)
		if err != nil {
			return err
		}
		r.secrets.Add(found...)
		for _, h := range t.Helpers() {
			if h.Role == helper.User && r.Human != nil { // a person answers in its place
				continue
			}
			if err := registerHelper(r, h); err != nil {
				return fmt.Errorf("task %s: %s %s: %w", t.ID, h.Role, h.Model.Name, err)
			}
		}
	}
	return refuseSecret(r, "the id of a task", t.ID)
}

// registerHelper registers the credentials of a helper's model.
func registerHelper(r *runner, h helper.Helper) (err error) {
	c := goldens.Candidate{Name: h.Model.Name}.Asking(h.Model)
	key := ""
	if r.Key != nil {
		if key, err = r.Key(c); err != nil {
			return err
		}
	}
	return registerCandidate(r, c, key)
}

func registerCandidate(r *runner, c goldens.Candidate, key string) error {
	r.secrets.Add(key)
	for _, name := range c.Variables() {
		if r.Mode != recorder.Replay && r.LookupEnv != nil {
			value, _ := r.LookupEnv(name)
			r.secrets.Add(value)
		}
	}
	return errors.Join(
		refuseSecret(r, "the name of a candidate", c.Name), refuseSecret(r, "the model of a candidate", c.Model),
		refuseSecret(r, "the rescue model of a candidate", c.Rescue), refuseSecret(r, "the fallback model of a candidate", c.Fallback),
		refuseSecret(r, "the planner's model of a candidate", c.Plan.ReasoningModel), refuseSecret(r, "the base_url of a candidate", c.BaseURL),
	)
}

func refuseSecret(r *runner, what, name string) error {
	if kind := r.secrets.Find(name); kind != "" {
		return &ConfigError{fmt.Errorf("%s contains %s, which would appear in every output; rename it", what, kind)}
	}
	return nil
}

// ReadRun reads the manifest of a run and, on iteration, its episodes in ledger order; an
// error ends the iteration. It redacts credentials in both, because another program may
// have written the files.
func ReadRun(dir string) (manifest.Manifest, iter.Seq2[ledger.EpisodeRows, error], error) {
	m, episodes, err := ledger.Open(dir)
	if err != nil {
		return m, nil, err
	}
	drive.NewCleaner(nil).Record(reflect.ValueOf(&m).Elem())
	return m, cleaned(episodes), nil
}

func cleaned(episodes iter.Seq2[ledger.EpisodeRows, error]) iter.Seq2[ledger.EpisodeRows, error] {
	return func(yield func(ledger.EpisodeRows, error) bool) {
		clean := drive.NewCleaner(nil)
		for rows, err := range episodes {
			clean.Record(reflect.ValueOf(&rows).Elem())
			if !yield(rows, err) {
				return
			}
		}
	}
}

func (r *runner) cleanManifest(m manifest.Manifest) manifest.Manifest {
	m.Candidates = append([]manifest.Candidate(nil), m.Candidates...)
	m.Tasks = append([]manifest.Task(nil), m.Tasks...)
	for i := range m.Tasks {
		m.Tasks[i].Tags = append([]string(nil), m.Tasks[i].Tags...) // the suite's own
	}
	clean := drive.NewCleaner(r.secrets)
	clean.Record(reflect.ValueOf(&m).Elem())
	if m.Decide != nil {
		d := *m.Decide
		d.Stops = append([]manifest.Stop{}, d.Stops...)
		clean.Record(reflect.ValueOf(&d).Elem())
		m.Decide = &d
	}
	return m
}

// registerAll registers the secrets of the whole plan before anything starts, because one
// episode may encounter the credentials of another.
func registerAll(r *runner) error {
	for _, c := range r.plan.candidates { // the keys first, because an id may contain one
		r.secrets.Add(r.hosts.Add(c.Name, c.key, c.foreign)...)
		if err := registerCandidate(r, c.Candidate, c.key); err != nil {
			return err
		}
	}
	for _, t := range r.plan.tasks {
		if t.planned {
			if err := registerTask(r, t.Task); err != nil {
				return err
			}
		}
	}
	return refuseSecret(r, "the suite's name", r.Suite.Name)
}
