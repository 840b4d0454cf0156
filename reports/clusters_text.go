package reports

import "strings"

// maxClusterLines is how many clusters the summary names.
const maxClusterLines = 3

// clusters writes the table of failures by kind.
func (b *budget) clusters(r Report) {
	if len(r.Clusters) == 0 {
		return
	}
	b.fold("Failures by kind: "+plural(r.unsolvedEpisodes(), "episode")+" not solved, "+plural(len(r.Clusters), "cluster"), func() {
		b.line("| Kind | Signature | Episodes | Tasks | Candidates | Shortest |")
		b.line("|:--|:--|--:|:--|:--|:--|")
		kind := ""
		for _, v := range clusterViews(r) {
			if v.Kind == kind {
				v.Kind = ""
			} else {
				kind = v.Kind
			}
			b.line("| %s | %s | %s | %s | %s | %s |", v.Kind, md(v.Signature), v.Episodes, md(v.Tasks), md(v.Candidates), md(v.Shortest))
		}
		if more := len(r.Clusters) - maxClusterViews; more > 0 {
			b.line("")
			b.line("and %s, none of them larger", plural(more, "more cluster"))
		}
		b.line("")
	})
}

// summaryClusters names the largest clusters.
func summaryClusters(b *strings.Builder, r Report, width int) {
	for _, c := range r.largest(maxClusterLines) {
		wrapped(b, "failed: ", r.sentence(c), width)
	}
	if more := len(r.Clusters) - maxClusterLines; more > 0 {
		wrapped(b, "failed: ", "in "+plural(more, "more way")+", all in the report", width)
	}
}
