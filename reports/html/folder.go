package html

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/transcript"
	"github.com/cupel-eval/cupel/reports/words"
)

// Bounds of a report's pages, in bytes of HTML.
const (
	// maxPages is what all pages of 10,000 episodes take together.
	maxPages = 11_500_000
	// leastSaid is there for what was said, however large the run.
	leastSaid = 512 << 10
	// maxExpected is how many demands of a task are shown.
	maxExpected = 30
)

// folder is a report of several pages: an index and one page for each task that
// is listed and has a transcript.
type folder struct {
	r                model.Report
	plots            Plots
	requests         map[string]string   // by task id
	tags             map[string][]string // by task id, bounded
	pages            map[string]string   // file names by task id
	order            []int               // of r.Tasks, as the ledger has them
	linked           links
	lean             bool
	agents           map[string]string // strategies by candidate; empty where all have one
	size             int               // of the pages without what was said, about
	transcriptBudget transcriptBudget
	transcript       bytes.Buffer // of one episode after another
	// missing is what could not be said: of all pages, once these are written.
	missing transcript.MissingSaid
}

func newFolder(r model.Report, plots Plots) *folder {
	f := &folder{r: r, plots: plots, requests: map[string]string{}, tags: reportTags(r), pages: map[string]string{}, linked: links{}, agents: map[string]string{}, lean: len(r.Episodes) > maxMarked}
	for _, t := range r.Run.Tasks {
		f.requests[t.ID] = t.Request
	}
	if slices.ContainsFunc(r.Candidates, func(c model.Candidate) bool { return c.Agent != r.Candidates[0].Agent }) {
		for _, c := range r.Candidates {
			f.agents[c.Name] = words.Brief(c.Agent, 60)
		}
	}
	taken := slugs{}
	for _, at := range listed(r) {
		t := r.Tasks[at]
		if f.pages[t.ID] != "" {
			continue
		}
		name := ""
		for _, i := range episodes(t) {
			e := &r.Episodes[i]
			if e.Kept == nil {
				continue
			}
			if name == "" {
				name = "tasks/" + taken.of(t.ID) + ".html"
				f.pages[t.ID], f.order = name, append(f.order, at)
				f.size += 1250 // what is around them
			}
			f.linked[i] = name + "#" + e.Anchor
			f.size += size(&e.Kept.View, f.lean)
		}
	}
	slices.SortStableFunc(f.order, func(a, b int) int {
		return first(r.Tasks[a]) - first(r.Tasks[b])
	})
	return f
}

// episodes are those of all candidates, by candidate and trial.
func episodes(t model.Task) (all []int) {
	for _, c := range t.Cells {
		all = append(all, c.Episodes...)
	}
	return all
}

// first is the first episode, as the ledger has them.
func first(t model.Task) int { return slices.Min(episodes(t)) }

// size is about what a transcript takes as HTML.
func size(v *transcript.Episode, lean bool) int {
	n := 180 + 2*len(v.Candidate) + len(v.Facts) + len(v.Answer) + len(v.Harm)
	for _, c := range v.Checks {
		n += 50 + len(c)
	}
	for _, t := range v.Turns {
		n += 48 + len(t.Where) + len(t.Key) + len(t.What) + len(t.Calls) + len(t.Trouble)
		if !lean || !v.Solved {
			n += 16 + len(t.Facts)
		}
	}
	return n
}

// index renders index.html, and shares out what it leaves for what was said.
func (f *folder) index() ([]byte, error) {
	v, err := newPage(f.r, f.plots, false)
	if err != nil {
		return nil, err
	}
	v.link(f.r, f.linked, f.pages)
	v.Notes = append(v.Notes, f.missing.Words()...)
	var b bytes.Buffer
	err = execute(&b, "index.html.tmpl", v)
	f.transcriptBudget = newTranscriptBudget(f.r, f.linked, max(leastSaid, maxPages-b.Len()-f.size))
	return b.Bytes(), err
}

// taskPage is what the template of a task's page shows.
type taskPage struct {
	ID, Title, Tier, Request, Suite, RunID string
	Tags, Expected                         []string
	Simulated                              bool
	Before, After                          *taskLink
	Cells                                  []taskCell
	Systems                                []transcript.SystemView
	Episodes                               []template.HTML
	Missing                                string
	Said                                   bool
}

type taskLink struct{ ID, Href string }

type taskCell struct {
	Candidate string
	cellView
}

