package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// clusterView is a cluster as renderers show it: text to be escaped, made visible
// and bounded.
type clusterView struct {
	Kind, Signature   string
	Episodes          string // how many
	Tasks, Candidates string // how many, or their names
	Shortest          string // task/trial, candidate and steps
	At                int    // index of the shortest in Report.Episodes
}

// maxClusterViews is how many clusters a renderer shows.
const maxClusterViews = 40

// clusterViews are the largest clusters, in the order of all.
func clusterViews(r Report) (views []clusterView) {
	shown := map[int]bool{} // by the shortest episode, which is in no other
	for _, c := range r.largest(maxClusterViews) {
		shown[c.Shortest] = true
	}
	for _, c := range r.Clusters {
		if !shown[c.Shortest] {
			continue
		}
		e := r.Episodes[c.Shortest]
		views = append(views, clusterView{
			Kind: string(c.Kind), Signature: brief(c.says(), 120), Episodes: thousands(int64(len(c.Episodes))),
			Tasks: names(c.Tasks), Candidates: names(c.Candidates),
			Shortest: fmt.Sprintf("%s/%d of %s, %s", brief(e.Task, 40), e.Trial, brief(e.Candidate, 60), plural(e.Steps, "step")),
			At:       c.Shortest,
		})
	}
	return views
}

// names lists the three most frequent names: "G01 ×3, G02, G07, 4 more".
func names(tallies []Tally) string {
	const n = 3
	var parts []string
	for i, t := range tallies {
		if i == n {
			parts = append(parts, thousands(int64(len(tallies)-n))+" more")
			break
		}
		part := brief(t.Name, 40)
		if t.N > 1 {
			part += " ×" + thousands(int64(t.N))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// largest are the clusters with the most episodes, at most n.
func (r Report) largest(n int) []Cluster {
	list := slices.Clone(r.Clusters)
	slices.SortStableFunc(list, func(a, b Cluster) int { return cmp.Compare(len(b.Episodes), len(a.Episodes)) })
	return list[:min(n, len(list))]
}

// unsolvedEpisodes counts the episodes of all clusters.
func (r Report) unsolvedEpisodes() (n int) {
	for _, c := range r.Clusters {
		n += len(c.Episodes)
	}
	return n
}

// sentence says a cluster in one line, with the episode to look at first.
func (r Report) sentence(c Cluster) string {
	e := r.Episodes[c.Shortest]
	return fmt.Sprintf("%s: %s of %s, in %s; shortest %s/%s/%d, %s",
		c.Signature, thousands(int64(len(c.Episodes))), plural(r.unsolvedEpisodes(), "unsolved episode"), plural(len(c.Tasks), "task"),
		brief(e.Task, 40), brief(e.Candidate, 60), e.Trial, plural(e.Steps, "step"))
}

// says is the signature without the kind it begins with.
func (c Cluster) says() string {
	return strings.TrimPrefix(c.Signature, string(c.Kind)+": ")
}
