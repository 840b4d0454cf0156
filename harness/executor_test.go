package harness_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
)

// crew executes units with a Worker of its own: in another order, some twice, and some only after a
// first attempt was cancelled.
type crew struct {
	t       *testing.T
	o       harness.Options
	abandon string // the episode that is abandoned
	left    int    // units that are not executed
	log     fleet.Log
}

func (c *crew) Execute(ctx context.Context, w fleet.Work) error {
	worker, err := harness.NewWorker(c.o, w.Manifest)
	require.NoError(c.t, err)
	defer func() { require.NoError(c.t, worker.Close()) }()
	var units []fleet.Unit
	for u, err := range w.Units {
		require.NoError(c.t, err)
		units = append(units, u)
	}
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	var wg sync.WaitGroup
	for lane := range 4 {
		wg.Go(func() {
			for i := lane; i < len(units)-c.left; i += 4 {
				u := units[i]
				if i%7 == 0 {
					_, err := worker.Run(cancelled, u, c.log, nil)
					require.ErrorIs(c.t, err, fleet.ErrCancelled)
				}
				for range 1 + i%5/4 { // every fifth twice
					res, err := worker.Run(ctx, u, c.log, nil)
					if u.Episodes[0] == c.abandon {
						res, err = worker.Abandon(ctx, u, errors.New("3 workers were lost"))
					}
					require.NoError(c.t, err)
					require.NoError(c.t, w.Ended(res))
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// A run whose episodes are executed elsewhere has the bytes of one that executes them itself.
func TestExecutorGivesTheSameBytes(t *testing.T) {
	o := countsOptions(t)
	o.Select.Candidates = []string{"strong", "weak"}
	o.Runs = t.TempDir()
	whole, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	far := o
	far.Runs, far.Executor = t.TempDir(), &crew{t: t, o: o}
	res, err := harness.Run(context.Background(), far)
	require.NoError(t, err)
	require.Equal(t, whole.Manifest, res.Manifest)
	require.Equal(t, runFiles(t, whole.Dir), runFiles(t, res.Dir))
	require.Equal(t, whole.Excluded, res.Excluded)
}

// Sessions are one unit. A run that was interrupted within one, or lost its workers, is resumed with
// the rows that it has.
func TestExecutorResumesSessions(t *testing.T) {
	o := talkOptions(t, &echoModel{})
	runTalk(t, o)
	o.Mode, o.Runs = recorder.Replay, t.TempDir()
	want := runFiles(t, runTalk(t, o).Dir)
	for _, n := range []int{2, 9, 20} {
		o.Runs, o.Executor, o.Resume = t.TempDir(), nil, ""
		o.Resume = stopAfter(t, o, n).Manifest.RunID
		far := o
		far.Executor = &crew{t: t, o: o, left: 5}
		res := runTalk(t, far)
		require.Equal(t, "partial", res.Manifest.Status)
		far.Executor = &crew{t: t, o: o}
		res = runTalk(t, far)
		for name, got := range runFiles(t, res.Dir) {
			require.True(t, want[name] == got, "%s differs after an interruption at %d", name, n)
		}
	}
}

// An episode that is abandoned is a harness error with the reason, and all others are as they were.
func TestAbandonedEpisode(t *testing.T) {
	o := countsOptions(t)
	o.Select.Candidates = []string{"strong"}
	o.Runs = t.TempDir()
	o.Executor = &crew{t: t, o: o, abandon: "G01/strong/1"}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, 1, res.Manifest.Outcomes.WithoutResult())
	lost := res.Excluded.First[0]
	require.Equal(t, []string{"G01", "harness_error", "3 workers were lost"}, []string{lost.TaskID, lost.Status, lost.ErrorText})
}

// A worker with another suite, build, price table or cassette executes nothing, and says why.
func TestWorkerRefuses(t *testing.T) {
	o := countsOptions(t)
	o.Select.Candidates = []string{"strong"}
	plan, err := harness.NewPlan(o)
	require.NoError(t, err)
	m := plan.Manifest()
	plan.Close()
	m.SuiteDigest, m.CodeVersion, m.PriceDigest = "other", "1", "none"
	_, err = harness.NewWorker(o, m)
	var config *harness.ConfigError
	require.ErrorAs(t, err, &config)
	for _, part := range []string{"start the worker again", "the suite changed", "cupel itself changed", "the price table changed"} {
		require.ErrorContains(t, err, part)
	}

	plan, err = harness.NewPlan(o)
	require.NoError(t, err)
	worker, err := harness.NewWorker(o, plan.Manifest())
	plan.Close()
	require.NoError(t, err)
	defer func() { require.NoError(t, worker.Close()) }()
	_, err = worker.Run(context.Background(), fleet.Unit{Episodes: []string{"G01/strong/1"}, Cassettes: []string{"1234"}}, nil, nil)
	require.ErrorContains(t, err, "strong/G01/1.yaml is not that of the run")
	for name, want := range map[string]string{"G01/nobody/1": "no such episode", "../x": "is not TASK/CANDIDATE/TRIAL", "G01/strong/2": "no such episode"} {
		_, err = worker.Run(context.Background(), fleet.Unit{Episodes: []string{name}}, nil, nil)
		require.ErrorContains(t, err, want, name)
	}
}

// A result of another plan ends the run, and nothing of it is stored.
func TestForeignResultIsRefused(t *testing.T) {
	o := countsOptions(t)
	o.Select.Candidates = []string{"strong"}
	o.Executor = executorFunc(func(_ context.Context, w fleet.Work) error {
		rows := ledger.EpisodeRows{}
		rows.Episode.TaskID, rows.Episode.Candidate, rows.Episode.Trial = "G99", "strong", 1
		return w.Ended(fleet.UnitResult{Rows: []ledger.EpisodeRows{rows}, Days: manifest.Days{First: "2020-01-01", Last: "2020-01-01"}})
	})
	_, err := harness.Run(context.Background(), o)
	require.ErrorContains(t, err, "G99/strong/1, which is not in the plan")
}

type executorFunc func(context.Context, fleet.Work) error

func (f executorFunc) Execute(ctx context.Context, w fleet.Work) error { return f(ctx, w) }