// page writes the page of the k-th task to w, a file that replaces another once it is complete.
func (f *folder) page(w io.Writer, k int, details DetailOf) error {
	t := f.r.Tasks[f.order[k]]
	v := f.head(t)
	if k > 0 {
		v.Before = f.linkTo(k - 1)
	}
	if k+1 < len(f.order) {
		v.After = f.linkTo(k + 1)
	}
	systems := &transcript.Systems{By: map[string]int{}}
	before := f.missing
	f.missing = nil
	missing := 0
	b := &f.transcript
	all := episodes(t)
	slices.Sort(all)
	rendered := map[int]template.HTML{}
	for _, i := range all {
		e := &f.r.Episodes[i]
		if e.Kept == nil {
			missing++
			continue
		}
		b.Reset()
		said, expected, err := f.episode(b, e, i, details, systems)
		if err != nil {
			return err
		}
		if v.Said = v.Said || said; v.Expected == nil {
			v.Expected = expected
		}
		rendered[i] = template.HTML(b.String())
	}
	for _, i := range episodes(t) {
		if text := rendered[i]; text != "" {
			v.Episodes = append(v.Episodes, text)
		}
	}
	v.Systems = systems.Views
	if missing > 0 {
		v.Missing = words.Plural(missing, "more episode") + " of this task: in the ledger only."
	}
	v.Missing = words.Join(" ", append([]string{v.Missing}, f.missing.Words()...)...)
	for _, m := range f.missing {
		before.Count(m)
	}
	f.missing = before
	if err := parsed().ExecuteTemplate(w, "task.html.tmpl", v); err != nil {
		return fmt.Errorf("reports: page of task %s: %w", t.ID, err)
	}
	return nil
}

func (f *folder) head(t model.Task) taskPage {
	v := taskPage{
		ID: words.Brief(t.ID, 60), Title: words.UpperFirst(words.Brief(t.Title, 160)), Tier: words.Brief(t.Tier, 20), Tags: f.tags[t.ID],
		Suite: words.Brief(f.r.Run.Suite, 80), RunID: words.Brief(f.r.Run.RunID, 64), Simulated: f.r.Run.Simulated,
		Request: words.Lines(f.requests[t.ID], transcript.MaxText),
	}
	if f.lean && !slices.ContainsFunc(t.Cells, func(c model.Cell) bool { return len(c.Episodes) > 1 }) {
		return v // the episodes themselves say it
	}
	here := links{}
	for _, i := range episodes(t) {
		if e := &f.r.Episodes[i]; e.Kept != nil {
			here[i] = "#" + e.Anchor
		}
	}
	for i, c := range t.Cells {
		view := cell(f.r, c, here)
		switch {
		case len(c.Episodes) == 1:
			if e := &f.r.Episodes[c.Episodes[0]]; e.Kept != nil {
				k := &e.Kept.View
				view.Text = k.Outcome + ", " + strings.TrimPrefix(k.Facts, fmt.Sprintf("trial %d · ", k.Trial))
			}
		case c.Scored > 0:
			view.Text += " solved"
		}
		v.Cells = append(v.Cells, taskCell{words.Brief(f.r.Candidates[i].Name, 80), view})
	}
	return v
}

func (f *folder) linkTo(k int) *taskLink {
	t := f.r.Tasks[f.order[k]]
	return &taskLink{words.Brief(t.ID, 40), f.pages[t.ID][len("tasks/"):]}
}

// episode renders a transcript, with what was said if the transcript budget has room.
func (f *folder) episode(b *bytes.Buffer, e *model.Episode, i int, details DetailOf, systems *transcript.Systems) (said bool, expected []string, err error) {
	v := e.Kept.View
	v.Agent = f.agents[e.Candidate]
	v.Anchor, v.Task, v.Lean = e.Anchor, "", f.lean && e.Solved
	if v.Solved {
		v.Source = ""
	}
	before := systems.Size
	if details != nil && f.transcriptBudget.has(i) {
		d, ok := details(*e)
		f.missing.Add(d.Missing)
		if ok {
			said = true
			for _, line := range d.Expected[:min(len(d.Expected), maxExpected)] {
				expected = append(expected, words.Clip(line, 300))
			}
			(&transcript.Saying{Left: transcript.MaxSaid, Systems: systems}).Detail(&v, d)
		}
	}
	if err := renderEpisode(b, v); err != nil {
		return said, expected, err
	}
	if said {
		f.transcriptBudget.spend(i, b.Len()+systems.Size-before)
	}
	return said, expected, nil
}

// DetailOf returns the detail of an episode; ok is false where none can be had,
// and Missing says why. Write calls it from one goroutine, in the order of
// Report.Episodes: another order works, and takes longer.
type DetailOf func(e model.Episode) (d transcript.Detail, ok bool)
