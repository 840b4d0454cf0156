package text

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxAnnotations is how many of a kind GitHub shows of one step.
const maxAnnotations = 10

// annotation is one remark on a run.
type annotation struct {
	verdict     stat.Verdict
	title, text string
}

// Annotations writes the verdict as workflow commands of GitHub Actions: an error
// for each criterion that failed, a warning for each inconclusive one, a notice
// for each candidate that passes and for the largest cluster of failures. There are at most ten, the worst first; the last
// one then says how many are missing. Each is one line, bounded and escaped.
func Annotations(w io.Writer, r model.Report) error { return writeAnnotations(w, remarks(r)) }

// remarks are what there is to say about the candidates, the groups and the run.
func remarks(r model.Report) (list []annotation) {
	if changed := r.ChangesText(); changed != "" {
		list = append(list, annotation{stat.Inconclusive, "cupel: thresholds changed at report time", changed})
	}
	said := len(list)
	for _, j := range view.Judgements(r) {
		list = annotate(list, j)
	}
	if r.Verdict != stat.Pass && !slices.ContainsFunc(list[said:], func(a annotation) bool { return a.verdict != stat.Pass }) {
		list = append(list, annotation{r.Verdict, "cupel", r.Headline}) // it is about the run
	}
	for _, line := range view.ClusterLines(r, 1) {
		list = append(list, annotation{stat.Pass, "cupel: most frequent failure", line})
	}
	return list
}

// writeAnnotations writes the worst remarks, at most ten.
func writeAnnotations(w io.Writer, list []annotation) error {
	slices.SortStableFunc(list, func(a, b annotation) int { return cmp.Compare(a.rank(), b.rank()) })
	if more := len(list) - maxAnnotations + 1; more > 1 {
		list = append(list[:maxAnnotations-1], annotation{list[maxAnnotations-1].verdict, "cupel", fmt.Sprintf("%d more remarks are in the report", more)})
	}
	var b strings.Builder
	for _, a := range list {
		level := [...]string{"error", "warning", "notice"}[a.rank()]
		fmt.Fprintf(&b, "::%s title=%s::%s\n", level, escapeProperty.Replace(words.Clip(a.title, 200)), escapeData.Replace(words.Clip(a.text, 600)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("reports: annotations: %w", err)
	}
	return nil
}

// annotate adds what there is to say about one candidate or group.
func annotate(list []annotation, j view.Judgement) []annotation {
	name, v := j.Pooled(j.Name), j.Verdict
	if v == stat.NotJudged {
		return list
	}
	said := len(list)
	if j.Explains() { // episodes without a result decided
		list = append(list, annotation{v, fmt.Sprintf("%s: %s", words.Brief(name, 80), words.Word(v)), name + " " + j.Sentence})
	}
	for _, c := range j.Criteria {
		if c.Verdict == stat.Pass || c.Verdict == stat.NotJudged {
			continue
		}
		if c.Verdict == stat.Fail { // not if too many episodes were lost to say so
			c.Verdict = v
		}
		text := fmt.Sprintf("%s (%s), needs %s, n %s. %s", c.ValueText(), c.IntervalText(), c.NeedsText(), words.Thousands(int64(c.N)), c.Note)
		list = append(list, annotation{c.Verdict, fmt.Sprintf("%s: %s: %s", words.Brief(name, 80), words.LowerFirst(c.Title), words.Word(c.Verdict)), strings.TrimSpace(text)})
	}
	if len(list) == said { // a pass, or one that would be if it were finished
		list = append(list, annotation{v, fmt.Sprintf("%s: %s", words.Brief(name, 80), words.Word(v)), name + " " + j.Sentence})
	}
	return list
}

// rank orders by what a reader must see first.
func (a annotation) rank() int {
	switch a.verdict {
	case stat.Fail:
		return 0
	case stat.Pass, stat.NoRegression:
		return 2
	}
	return 1
}

// What would end a workflow command, or a property of one, is written in code.
var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
