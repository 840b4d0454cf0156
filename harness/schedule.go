package harness

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// stopped is the reason why a run ended before its plan did.
type stopped struct {
	interrupted bool
	why         string
}

// queue is the units of one lane, a provider and a key, in starting order. A unit is an
// episode or, for a session, its first episode in ledger order.
type queue struct {
	provider string
	most     int // units in progress at a time
	total    int
	places   []int32 // of units that have not started
	running  int
}

// before reports whether a lane takes precedence: it has fewer units in progress or, if
// equal, a smaller share of its work started. So lanes end at about the same time, and a
// waiting lane does not take more than its share from the others.
func (q *queue) before(other *queue) bool {
	begun := func(q *queue) float64 { return float64(q.total-len(q.places)) / float64(q.total) }
	return cmp.Or(cmp.Compare(q.running, other.running), cmp.Compare(begun(q), begun(other))) < 0
}

// schedule distributes the units of all lanes to workers. It is safe for concurrent use.
type schedule struct {
	workers int // units in progress at a time, of all lanes

	mu     sync.Mutex
	queues []*queue
	left   bool // a unit was started but not finished
}

// next removes the first unit of the lane with precedence; ok is false if no unit may
// start.
func (s *schedule) next(over func(*queue) bool) (q *queue, place int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.queues {
		if over(other) { // also for an empty lane, because over records why episodes have no result
			continue
		}
		if len(other.places) > 0 && other.running < other.most && (q == nil || other.before(q)) {
			q = other
		}
	}
	if q == nil {
		return nil, 0, false
	}
	place = int(q.places[0])
	q.places = q.places[1:]
	q.running++
	return q, place, true
}

// ended marks a unit as run; more is set if it was not run to its end.
func (s *schedule) ended(q *queue, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.running--
	s.left = s.left || more
}

// runAll runs the remaining episodes of the plan. An error of the run folder abandons the
// episodes in flight.
func runAll(r *runner, ctx context.Context, s *store) (stopped, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b := newRunState(r, s)
	unwatch := b.watch()
	defer unwatch()
	if r.Decide != nil {
		return runRounds(r, ctx, cancel, b)
	}
	return b.stopped(ctx, runQueues(r, ctx, cancel, b, s.todo)), b.failed
}

// runQueues runs the remaining episodes with bounded concurrency. It reports whether some
// were left.
func runQueues(r *runner, ctx context.Context, cancel context.CancelCauseFunc, b *runState, todo []bool) (left bool) {
	if r.Executor != nil {
		left, err := elsewhere(r, ctx, b, todo)
		b.fail(err)
		return left
	}
	var wg sync.WaitGroup
	s := newSchedule(r, todo)
	over := func(q *queue) bool { return b.over(ctx, q) }
	for range s.workers {
		wg.Go(func() {
			for {
				q, i, ok := s.next(over)
				if !ok {
					return
				}
				more, err := runSession(r, ctx, b, q, i)
				if err != nil {
					cancel(err)
				}
				s.ended(q, more)
			}
		})
	}
	wg.Wait()
	for _, q := range s.queues {
		s.left = s.left || len(q.places) > 0
	}
	return s.left
}

// newSchedule bounds the units in progress by Concurrency over all lanes; without it each
// lane has its own bound.
func newSchedule(r *runner, todo []bool) *schedule {
	s := &schedule{queues: queuesOf(r, todo)}
	for _, q := range s.queues {
		q.total, q.most = len(q.places), len(q.places)
		if r.Concurrency == 0 {
			q.most = min(q.most, laneEpisodes(&r.Options, q.provider))
		}
		s.workers += q.most
	}
	if r.Concurrency > 0 {
		s.workers = min(s.workers, r.Concurrency)
	}
	return s
}

