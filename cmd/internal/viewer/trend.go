package viewer

import (
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/plot"
	"github.com/cupel-eval/cupel/reports/trend"
	"github.com/cupel-eval/cupel/reports/words"
)

// trendView follows the candidates of a suite from run to run.
type trendView struct {
	Title, Suite, Newest string
	Live                 bool
	Plots                []trendPlot
	Rows                 []trendRow
}

type trendPlot struct {
	Title, Alt string
	SVG        template.HTML
}

// trendRow is one candidate in one run.
type trendRow struct {
	Run, When, Candidate, Solved, Cost string
	at                                 time.Time
}

// timed says that a run is one that a trend may follow.
func (r run) timed() bool { return r.Ended() && r.Mode != "replay" }

// maxTried is how many runs, the newest first, are asked for a trend: one of a selection
// of tasks has none.
const maxTried = 3

// trend serves the trend of a suite: that of the report of its newest run.
func (v *viewer) trend(w http.ResponseWriter, r *http.Request) {
	all, _, err := v.runs()
	if err != nil {
		v.problem(w, http.StatusInternalServerError, "The runs cannot be listed", err.Error())
		return
	}
	v.heavy.Lock()
	defer v.heavy.Unlock()
	suite, tried := r.FormValue("suite"), 0
	for _, found := range all {
		if found.Suite != suite || !found.timed() || tried == maxTried {
			continue
		}
		tried++
		dir, _ := v.folder(found.ID)
		_, report, err := rundir.Report(v.Runs, dir, nil)
		if err != nil || report.Trend == nil {
			continue
		}
		page := trendView{Title: "Trend of suite " + suite, Suite: suite, Newest: found.ID, Rows: trendRows(report.Trend)}
		if page.Plots, err = trendPlots(report); err != nil {
			v.problem(w, http.StatusInternalServerError, "The plot cannot be drawn", err.Error())
			return
		}
		render(w, http.StatusOK, "trend.html.tmpl", page)
		return
	}
	fail(w, http.StatusNotFound, "There is no trend of this suite. A trend needs two recorded or live runs of the same tasks and candidates; replays have no start time.")
}

func trendPlots(r model.Report) (list []trendPlot, err error) {
	for _, f := range r.Figures {
		if f.Name == model.FigTrend {
			svg, err := plot.Inline(r, f)
			if err != nil {
				return nil, err
			}
			list = append(list, trendPlot{words.Visible(f.Title), words.Visible(f.Alt), template.HTML(svg)})
		}
	}
	return list, nil
}

// trendRows are the points of the series, the newest first.
func trendRows(series []trend.Series) (rows []trendRow) {
	for _, s := range series {
		for _, p := range s.Points {
			if s.Metric != trend.Solved && s.Metric != trend.Cost {
				continue
			}
			i := slices.IndexFunc(rows, func(r trendRow) bool { return r.Run == p.RunID && r.Candidate == s.Candidate })
			if i < 0 {
				i = len(rows)
				rows = append(rows, trendRow{Run: p.RunID, When: p.Started.UTC().Format("2006-01-02 15:04"), Candidate: s.Candidate, Solved: words.Unknown, Cost: words.Unknown, at: p.Started})
			}
			if s.Metric == trend.Solved {
				rows[i].Solved = words.Percent(p.Value)
			} else {
				rows[i].Cost = words.USD(p.Value)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b trendRow) int { return b.at.Compare(a.at) })
	return rows
}
