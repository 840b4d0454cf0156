package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxAnnotations is how many of a kind GitHub shows of one step.
const maxAnnotations = 10

// annotation is one remark on a run.
type annotation struct {
	verdict     Verdict
	title, text string
}

// Annotations writes the verdict as workflow commands of GitHub Actions: an error
// for each criterion that failed, a warning for each inconclusive one, a notice
// for each candidate that passes and for the largest cluster of failures. There are at most ten, the worst first; the last
// one then says how many are missing. Each is one line, bounded and escaped.
func Annotations(w io.Writer, r Report) error { return writeAnnotations(w, r.remarks()) }

// remarks are what there is to say about the candidates, the groups and the run.
func (r Report) remarks() (list []annotation) {
	if changed := r.thresholdsChanged(); changed != "" {
		list = append(list, annotation{Inconclusive, "cupel: thresholds changed at report time", changed})
	}
	said := len(list)
	for _, c := range r.Candidates {
		list = annotate(list, c.Name, c.Verdict, c.Sentence, c.Criteria)
	}
	for _, g := range r.Groups {
		list = annotate(list, g.name()+" (pooled)", g.Verdict, g.Sentence, g.Criteria)
	}
	if r.Verdict != Pass && !slices.ContainsFunc(list[said:], func(a annotation) bool { return a.verdict != Pass }) {
		list = append(list, annotation{r.Verdict, "cupel", r.Headline}) // it is about the run
	}
	for _, c := range r.largest(1) {
		list = append(list, annotation{Pass, "cupel: most frequent failure", r.sentence(c)})
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
		fmt.Fprintf(&b, "::%s title=%s::%s\n", level, escapeProperty.Replace(clip(a.title, 200)), escapeData.Replace(clip(a.text, 600)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("reports: annotations: %w", err)
	}
	return nil
}

// annotate adds what there is to say about one candidate or group.
func annotate(list []annotation, name string, v Verdict, sentence string, criteria []Criterion) []annotation {
	if v == NotJudged {
		return list
	}
	said := len(list)
	if sentence != sentenceOf(criteria) { // episodes without a result decided
		list = append(list, annotation{v, fmt.Sprintf("%s: %s", brief(name, 80), word(v)), name + " " + sentence})
	}
	for _, c := range criteria {
		if c.Verdict == Pass || c.Verdict == NotJudged {
			continue
		}
		if c.Verdict == Fail { // not if too many episodes were lost to say so
			c.Verdict = v
		}
		text := fmt.Sprintf("%s (%s), needs %s, n %s. %s", c.value(), c.interval(), c.needs(), thousands(int64(c.N)), c.Note)
		list = append(list, annotation{c.Verdict, fmt.Sprintf("%s: %s: %s", brief(name, 80), lowerFirst(c.Title), word(c.Verdict)), strings.TrimSpace(text)})
	}
	if len(list) == said { // a pass, or one that would be if it were finished
		list = append(list, annotation{v, fmt.Sprintf("%s: %s", brief(name, 80), word(v)), name + " " + sentence})
	}
	return list
}

// rank orders by what a reader must see first.
func (a annotation) rank() int {
	switch a.verdict {
	case Fail:
		return 0
	case Pass, NoRegression:
		return 2
	}
	return 1
}

// What would end a workflow command, or a property of one, is written in code.
var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
