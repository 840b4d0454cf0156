package viewer

import (
	"bytes"
	"net/http"
	"path/filepath"
	"regexp"

	"github.com/cupel-eval/cupel/reports/words"
)

// compareView explains why two runs cannot be compared, and asks for others.
type compareView struct {
	problemView
	Baseline, New, Changed string
	Choices                []string
}

// changedChoices are what may be done with tasks that changed between two runs.
var changedChoices = []string{"refuse", "skip", "keep"}

var runCandidate = regexp.MustCompile(`^(.+):([A-Za-z0-9._-]+)$`)

// side is the path of RUN or RUN:CANDIDATE. ok is false unless it is a run of the folder.
func (v *viewer) side(text string) (path string, ok bool) {
	if dir, ok := v.folder(text); ok {
		return dir, true
	}
	if m := runCandidate.FindStringSubmatch(text); m != nil {
		if dir, ok := v.folder(m[1]); ok {
			return dir + ":" + m[2], true
		}
	}
	return "", false
}

// compare serves the comparison of two runs.
func (v *viewer) compare(w http.ResponseWriter, r *http.Request) {
	page := compareView{Baseline: r.FormValue("baseline"), New: r.FormValue("new"), Changed: r.FormValue("changed"), Choices: changedChoices}
	page.Title = "The runs cannot be compared"
	baseline, ok := v.side(page.Baseline)
	newRun, ok2 := v.side(page.New)
	if !ok || !ok2 {
		page.Title, page.Lines = "Choose two runs", []string{"A run is RUN or RUN:CANDIDATE, with the id of a run of this folder."}
		render(w, http.StatusBadRequest, "compare.html.tmpl", page)
		return
	}
	v.heavy.Lock()
	defer v.heavy.Unlock()
	var b bytes.Buffer
	if err := v.Compare(r.Context(), &b, baseline, newRun, page.Changed); err != nil {
		page.Lines = v.lines(v.relative(filepath.Clean(v.Runs), err))
		render(w, http.StatusUnprocessableEntity, "compare.html.tmpl", page)
		return
	}
	reportPage(w, b.Bytes(), "")
}

// lines are the first lines of an error.
func (v *viewer) lines(text string) (list []string) {
	for line := range bytes.Lines([]byte(v.Redact("error", text))) {
		if len(list) < 20 {
			list = append(list, words.Clip(string(line), 500))
		}
	}
	return list
}
