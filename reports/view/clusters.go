package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// Bounds of the clusters shown, in a table and in lines.
const (
	maxClusters     = 40
	maxClusterLines = 3
)

// failureSection are the largest clusters, in the order of all, and the episodes of each
// candidate that were not solved.
func failureSection(r model.Report, linked map[int]string) Section {
	s := Section{ID: "failures", Title: "Failures", Label: "failed", Unsolved: failures(r), Lines: ClusterLines(r, maxClusterLines)}
	if len(s.Unsolved) == 0 {
		s.Empty = "Every scored episode was solved."
	}
	if len(r.Clusters) == 0 {
		return s
	}
	if more := len(r.Clusters) - maxClusterLines; more > 0 {
		s.Lines = append(s.Lines, "in "+words.Plural(more, "more way")+", all in the report")
	}
	s.Intro = "Episodes that failed alike, whatever the task. The example is the shortest of them."
	s.Fold = "Failures by kind: " + words.Plural(unsolvedEpisodes(r), "episode") + " not solved, " + words.Plural(len(r.Clusters), "cluster")
	s.Tables = []Table{clusterTable(r, linked)}
	return s
}

func clusterTable(r model.Report, linked map[int]string) Table {
	t := Table{ID: "clusters", Label: "Table of failures", Caption: "Failures by kind and signature", Columns: []Column{
		{Name: "Kind", Class: "nw", Own: true}, {Name: "Signature", Mark: "code", Head: true}, {Name: "Episodes", Class: "n", Mark: "b"},
		{Name: "Tasks", TextOnly: true}, {Name: "Candidates"}, {Name: "Shortest", Page: "Example", Mark: "bdi"},
	}}
	top := largest(r, maxClusters)
	shown := map[int]bool{} // by the shortest episode, which is in no other
	for _, c := range top {
		shown[c.Shortest] = true
	}
	last := ""
	for _, c := range r.Clusters {
		if !shown[c.Shortest] {
			continue
		}
		e, n := r.Episodes[c.Shortest], len(c.Episodes)
		t.Rows = append(t.Rows, []Cell{
			{Text: string(c.Kind), Again: string(c.Kind) == last}, {Text: words.Brief(says(c), 120)},
			{Text: words.Thousands(int64(n)), Share: words.Coordinate(100*float64(n)/float64(len(top[0].Episodes)), 1)},
			{Text: names(c.Tasks)}, {Text: names(c.Candidates)},
			{Text: fmt.Sprintf("%s/%d of %s, %s", words.Brief(e.Task, 40), e.Trial, words.Brief(e.Candidate, 60), words.Plural(e.Steps, "step")), Href: linked[c.Shortest]},
		})
		last = string(c.Kind)
	}
	if more := len(r.Clusters) - len(t.Rows); more > 0 {
		t.More = words.Plural(more, "more cluster")
	}
	return t
}

// names lists the three most frequent names: "G01 ×3, G02, G07, 4 more".
func names(tallies []model.Tally) string {
	const n = 3
	var parts []string
	for i, t := range tallies {
		if i == n {
			parts = append(parts, words.Thousands(int64(len(tallies)-n))+" more")
			break
		}
		part := words.Brief(t.Name, 40)
		if t.N > 1 {
			part += " ×" + words.Thousands(int64(t.N))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// largest are the clusters with the most episodes, at most n.
func largest(r model.Report, n int) []model.Cluster {
	list := slices.Clone(r.Clusters)
	slices.SortStableFunc(list, func(a, b model.Cluster) int { return cmp.Compare(len(b.Episodes), len(a.Episodes)) })
	return list[:min(n, len(list))]
}

// unsolvedEpisodes counts the episodes of all clusters.
func unsolvedEpisodes(r model.Report) (n int) {
	for _, c := range r.Clusters {
		n += len(c.Episodes)
	}
	return n
}

// clusterSentence says a cluster in one line, with the episode to look at first.
func clusterSentence(r model.Report, c model.Cluster) string {
	e := r.Episodes[c.Shortest]
	return fmt.Sprintf("%s: %s of %s, in %s; shortest %s/%s/%d, %s",
		c.Signature, words.Thousands(int64(len(c.Episodes))), words.Plural(unsolvedEpisodes(r), "unsolved episode"), words.Plural(len(c.Tasks), "task"),
		words.Brief(e.Task, 40), words.Brief(e.Candidate, 60), e.Trial, words.Plural(e.Steps, "step"))
}

// says is the signature without the kind it begins with.
func says(c model.Cluster) string {
	return strings.TrimPrefix(c.Signature, string(c.Kind)+": ")
}

// ClusterLines says the largest clusters, at most n, each in a line.
func ClusterLines(r model.Report, n int) (lines []string) {
	for _, c := range largest(r, n) {
		lines = append(lines, clusterSentence(r, c))
	}
	return lines
}
