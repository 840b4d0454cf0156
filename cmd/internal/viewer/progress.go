package viewer

import (
	"cmp"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxRecent is how many episodes the page of a run in progress lists, those that ended last.
const maxRecent = 10

// progressView is a run that has not ended.
type progressView struct {
	Title, Resume string
	Live          bool
	run
	Sum        count
	Facts      []view.Fact
	Candidates []candidateCount
	Recent     []recentEpisode
}

// count adds up episodes that have ended.
type count struct {
	Done, Total, Solved, Failed, Excluded int
	cost                                  int64
	unpriced                              bool
}

// Cost is what the episodes cost, unknown if that of one is.
func (c count) Cost() string {
	if c.unpriced {
		return words.Dollars[int64](nil)
	}
	return words.Dollars(&c.cost)
}

// left estimates how long the remaining episodes take at the mean rate so far; 0 if that is
// unknown. It is rounded, because the page is updated every few seconds.
func (c count) left(since time.Duration) time.Duration {
	if c.Done == 0 {
		return 0
	}
	left, unit := time.Duration(float64(since)/float64(c.Done)*float64(c.Total-c.Done)), time.Second
	if left > time.Minute {
		unit = 10 * time.Second
	}
	return left.Round(unit)
}

func (c *count) add(e ended, sign int) {
	c.Done += sign
	switch {
	case e.excluded:
		c.Excluded += sign
	case e.solved:
		c.Solved += sign
	default:
		c.Failed += sign
	}
	if e.cost != nil {
		c.cost += int64(sign) * *e.cost
	}
	c.unpriced = c.unpriced || e.cost == nil
}

type candidateCount struct {
	Name string
	count
}

// recentEpisode is a line of the list.
type recentEpisode struct {
	Name, Status, Class, Sign, Steps, Cost, Time string
}

// ended is what counts of an episode.
type ended struct {
	solved, excluded bool
	cost             *int64
}

// progress shows how far a run is that has not ended, by its journal.
func (v *viewer) progress(w http.ResponseWriter, found run) {
	dir, _ := v.folder(found.ID)
	m, err := manifest.Read(dir)
	page := progressView{Title: "Interrupted run", run: found, Live: found.Running()}
	if err == nil {
		err = v.addJournal(&page, dir, m)
	}
	if err != nil {
		v.problem(w, http.StatusUnprocessableEntity, "The run cannot be read", v.relative(dir, err))
		return
	}
	switch {
	case page.Live:
		page.Title = "Run in progress"
	case m.Mode != "":
		page.Resume = v.Redact("command", rundir.ResumeHint(filepath.Clean(dir)))
	}
	page.Facts = []view.Fact{
		{Name: "Solved", Value: words.Thousands(int64(page.Sum.Solved))}, {Name: "Failed", Value: words.Thousands(int64(page.Sum.Failed))},
		{Name: "Without a result", Value: words.Thousands(int64(page.Sum.Excluded))}, {Name: "Cost", Value: page.Sum.Cost()},
	}
	if m.Started != "" {
		since := "started " + found.Date.Format("2006-01-02 15:04") + " UTC"
		if page.Live {
			since = words.Duration(float64(v.Now().Sub(found.Date).Microseconds()))
		}
		page.Facts = append(page.Facts, view.Fact{Name: "Time", Value: since})
		if left := page.Sum.left(v.Now().Sub(found.Date)); page.Live && left > 0 {
			page.Facts = append(page.Facts, view.Fact{Name: "Time left", Value: "about " + words.Duration(float64(left.Microseconds()))})
		}
	}
	render(w, http.StatusOK, "progress.html.tmpl", page)
}

// addJournal adds the episodes that have ended.
func (v *viewer) addJournal(page *progressView, dir string, m manifest.Manifest) error {
	at := map[string]int{}
	for _, c := range m.Candidates {
		at[c.Name] = len(page.Candidates)
		page.Candidates = append(page.Candidates, candidateCount{v.brief("candidate", c.Name), count{Total: c.Planned}})
		page.Sum.Total += c.Planned
	}
	known := map[string]ended{} // by id of the episode
	var recent []ledger.Episode
	_, err := ledger.ReadUnfinished(dir, func(rec ledger.EpisodeRows) {
		e := rec.Episode
		i, ok := at[e.Candidate]
		if !ok {
			return
		}
		is := ended{e.Solved, e.Excluded() != "", e.CostNanoUSD}
		for _, c := range []*count{&page.Sum, &page.Candidates[i].count} {
			if was, again := known[e.EpisodeID]; again {
				c.add(was, -1)
			}
			c.add(is, 1)
		}
		known[e.EpisodeID] = is
		recent = append(recent, e)[max(0, len(recent)+1-maxRecent):]
	})
	slices.Reverse(recent)
	for _, e := range recent {
		page.Recent = append(page.Recent, v.recent(e))
	}
	page.Sum.Total = max(page.Sum.Total, page.Sum.Done)
	return err
}

func (v *viewer) recent(e ledger.Episode) recentEpisode {
	r := recentEpisode{
		Name: v.brief("episode", fmt.Sprintf("%s/%s", e.TaskID, e.Candidate)), Status: v.brief("status", cmp.Or(e.Excluded(), e.Status)), Class: "x", Sign: "✗",
		Steps: strconv.Itoa(int(e.Steps)), Cost: words.Dollars(e.CostNanoUSD), Time: words.Time(e.ElapsedUs),
	}
	if e.Trial > 1 {
		r.Name += "/" + strconv.Itoa(int(e.Trial))
	}
	switch {
	case e.Excluded() != "":
		r.Class, r.Sign = "z", "?"
	case e.Solved:
		r.Class, r.Sign = "y", "✓"
	}
	return r
}