// queuesOf returns the lanes' episodes. A replay has one queue, in ledger order. Otherwise
// candidates alternate, each with its tasks in an order derived from the run's seed, so
// that a change at the provider during the run affects all candidates and tasks equally. In
// a resumed recording, episodes with a journal come first, because their replies settle the
// reservations of the killed process.
func queuesOf(r *runner, todo []bool) []*queue {
	if r.Mode == recorder.Replay {
		q := &queue{}
		for i, is := range todo {
			if is && r.plan.isFirstToRun(int32(i), todo) {
				q.places = append(q.places, int32(i))
			}
		}
		return []*queue{q}
	}
	type turn struct {
		place, rank int32
		order       int64
		unfinished  bool
	}
	resumed := r.resumed != nil && r.Mode == recorder.Record
	lanes := map[string][]turn{}
	for c := range r.plan.candidates {
		var turns []turn
		for i, cell := range r.plan.cells {
			if todo[i] && int(cell.Candidate) == c && r.plan.isFirstToRun(int32(i), todo) {
				turns = append(turns, turn{place: int32(i), order: r.plan.seed(cell).Int64(), unfinished: resumed && hasJournal(r, int32(i))})
			}
		}
		slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.order, b.order) })
		for i := range turns {
			turns[i].rank = int32(i)
		}
		name := drive.LaneName(r.plan.candidates[c].Candidate, r.plan.candidates[c].key)
		lanes[name] = append(lanes[name], turns...)
	}
	var queues []*queue
	for _, name := range drive.SortedKeys(lanes) {
		turns := lanes[name]
		// The sort is stable, so within a round candidates keep their configured order.
		slices.SortStableFunc(turns, func(a, b turn) int {
			return cmp.Or(drive.Count(b.unfinished)-drive.Count(a.unfinished), cmp.Compare(a.rank, b.rank))
		})
		q := &queue{}
		for _, t := range turns {
			q.places = append(q.places, t.place)
		}
		if len(turns) > 0 {
			q.provider = r.plan.candidates[r.plan.cells[turns[0].place].Candidate].Provider
			queues = append(queues, q)
		}
	}
	return queues
}

// DefaultConcurrency is the default number of episodes in progress per lane, and of
// requests in flight.
const DefaultConcurrency = 8

// laneEpisodes is the number of episodes in progress per lane if Concurrency is not set.
func laneEpisodes(o *Options, provider string) int {
	if o.Mode == recorder.Replay {
		return runtime.GOMAXPROCS(0)
	}
	if o.Batch != nil {
		return batchEpisodes(o)
	}
	return cmp.Or(o.Limits[provider].Concurrency, o.LaneConcurrency, DefaultConcurrency)
}

// runState counts finished episodes. It is safe for concurrent use.
type runState struct {
	r *runner
	s *store

	mu       sync.Mutex
	progress Progress
	failed   error // of the run folder
	capped   error
	cut      bool // an episode was cancelled

	unit sync.Mutex // held while a unit that ended elsewhere is stored
}

func newRunState(r *runner, s *store) *runState {
	b := &runState{r: r, s: s, progress: s.past}
	b.progress.RunID, b.progress.Dir, b.progress.Total, b.progress.Resumed, b.progress.Last = r.id, s.dir, r.plan.len(), s.past.Done, ledger.Episode{}
	if r.Decide != nil {
		rounds := r.Decide.Rounds()
		_, first := r.upTo(s.manifest, 1)
		b.progress.Round, b.progress.Rounds, b.progress.Total = 1, len(rounds), max(first, b.progress.Resumed)
	}
	return b
}

// over reports whether a lane must not start further episodes.
func (b *runState) over(ctx context.Context, q *queue) bool {
	if ctx.Err() != nil {
		return true
	}
	select {
	case <-b.r.Drain:
		return true
	default:
	}
	if b.r.control == nil {
		return false
	}
	err := b.r.control.Capped(q.provider)
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.capped = cmp.Or(b.capped, err)
	}
	return err != nil
}

func (b *runState) began() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress.InFlight++
}

// ended stores an episode's rows. A cancelled episode has no result, so a later run repeats
// it.
func (b *runState) ended(i int, rows ledger.EpisodeRows) error {
	cancelled := rows.Episode.Status == ledger.StatusCancelled
	var err error
	if !cancelled {
		err = b.s.put(i, rows)
	}
	if err == nil && rows.Episode.Excluded() == "" {
		path, _ := b.r.plan.cassette(i)
		err = b.r.discardJournal(path)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress.InFlight--
	b.cut = b.cut || cancelled
	if err == nil && b.r.Human != nil && b.s.dir != "" {
		err = episode.SaveAnswers(b.s.dir, b.r.answers.Of(b.r.plan.len(), b.r.plan.name)) // so that a person need not repeat an answer
	}
	if err != nil {
		b.failed = cmp.Or(b.failed, err)
		return err
	}
	if !cancelled {
		b.progress.add(rows)
		if b.r.Progress != nil {
			b.r.Progress(b.state())
		}
	}
	return nil
}

// fail notes an error that ends the run.
func (b *runState) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = cmp.Or(b.failed, err)
}

// stopped returns why the run ended with episodes left in its queues or abandoned.
func (b *runState) stopped(ctx context.Context, left bool) stopped {
	s := stopped{}
	select {
	case <-b.r.Drain:
		s.interrupted = left || b.cut
	default:
	}
	s.interrupted = s.interrupted || ctx.Err() != nil && b.failed == nil
	switch {
	case s.interrupted:
		s.why = "interrupted"
	case b.capped != nil:
		s.why = b.capped.Error()
	}
	return s
}
