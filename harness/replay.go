package harness

import (
	"context"
	"fmt"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// Replay runs the one episode of the plan with this trial again, from its
// cassette, and returns its rows and what happened. It writes nothing.
func Replay(ctx context.Context, o Options, trial int) (ledger.EpisodeRows, []Trace, error) {
	o.Mode, o.Runs = recorder.Replay, ""
	r, err := newRunner(o)
	if err != nil {
		return ledger.EpisodeRows{}, nil, err
	}
	defer r.closeCassettes()
	r.plan.keep(func(p planned) bool { return p.trial == trial })
	if r.plan.len() != 1 {
		return ledger.EpisodeRows{}, nil, &ConfigError{fmt.Errorf("replay takes one episode, the selection has %d", r.plan.len())}
	}
	if _, err := r.cassettesDigest(); err != nil {
		return ledger.EpisodeRows{}, nil, err
	}
	var traces []Trace
	rows := r.runEpisode(ctx, r.plan.at(0), func(t Trace) { traces = append(traces, t) })
	return rows, traces, nil
}
