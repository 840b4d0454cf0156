package html

import (
	"fmt"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// sectionView is a section with what only a page shows of it.
type sectionView struct {
	view.Section
	Plots    []plotView
	Failures []failureView
}

type failureView struct {
	Name, Count, More string
	Open              bool
	Items             []failureItem
}

type failureItem struct {
	Href, Task, Status, Why string
	Trial                   int
}

// failureViews lists what each candidate did not solve.
func failureViews(r model.Report, list []view.CandidateFailures, linked links) (views []failureView) {
	for _, c := range list {
		v := failureView{Name: words.Brief(c.Name, 80), Count: c.Count, Open: len(c.Episodes) <= 12 && len(r.Clusters) == 0}
		for at, i := range c.Episodes {
			if at == maxFailures {
				v.More = fmt.Sprintf("and %d more, in the ledger", len(c.Episodes)-at)
				break
			}
			e := r.Episodes[i]
			v.Items = append(v.Items, failureItem{linked[i], words.Brief(e.Task, 40), words.Brief(view.Ending(e), 80), words.Clip(e.Failure, 300), e.Trial})
		}
		views = append(views, v)
	}
	return views
}
