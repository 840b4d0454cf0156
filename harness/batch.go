package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/batching"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/providers/batch"
	"github.com/cupel-eval/cupel/recorder"
)

// batchesFile has the notes of batches in a run folder until the run is complete.
const batchesFile = "journal/batches"

// openEpisodes is the default number of open episodes of a run with Batch: each waits for a batch
// most of the time, and takes memory.
const openEpisodes = 2_000

// checkBatch rejects settings that have no meaning together with Batch.
func checkBatch(o Options) error {
	switch {
	case o.Batch == nil:
		return nil
	case o.Mode == recorder.Replay || o.Mode == "":
		return errors.New("batch: a replay sends no requests; use mode record or live, or leave batch out")
	case o.Human != nil:
		return errors.New("batch: a batch takes minutes to hours, too long for a person at a terminal; leave human or batch out")
	}
	return nil
}

// checkBatched rejects a candidate whose requests cannot be batched.
func checkBatched(o Options, c goldens.Candidate) error {
	switch {
	case o.Batch == nil || c.Provider == episode.ScriptedCandidate:
		return nil
	case c.Agent == strategy.External:
		return fmt.Errorf("candidate %s: an external agent waits for each reply by itself, so its requests cannot be batched; leave batch out", c.Name)
	case !batch.Has(c.Provider):
		return fmt.Errorf("candidate %s: provider %s has no batch API that cupel knows; those that have: %s; leave the candidate or batch out", c.Name, c.Provider, strings.Join(batch.Providers(), ", "))
	case c.Stream:
		return fmt.Errorf("candidate %s: batches cannot be streamed; remove stream from the candidate, or leave batch out", c.Name)
	}
	return nil
}

// newBatches returns what collects the requests of a run with Batch; nil without.
func newBatches(r *runner, s *store) (*batching.Collector, error) {
	if r.Batch == nil {
		return nil, nil
	}
	o := batching.Options{
		Settings: *r.Batch, Run: r.id, Now: r.Now,
		Transport: func(provider string) http.RoundTripper {
			if r.Transport == nil {
				return http.DefaultTransport
			}
			return r.Transport(provider)
		},
	}
	if s.dir != "" {
		o.Notes = filepath.Join(s.dir, batchesFile)
	}
	return batching.New(o)
}

// batchedLimits are the limits of providers in a run with Batch: batches have no rate, and all
// requests of the open episodes are in them.
func batchedLimits(o *Options) map[string]admission.Limits {
	if o.Batch == nil {
		return o.Limits
	}
	limits := map[string]admission.Limits{}
	for name := range o.Providers {
		limits[name] = o.Limits[name]
		if batch.Has(name) {
			limits[name] = admission.Limits{Batched: true, Caps: o.Limits[name].Caps}
		}
	}
	return limits
}

// batchEpisodes is the number of open episodes of a lane in a run with Batch.
func batchEpisodes(o *Options) int { return cmp.Or(o.Concurrency, openEpisodes) }

// runBatched is runAll, with what collects the requests of a run with Batch. waiting says which
// batches continue at their providers.
func runBatched(r *runner, ctx context.Context, s *store) (stop stopped, waiting []string, err error) {
	if r.batches, err = newBatches(r, s); err != nil {
		return stop, nil, err
	}
	stop, err = runAll(r, ctx, s)
	return stop, waitingLines(r.batches), errors.Join(err, r.batches.Close())
}

// waitingLines say which batches go on after a run that was interrupted.
func waitingLines(b *batching.Collector) (lines []string) {
	for _, w := range b.State() {
		if w.Batch != "" {
			lines = append(lines, fmt.Sprintf("batch %s of %s continues with %d requests, which are paid for; resuming the run collects the replies", w.Batch, w.Provider, w.Requests))
		}
	}
	return lines
}
