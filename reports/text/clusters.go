package text

import (
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxClusterLines is how many clusters the summary names.
const maxClusterLines = 3

// clusters writes the table of failures by kind.
func (b *budget) clusters(r model.Report) {
	if len(r.Clusters) == 0 {
		return
	}
	b.fold("Failures by kind: "+words.Plural(view.UnsolvedEpisodes(r), "episode")+" not solved, "+words.Plural(len(r.Clusters), "cluster"), func() {
		b.line("| Kind | Signature | Episodes | Tasks | Candidates | Shortest |")
		b.line("|:--|:--|--:|:--|:--|:--|")
		kind := ""
		for _, v := range view.ClusterViews(r) {
			if v.Kind == kind {
				v.Kind = ""
			} else {
				kind = v.Kind
			}
			b.line("| %s | %s | %s | %s | %s | %s |", v.Kind, Escape(v.Signature), v.Episodes, Escape(v.Tasks), Escape(v.Candidates), Escape(v.Shortest))
		}
		if more := len(r.Clusters) - view.MaxClusterViews; more > 0 {
			b.line("")
			b.line("and %s, none of them larger", words.Plural(more, "more cluster"))
		}
		b.line("")
	})
}

// summaryClusters names the largest clusters.
func summaryClusters(b *strings.Builder, r model.Report, width int) {
	for _, line := range view.ClusterLines(r, maxClusterLines) {
		wrapped(b, "failed: ", line, width)
	}
	if more := len(r.Clusters) - maxClusterLines; more > 0 {
		wrapped(b, "failed: ", "in "+words.Plural(more, "more way")+", all in the report", width)
	}
}
