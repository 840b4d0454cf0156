package harness

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/recorder"
)

// store keeps the finished episodes of a run, in whatever order they come, until
// the ledger is written: in the journal of the run folder, or in memory for a run
// without one.
type store struct {
	dir      string // empty without a folder
	plan     *plan
	manifest manifest.Manifest // as the run begins
	again    bool              // the folder has an equal run that has ended
	finished bool              // and that is complete
	unlock   func()
	journal  *ledger.Journal
	spending *admission.SpendLog
	limits   *os.File
	stream   *stream // of a replay with a folder

	mu sync.Mutex
	at []int64               // by place in the plan: where in the journal; none is -1
	in []*ledger.EpisodeRows // the same, in memory
	// todo says which episodes are still to be run: those without a row, and those
	// whose row of an earlier session says nothing about the model.
	todo []bool
	// excluded are the episodes whose row says nothing about the model.
	excluded []bool
}

// The files of a run folder that are there until it is complete.
const (
	planFile     = "journal/plan"
	settingsFile = "journal/settings"
	spendFile    = "journal/spend.log"
	limitsFile   = "limits.jsonl"
)

// openStore makes the run folder, or takes up that of an interrupted run.
func openStore(r *runner) (s *store, err error) {
	s = &store{plan: r.plan, manifest: r.manifest(), unlock: func() {}, todo: slices.Repeat([]bool{true}, r.plan.len()), excluded: make([]bool, r.plan.len())}
	if r.Runs == "" {
		s.in = make([]*ledger.EpisodeRows, r.plan.len())
		r.control = newControl(r, s)
		return s, nil
	}
	s.dir = filepath.Join(r.Runs, r.id)
	s.at = slices.Repeat([]int64{-1}, r.plan.len())
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if r.resumed != nil {
		was := s.manifest
		s.manifest = r.resumed.manifest
		if r.Decide != nil { // the finished rounds are decided again
			s.manifest.Candidates, s.manifest.Trials, s.manifest.Decide = was.Candidates, was.Trials, was.Decide
		}
		if r.Settings != nil {
			if err := writeSettings(r, s.dir); err != nil {
				return s, err
			}
		}
	} else if err := beginFolder(r, s); err != nil {
		return s, err
	}
	if s.journal, err = ledger.OpenJournal(s.dir, s.visit); err != nil {
		return s, err
	}
	// What was paid or waited for must survive a crash.
	s.journal.Sync = r.Mode != recorder.Replay || r.ReplaySpeed > 0
	if r.Mode == recorder.Replay {
		k, err := newSink(s.dir)
		s.stream = &stream{sink: k, waiting: map[int]ledger.EpisodeRows{}}
		return s, err
	}
	if err := loadAnswers(r, s); err != nil {
		return s, err
	}
	if err := s.openSpending(); err != nil {
		return s, err
	}
	if err := discardJournals(r, s); err != nil {
		return s, err
	}
	s.limits, err = regular.OpenFile(filepath.Join(s.dir, limitsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	r.control = newControl(r, s)
	return s, err
}

// openSpending opens the spend log. What it lost of the spending on episodes that
// have rows is added from these.
func (s *store) openSpending() (err error) {
	if s.spending, err = admission.OpenSpendLog(filepath.Join(s.dir, spendFile)); err != nil {
		return err
	}
	paid := map[string]admission.Spend{}
	for i := range s.at {
		rows, ok, err := s.get(i)
		if err != nil {
			return err
		}
		if name := rows.Episode.Provider; ok && name != episode.ScriptedCandidate {
			paid[name] = paid[name].Plus(spendOf(rows))
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(paid)) {
		if err := s.spending.AtLeast(provider, paid[provider]); err != nil {
			return err
		}
	}
	return nil
}

// spendOf is what the requests of an episode came to as far as its rows say.
func spendOf(rows ledger.EpisodeRows) (s admission.Spend) {
	for i := range rows.Turns {
		t := &rows.Turns[i]
		if t.Replayed || t.RequestDigest == "" { // of a fork's past, or never sent
			continue
		}
		s.Requests += int64(t.Attempts)
		for _, n := range []*int64{t.In, t.Out, t.CacheRead, t.CacheWrite, t.Reasoning} {
			if n != nil {
				s.Tokens += *n
			}
		}
		if t.CostNanoUSD != nil {
			s.CostNanoUSD += *t.CostNanoUSD
		}
	}
	return s
}

// beginFolder makes the folder of a new run. It replaces the journal of an identical
// earlier replay. What that made of a run that has ended stays for its readers until
// the new run has ended, too.
func beginFolder(r *runner, s *store) error {
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return fmt.Errorf("make run folder %s: %w", s.dir, err)
	}
	unlock, err := ledger.Lock(s.dir)
	if err != nil {
		return err
	}
	s.unlock = unlock
	was, err := manifest.Read(s.dir)
	s.again = err == nil && was.Status != "running"
	s.finished = err == nil && was.Status == "complete"
	if err := os.MkdirAll(filepath.Join(s.dir, "journal"), 0o777); err != nil {
		return fmt.Errorf("make journal: %w", err)
	}
	// The plan is replaced, and never missing: the earlier run can be resumed until then.
	if err := writePlan(r, s.dir); err != nil {
		return err
	}
	if err := ledger.ClearJournal(s.dir); err != nil {
		return fmt.Errorf("clear journal of the earlier replay: %w", err)
	}
	if s.again {
		return nil
	}
	// The manifest goes first and comes last: a folder with one can be resumed.
	return manifest.Write(s.dir, s.manifest)
}

// visit takes up an episode of the journal. A later one replaces an earlier.
func (s *store) visit(rec ledger.EpisodeRows, at int64) error {
	e := &rec.Episode
	i, ok := s.plan.find(e.TaskID, e.Candidate, int(e.Trial))
	if !ok {
		return fmt.Errorf("the journal has episode %s, the plan has not", drive.EpisodeName(e.TaskID, e.Candidate, int(e.Trial)))
	}
	again := e.Excluded() != ""
	s.at[i], s.todo[i], s.excluded[i] = at, again, again
	return nil
}

// put keeps a finished episode. It is safe for concurrent use.
func (s *store) put(i int, rows ledger.EpisodeRows) error {
	s.excluded[i] = rows.Episode.Excluded() != "" // each place has one writer
	if s.dir == "" {
		s.in[i], s.todo[i] = &rows, false
		return nil
	}
	// What an episode cost is on disk before the episode is.
	if s.spending != nil {
		if err := s.spending.Sync(); err != nil {
			return err
		}
	}
	at, err := s.journal.Append(rows)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.at[i], s.todo[i] = at, false
	s.mu.Unlock()
	if s.stream != nil {
		s.stream.ended(s, i, rows)
	}
	return nil
}

// settled says that an episode will not be run any more.
func (s *store) settled(i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.todo[i]
}

// get returns the rows of an episode; false when it has none.
func (s *store) get(i int) (ledger.EpisodeRows, bool, error) {
	switch {
	case s.dir == "" && s.in[i] == nil, s.dir != "" && s.at[i] < 0:
		return ledger.EpisodeRows{}, false, nil
	case s.dir == "":
		return *s.in[i], true, nil
	}
	rows, err := s.journal.ReadAt(s.at[i])
	return rows, err == nil, err
}

// write writes the ledger, every episode that has rows, in ledger order, but for
// those the stream has written, and the manifest that conclude makes.
func (s *store) write(res *Result, conclude func(manifest.Totals, manifest.Outcomes) (manifest.Manifest, error)) (m manifest.Manifest, err error) {
	w := s.stream
	if w == nil {
		k, err := newSink(s.dir)
		if err != nil {
			return m, err
		}
		w = &stream{sink: k}
		s.stream = w
	}
	for w.next < s.plan.len() && w.err == nil {
		w.err = w.one(s)
	}
	if w.err != nil {
		return m, w.err
	}
	res.Excluded, res.Rows, res.NotUnderstood = w.excluded, w.rows, w.notUnderstood()
	return w.close(func(t manifest.Totals) (manifest.Manifest, error) { return conclude(t, w.outcomes) })
}

// hint says what is safe when the run folder fails, and how to go on.
func (s *store) hint() string {
	return "what is finished is in its journal; once that is fixed, resume with: cupel run --resume " + s.dir
}

// close closes the files and lets other processes at the folder. What was appended
// is in them.
func (s *store) close() error {
	err := s.closeFiles()
	if s.stream != nil && s.stream.writer != nil {
		s.stream.writer.Abort() // no more than its temporary files, if it was closed
	}
	s.unlock()
	s.unlock = func() {}
	return err
}

func (s *store) closeFiles() error {
	var errs []error
	if s.journal != nil {
		errs = append(errs, s.journal.Close())
	}
	if s.spending != nil {
		errs = append(errs, s.spending.Close())
	}
	if s.limits != nil {
		errs = append(errs, s.limits.Close())
	}
	s.journal, s.spending, s.limits = nil, nil, nil
	return errors.Join(errs...)
}

// removeJournal removes what only an unfinished run needs.
func (s *store) removeJournal() error {
	return errors.Join(s.closeFiles(), ledger.RemoveJournal(s.dir))
}
