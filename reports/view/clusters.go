package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxClusters bounds the clusters in a table.
const maxClusters = 40

// failureSection are the largest clusters, and the episodes of each candidate that were
// not solved.
func failureSection(r model.Report, linked map[int]string) Section {
	s := Section{ID: "failures", Title: "Failures", Early: true, Unsolved: failures(r)}
	if len(s.Unsolved) == 0 {
		s.Empty = "Every scored episode was solved."
	}
	if len(r.Clusters) == 0 {
		return s
	}
	failed := unsolvedEpisodes(r)
	s.Count = fmt.Sprintf(" (%s of %s)", words.Thousands(int64(failed)), words.Plural(len(r.Episodes), "episode"))
	s.Intro = "Failed episodes grouped by cause, largest group first. The example is the shortest episode of each group. " +
		"Kinds: contract means unusable outputs, answer a wrong answer, trajectory wrong tool calls or a wrong ending, budget too many steps, calls, tokens or time, and tool handling that the agent did not cope with a failing tool."
	s.Fold = "Failures by cause: " + words.Plural(failed, "episode") + " not solved, " + words.Plural(len(r.Clusters), "group")
	s.Tables = []Table{clusterTable(r, linked)}
	return s
}

func clusterTable(r model.Report, linked map[int]string) Table {
	t := Table{ID: "clusters", Label: "Table of failures", Caption: "Failures by cause", Columns: []Column{
		{Name: "Cause", Mark: "bdi", Head: true}, {Name: "Kind", Class: "nw", Mark: "chip", Own: true}, {Name: "Episodes", Class: "n", Mark: "b"}, {Name: "Share", Class: "n", Own: true},
		{Name: "Tasks", TextOnly: true}, {Name: "Candidates"}, {Name: "Shortest", Page: "Shortest example", Mark: "bdi"},
	}}
	top, counts, kinds := r.Largest(maxClusters), map[string]int{}, []string(nil)
	for _, c := range top {
		e, n := r.Episodes[c.Shortest], len(c.Episodes)
		t.Rows = append(t.Rows, []Cell{
			{Text: words.Brief(Cause(c), 120)}, {Text: string(c.Kind)}, {Text: words.Thousands(int64(n)), Share: words.Coordinate(100*float64(n)/float64(len(top[0].Episodes)), 1)},
			{Text: words.Percent(float64(n) / float64(max(1, unsolvedEpisodes(r))))}, {Text: names(c.Tasks)}, {Text: names(c.Candidates)},
			{Text: fmt.Sprintf("task %s, trial %d, candidate %s (%s)", words.Brief(e.Task, 40), e.Trial, words.Brief(e.Candidate, 60), words.Plural(e.Steps, "step")), Href: linked[c.Shortest]},
		})
		kind := string(c.Kind)
		if counts[kind]++; counts[kind] == 1 {
			kinds = append(kinds, kind)
		}
		t.Kinds = append(t.Kinds, slices.Index(kinds, kind)+1)
		t.Details = append(t.Details, example(r, e))
	}
	t.Filters = []string{fmt.Sprintf("All %d", len(t.Rows))}
	for _, k := range kinds {
		t.Filters = append(t.Filters, fmt.Sprintf("%s %d", k, counts[k]))
	}
	if more := len(r.Clusters) - len(t.Rows); more > 0 {
		t.More = words.Plural(more, "more group")
	}
	return t
}

// example says what was expected of an episode and what came instead, and the command
// that shows it.
func example(r model.Report, e model.Episode) (facts []Fact) {
	check, expected, actual := expectation(e.Failure)
	for _, f := range []Fact{
		{"Check", words.Clip(check, 80)}, {"Expected", words.Clip(expected, 300)}, {"Actual", words.Clip(actual, 300)},
		{"Command", fmt.Sprintf("cupel show %s %s/%s/%d", words.Brief(r.Run.RunID, 64), words.Brief(e.Task, 40), words.Brief(e.Candidate, 60), e.Trial)},
	} {
		if f.Value != "" {
			facts = append(facts, f)
		}
	}
	return facts
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
		words.LowerFirst(Cause(c)), words.Thousands(int64(len(c.Episodes))), words.Plural(unsolvedEpisodes(r), "unsolved episode"), words.Plural(len(c.Tasks), "task"),
		words.Brief(e.Task, 40), words.Brief(e.Candidate, 60), e.Trial, words.Plural(e.Steps, "step"))
}

// ClusterLines says the largest clusters, at most n, each in a line.
func ClusterLines(r model.Report, n int) (lines []string) {
	for _, c := range r.Largest(n) {
		lines = append(lines, clusterSentence(r, c))
	}
	return lines
}
