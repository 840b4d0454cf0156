package compare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/failure"
)

// record is what is kept of an episode, about 150 bytes and 8 for each turn.
type record struct {
	id string
	// cost and tokens are of the whole episode, latency the sum over judged turns, µs.
	cost, tokens, latency int64
	elapsed               int64 // µs
	calls                 int32
	// cassette is a hash of its cassette, 0 without one.
	cassette uint64
	// from and to are its decisions among those of its book.
	from, to int
	ended    uint32 // a word: how it ended
	// run is the place of the baseline run; 0 for an episode of the new run.
	run                                    int32
	trial, steps, clarifies, judged, valid int32
	kind                                   int8 // of its failure: place in failure.Kinds, −1 for none
	why                                    excludeReason
	// stepped and asked say that its steps and its clarifying questions count.
	solved, stepped, asked, priced, counted, thrash, stall bool
	// untimed and turnsUntimed say that elapsed and latency are unknown.
	untimed, turnsUntimed bool
	// changing says that its world can change, harm that a change did harm.
	changing, harm bool
	// scores are what programs and judges gave, without attack.
	scores []scoreOf
	// attacked says that an injection made its task, decided that it is known whether the
	// attack succeeded, fell that it did.
	attacked, decided, fell bool
}

// excludeReason says whether an episode has a result.
type excludeReason int8

const (
	scored excludeReason = iota
	// lost to something outside the model.
	lost
	// cut short by the run's end or a cap.
	cut
)

// candidateEpisodes holds the episodes of one candidate on one side, by task.
type candidateEpisodes struct {
	tasks     []taskEpisodes
	index     map[string]int
	decisions []decision
}

// taskEpisodes holds the episodes of one task, by trial.
type taskEpisodes struct {
	id      string
	records []record
}

// side is what is kept of the episodes of one run: those of candidates compared.
type side struct {
	manifest manifest.Manifest
	// run is its place among the baseline runs.
	run        int32
	candidates map[string]*candidateEpisodes
	checks     map[string]string // the names of scores, each once
	words      stringTable
}

func newSide(m manifest.Manifest) *side {
	return &side{manifest: m, candidates: map[string]*candidateEpisodes{}, checks: map[string]string{}, words: newStringTable()}
}

// open makes room for a candidate's episodes.
func (s *side) open(candidate string) {
	if s.candidates[candidate] == nil {
		s.candidates[candidate] = &candidateEpisodes{index: map[string]int{}}
	}
}

func (s *side) add(rows ledger.EpisodeRows, kindOf kindOf) {
	b := s.candidates[rows.Episode.Candidate]
	if b == nil {
		return
	}
	r := s.record(&rows, kindOf)
	r.from = len(b.decisions)
	next := 0
	for i := range rows.Turns {
		var d decision
		d, next = decided(&s.words, &rows.Turns[i], rows.ToolCalls, next)
		b.decisions = append(b.decisions, d)
	}
	r.to = len(b.decisions)
	t := b.ofTask(rows.Episode.TaskID, s.manifest.Trials)
	t.records = append(t.records, r)
}

// ofTask returns the entry of a task, and adds one with the given capacity if there is none.
func (b *candidateEpisodes) ofTask(task string, room int) *taskEpisodes {
	if last := len(b.tasks) - 1; last >= 0 && b.tasks[last].id == task {
		return &b.tasks[last]
	}
	i, known := b.index[task]
	if !known {
		i, task = len(b.tasks), strings.Clone(task)
		b.index[task] = i
		b.tasks = append(b.tasks, taskEpisodes{id: task, records: make([]record, 0, min(max(room, 1), 64))})
	}
	return &b.tasks[i]
}

// episodes is how many the book holds.
func (b *candidateEpisodes) episodes() (n int) {
	for i := range b.tasks {
		n += len(b.tasks[i].records)
	}
	return n
}

// sorted are the episodes of a task, by trial; of several of one trial the first.
func (b *candidateEpisodes) sorted(task string) []record {
	i, ok := b.index[task]
	if !ok {
		return nil
	}
	list := b.tasks[i].records
	slices.SortStableFunc(list, func(p, q record) int { return cmp.Compare(p.trial, q.trial) })
	list = slices.CompactFunc(list, func(p, q record) bool { return p.trial == q.trial })
	b.tasks[i].records = list
	return list
}

// record boils an episode down to numbers.
func (s *side) record(rows *ledger.EpisodeRows, kindOf kindOf) record {
	e, a := &rows.Episode, AttemptOf(rows)
	r := a.record()
	r.id, r.run, r.trial, r.clarifies, r.kind = strings.Clone(e.EpisodeID), s.run, e.Trial, e.Clarifies, -1
	r.asked, r.thrash, r.stall = e.CountsClarifies(), e.ThrashEvents > 0, e.StallEvents > 0
	r.attacked, r.decided, r.fell = e.Injection != "", e.AttackSucceeded != nil, e.AttackSucceeded != nil && *e.AttackSucceeded
	why := e.Excluded()
	switch {
	case ledger.Lost(why):
		r.why = lost
	case why != "":
		r.why = cut
	}
	r.ended = s.words.number(ended(e, why))
	if !r.solved && r.why != cut {
		if kind, ok := kindOf(*rows); ok {
			r.kind = int8(slices.Index(failure.Kinds(), kind))
		}
	}
	if e.CassetteDigest != "" {
		r.cassette = mix(offset, e.CassetteDigest)
	}
	r.scores = s.scores(e)
	return r
}

// ended says how an episode ended: its outcome and its status.
func ended(e *ledger.Episode, why string) (outcome, how string) {
	how = e.Status
	if e.StopReason != "" {
		how += ": " + e.StopReason
	}
	switch {
	case why != "":
		return "no result:", why
	case e.Solved:
		return "solved:", how
	}
	return "failed:", how
}
