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

// store collects the finished episodes of a run in any order until the ledger is written:
// in the journal of the run folder, or in memory for a run without one.
type store struct {
	dir      string // empty without a folder
	plan     *plan
	manifest manifest.Manifest // at the start of the run
	again    bool              // the folder has an equal run that has ended
	finished bool              // and that run is complete
	unlock   func()
	journal  *ledger.Journal
	spending *admission.SpendLog
	limits   *os.File
	leave    func() error // gives back what Sharing leased; nil without it
	stream   *stream      // of a replay with a folder

	mu sync.Mutex
	at []int64               // by place in the plan: the offset in the journal; -1 if the episode has no rows
	in []*ledger.EpisodeRows // the rows by place, if there is no folder
	// todo marks the episodes that are still to be run: those without a row, and those whose
	// row from an earlier session is excluded.
	todo []bool
	// excluded marks the episodes whose row is not a result.
	excluded []bool
	past     Progress // counts the episodes of earlier processes that are not run again
}

// These files are in a run folder until the run is complete.
const (
	planFile     = "journal/plan"
	settingsFile = "journal/settings"
	spendFile    = "journal/spend.log"
	limitsFile   = "limits.jsonl"
)

// openStore creates the run folder or opens that of an interrupted run.
func openStore(r *runner) (s *store, err error) {
	s = &store{plan: r.plan, manifest: r.manifest(), unlock: func() {}, todo: slices.Repeat([]bool{true}, r.plan.len()), excluded: make([]bool, r.plan.len())}
	if r.Runs == "" {
		s.in = make([]*ledger.EpisodeRows, r.plan.len())
		return s, newControl(r, s)
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
	// Results that were paid or waited for must survive a crash.
	s.journal.Sync = r.Mode != recorder.Replay || r.ReplaySpeed > 0
	if r.Mode == recorder.Replay {
		if err := loadDays(r, s); err != nil {
			return s, err
		}
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
	if s.limits, err = regular.OpenFile(filepath.Join(s.dir, limitsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err != nil {
		return s, err
	}
	return s, newControl(r, s)
}

// openSpending opens the spend log. If the log lacks spending of episodes that have rows,
// openSpending adds it from the rows.
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

// spendOf is the spending of an episode according to its rows.
func spendOf(rows ledger.EpisodeRows) (s admission.Spend) {
	for i := range rows.Turns {
		t := &rows.Turns[i]
		if t.Replayed || t.RequestDigest == "" { // from a fork's past, or never sent
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

// beginFolder creates the folder of a new run. It replaces the journal of an identical
// earlier replay. The results of an ended run stay available to readers until the new run
// has ended, too.
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
	// The plan is replaced, never removed: until then the earlier run can be resumed.
	if err := writePlan(r, s.dir); err != nil {
		return err
	}
	if err := ledger.ClearJournal(s.dir); err != nil {
		return fmt.Errorf("clear journal of the earlier replay: %w", err)
	}
	if s.again {
		return nil
	}
	// The manifest is written last, because a folder with one can be
	// resumed.
	return manifest.Write(s.dir, s.manifest)
}

// visit adds an episode of the journal; a later record replaces an earlier one.
func (s *store) visit(rec ledger.EpisodeRows, at int64) error {
	e := &rec.Episode
	i, ok := s.plan.find(e.TaskID, e.Candidate, int(e.Trial))
	if !ok {
		return fmt.Errorf("the journal contains episode %s, which is not in the plan", drive.EpisodeName(e.TaskID, e.Candidate, int(e.Trial)))
	}
	again := e.Excluded() != ""
	if s.todo[i] && !again {
		s.past.add(rec)
	}
	s.at[i], s.todo[i], s.excluded[i] = at, again, again
	return nil
}

// put stores a finished episode. It is safe for concurrent use.
func (s *store) put(i int, rows ledger.EpisodeRows) error {
	s.excluded[i] = rows.Episode.Excluded() != "" // each place has one writer
	if s.dir == "" {
		s.in[i], s.todo[i] = &rows, false
		return nil
	}
	// The cost of an episode must be on disk before the episode is.
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

// settled reports whether an episode will not be run again.
func (s *store) settled(i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.todo[i]
}

// get returns the rows of an episode; false if it has none.
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

// write writes every episode with rows that the stream has not written, in ledger order,
// then the manifest that conclude returns.
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

// hint returns which data is safe when the run folder fails, and how to resume.
func (s *store) hint() string {
	return "finished episodes are in the journal; after fixing the problem, resume with: cupel run --resume " + s.dir
}

// close closes the files and unlocks the folder. Everything appended so far stays in them.
func (s *store) close() error {
	err := s.closeFiles()
	if s.stream != nil && s.stream.writer != nil {
		s.stream.writer.Abort() // removes only its temporary files if it was closed
	}
	s.unlock()
	s.unlock = func() {}
	return err
}

func (s *store) closeFiles() error {
	var errs []error
	if s.leave != nil { // while the log of its spending is open
		errs = append(errs, s.leave())
	}
	if s.journal != nil {
		errs = append(errs, s.journal.Close())
	}
	if s.spending != nil {
		errs = append(errs, s.spending.Close())
	}
	if s.limits != nil {
		errs = append(errs, s.limits.Close())
	}
	s.journal, s.spending, s.limits, s.leave = nil, nil, nil, nil
	return errors.Join(errs...)
}

// removeJournal removes the files that only an unfinished run needs.
func (s *store) removeJournal() error {
	return errors.Join(s.closeFiles(), ledger.RemoveJournal(s.dir))
}
