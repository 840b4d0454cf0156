package harness

import (
	"context"
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// Replay runs the one selected episode with this trial from its cassette and returns its
// rows and trace. It does not write.
func Replay(ctx context.Context, o Options, trial int) (ledger.EpisodeRows, []episode.Trace, error) {
	o.Mode, o.Runs = recorder.Replay, ""
	r, err := newRunner(o)
	if err != nil {
		return ledger.EpisodeRows{}, nil, err
	}
	defer r.closeCassettes()
	asked, err := o.Select.picked(o.Suite.Tasks)
	if err != nil {
		return ledger.EpisodeRows{}, nil, &ConfigError{err}
	}
	r.plan.keep(func(p drive.Planned) bool { return p.Trial == trial })
	var chosen []drive.Planned
	for _, p := range r.plan.all() { // including the earlier ones of its session
		if slices.ContainsFunc(asked, func(t goldens.Task) bool { return t.ID == p.Task.ID }) {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) != 1 {
		return ledger.EpisodeRows{}, nil, &ConfigError{fmt.Errorf("replay takes one episode, the selection has %d", len(chosen))}
	}
	if _, err := cassettesDigest(r); err != nil {
		return ledger.EpisodeRows{}, nil, err
	}
	var traces []episode.Trace
	p := chosen[0]
	setHistory(&p, r.loadHistory(ctx, &p))
	rows := r.env().Run(ctx, &p, func(t episode.Trace) { traces = append(traces, t) })
	return rows, traces, nil
}
