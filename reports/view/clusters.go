package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// ClusterView is a cluster as renderers show it: text to be escaped, made visible
// and bounded.
type ClusterView struct {
	Kind, Signature   string
	Episodes          string // how many
	Tasks, Candidates string // how many, or their names
	Shortest          string // task/trial, candidate and steps
	At                int    // index of the shortest in Report.Episodes
}

// MaxClusterViews is how many clusters a renderer shows.
const MaxClusterViews = 40

// ClusterViews are the largest clusters, in the order of all.
func ClusterViews(r model.Report) (views []ClusterView) {
	shown := map[int]bool{} // by the shortest episode, which is in no other
	for _, c := range largest(r, MaxClusterViews) {
		shown[c.Shortest] = true
	}
	for _, c := range r.Clusters {
		if !shown[c.Shortest] {
			continue
		}
		e := r.Episodes[c.Shortest]
		views = append(views, ClusterView{
			Kind: string(c.Kind), Signature: words.Brief(says(c), 120), Episodes: words.Thousands(int64(len(c.Episodes))),
			Tasks: names(c.Tasks), Candidates: names(c.Candidates),
			Shortest: fmt.Sprintf("%s/%d of %s, %s", words.Brief(e.Task, 40), e.Trial, words.Brief(e.Candidate, 60), words.Plural(e.Steps, "step")),
			At:       c.Shortest,
		})
	}
	return views
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

// UnsolvedEpisodes counts the episodes of all clusters.
func UnsolvedEpisodes(r model.Report) (n int) {
	for _, c := range r.Clusters {
		n += len(c.Episodes)
	}
	return n
}

// clusterSentence says a cluster in one line, with the episode to look at first.
func clusterSentence(r model.Report, c model.Cluster) string {
	e := r.Episodes[c.Shortest]
	return fmt.Sprintf("%s: %s of %s, in %s; shortest %s/%s/%d, %s",
		c.Signature, words.Thousands(int64(len(c.Episodes))), words.Plural(UnsolvedEpisodes(r), "unsolved episode"), words.Plural(len(c.Tasks), "task"),
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
