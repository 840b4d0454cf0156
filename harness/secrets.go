package harness

import (
	"fmt"
	"reflect"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// newSecrets knows every credential of the run. A replay has loaded none, and
// takes none: its rows depend on suite and cassettes alone. What stands in the
// suite's worlds is known to both.
func (o Options) newSecrets() *recorder.Secrets {
	s := o.Secrets
	if s == nil || o.Mode == recorder.Replay {
		s = recorder.NewSecrets()
	}
	for _, t := range o.Suite.Tasks {
		for _, name := range sortedKeys(t.World.Env) {
			s.Add(t.World.Env[name])
		}
	}
	return s
}

// taint adds the credentials an episode is run with, and refuses names that hold
// one: they become paths and columns.
func (r *runner) taint(p planned) error {
	r.secrets.Add(p.key)
	if r.Mode != recorder.Replay {
		_, found, err := r.toolHeaders(p.task)
		if err != nil {
			return err
		}
		r.secrets.Add(found...)
	}
	for _, f := range []struct{ what, name string }{
		{"the suite's name", p.suite.Name}, {"the id of a task", p.task.ID}, {"the name of a candidate", p.candidate.Name},
		{"the model of a candidate", p.candidate.Model}, {"the rescue model of a candidate", p.candidate.Rescue},
		{"the base_url of a candidate", p.candidate.BaseURL},
	} {
		if kind := r.secrets.Find(f.name); kind != "" {
			return &ConfigError{fmt.Errorf("%s holds %s: it would be written everywhere; name it otherwise", f.what, kind)}
		}
	}
	return nil
}

// cleanRows replaces credentials in every text of an episode's rows.
func cleanRows(s *recorder.Secrets, rows ledger.EpisodeRows) ledger.EpisodeRows {
	newCleaner(s).record(reflect.ValueOf(&rows).Elem())
	return rows
}

// CleanRun replaces what looks like a credential in a run that was read from
// disk: another program may have written it. It changes rows and manifest in
// place.
func CleanRun(m *ledger.Manifest, rows *ledger.Rows) {
	clean := newCleaner(nil)
	clean.record(reflect.ValueOf(m).Elem())
	clean.record(reflect.ValueOf(rows).Elem())
}

func (r *runner) cleanManifest(m ledger.Manifest) ledger.Manifest {
	m.Candidates = append([]ledger.ManifestCandidate(nil), m.Candidates...)
	m.Tasks = append([]ledger.ManifestTask(nil), m.Tasks...)
	for i := range m.Tasks {
		m.Tasks[i].Tags = append([]string(nil), m.Tasks[i].Tags...) // the suite's own
	}
	newCleaner(r.secrets).record(reflect.ValueOf(&m).Elem())
	return m
}

// taintAll does so for the whole plan before anything starts: one episode may
// meet the credentials of another.
func (r *runner) taintAll() error {
	for _, p := range r.plan {
		if err := r.taint(p); err != nil {
			return err
		}
	}
	return nil
}
