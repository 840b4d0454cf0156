package cmd

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/sides"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports"
	"github.com/cupel-eval/cupel/reports/compare"
)

// compareHTML renders a comparison of two runs, each RUN or RUN:CANDIDATE, as a page
// with episodes side by side: they are executed again from the current cassettes.
func (p *process) compareHTML(ctx context.Context, cfg config.Config, baseline, newRun string) func(io.Writer, compare.Comparison) error {
	return func(w io.Writer, c compare.Comparison) error {
		b, err := sides.Open(cfg.Runs, baseline, nil)
		if err != nil {
			return err
		}
		t, err := sides.Open(cfg.Runs, newRun, nil)
		if err != nil {
			return err
		}
		baseDetails, newDetails := p.detailsOf(ctx, cfg, b.Dir, ""), p.detailsOf(ctx, cfg, t.Dir, "")
		err = reports.CompareHTML(w, c, func(isNew bool, task, candidate string, n int) (ledger.EpisodeRows, reports.Detail, bool) {
			d := baseDetails
			if isNew {
				d = newDetails
			}
			rows, ok := d.Find(ledger.Key{TaskID: task, Candidate: candidate, Trial: int32(n)})
			if !ok {
				return rows, reports.Detail{}, false
			}
			said, _ := d.Of(rows)
			return rows, said, true
		})
		if stopped, also := baseDetails.Close(), newDetails.Close(); cmp.Or(stopped, also) != nil {
			return exit.With(exit.Interrupted, errors.New("interrupted: the page of the comparison was not written"))
		}
		return err
	}
}
