package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// Scripted is the provider of candidates that replay a list of replies: they
// test tasks, not models, and are shown but not judged.
const Scripted = "scripted"

const (
	excludedInfra       = "infrastructure error"
	excludedInterrupted = "interrupted"
)

// Build turns a manifest and a ledger into a finished report. It reads rows
// without changing them, and the report keeps pointers into them. Candidates and
// tasks that only the rows know follow those of the manifest.
func Build(m ledger.Manifest, rows ledger.Rows) Report {
	m.Acceptance = m.Acceptance.Resolved()
	r := Report{Format: 1, Run: m, Groups: []Group{}, Tasks: []Task{}, Notes: []string{}}
	orphans := r.addEpisodes(rows)
	by := map[string][]*Episode{}
	for i := range r.Episodes {
		e := &r.Episodes[i]
		by[e.Candidate] = append(by[e.Candidate], e)
	}
	r.Candidates = []Candidate{}
	for _, mc := range candidates(m, rows) {
		r.Candidates = append(r.Candidates, judge(mc, by[mc.Name], m.Acceptance))
	}
	r.addGroups(by)
	r.addTasks()
	r.addVerdict()
	r.addFigures()
	r.addNotes(orphans)
	return r
}

// addEpisodes gathers each episode's rows; it returns how many turns and tool
// calls belong to no episode.
func (r *Report) addEpisodes(rows ledger.Rows) (orphans int) {
	r.Episodes = make([]Episode, len(rows.Episodes))
	index := make(map[string]*Episode, len(rows.Episodes))
	for i := range rows.Episodes {
		row := &rows.Episodes[i]
		e := &r.Episodes[i]
		*e = Episode{
			ID: row.EpisodeID, Task: row.TaskID, Candidate: row.Candidate, Trial: int(row.Trial),
			Status: row.Status, StopReason: row.StopReason,
			Steps: int(row.Steps), CostNanoUSD: row.CostNanoUSD, ElapsedUs: row.ElapsedUs,
			anchor: anchor(row.EpisodeID, i, index), row: row,
		}
		switch {
		case row.InfraError:
			e.Excluded = excludedInfra
		case row.Status == "cancelled":
			e.Excluded = excludedInterrupted
		default:
			// A guard's stop is never a success, whatever the checks say.
			e.Solved = row.Solved && row.Status != "stopped"
		}
		e.Failure = failure(e)
		index[row.EpisodeID] = e
	}
	for i := range rows.Turns {
		if e := index[rows.Turns[i].EpisodeID]; e != nil {
			e.turns = append(e.turns, &rows.Turns[i])
		} else {
			orphans++
		}
	}
	for i := range rows.ToolCalls {
		if e := index[rows.ToolCalls[i].EpisodeID]; e != nil {
			e.calls = append(e.calls, &rows.ToolCalls[i])
		} else {
			orphans++
		}
	}
	return orphans
}

var plainID = regexp.MustCompile(`\A[A-Za-z0-9_-]{1,64}\z`)

// anchor is the id of an episode's transcript on the page.
func anchor(id string, i int, seen map[string]*Episode) string {
	if plainID.MatchString(id) && seen[id] == nil {
		return "ep-" + id
	}
	return fmt.Sprintf("ep--%d", i)
}

// failure is why an episode was not solved, in one line.
func failure(e *Episode) string {
	if e.Solved {
		return ""
	}
	if e.Excluded == excludedInfra {
		return join(": ", e.row.ErrorKind, e.row.ErrorText)
	}
	for _, c := range e.row.Checks {
		if !c.Passed {
			return join(": ", c.Name, c.Detail)
		}
	}
	return join(": ", e.Status, e.StopReason)
}

// join joins the parts that are not empty.
func join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// candidates are those of the manifest, then those only the rows know.
func candidates(m ledger.Manifest, rows ledger.Rows) []ledger.ManifestCandidate {
	list := slices.Clone(m.Candidates)
	seen := map[string]bool{}
	for _, c := range list {
		seen[c.Name] = true
	}
	for i := range rows.Episodes {
		if k := &rows.Episodes[i].Key; !seen[k.Candidate] {
			seen[k.Candidate] = true
			list = append(list, ledger.ManifestCandidate{
				Name: k.Candidate, Agent: k.Agent, Provider: k.Provider, Model: k.Model,
				OutputMode: k.OutputMode, PromptProfile: k.PromptProfile,
			})
		}
	}
	return list
}

// judge measures one candidate and, unless it is a script, judges it.
func judge(mc ledger.ManifestCandidate, episodes []*Episode, a ledger.Acceptance) Candidate {
	p := newPool(episodes, a.MaxSteps)
	c := Candidate{ManifestCandidate: mc, Criteria: []Criterion{}, Metrics: metrics(episodes, p, a.Confidence)}
	if mc.Provider == Scripted {
		c.Verdict = NotJudged
		c.Sentence = fmt.Sprintf("replays a script, so it is shown but not judged; it solved %d of %d.", p.solved, p.scored)
		return c
	}
	c.Criteria = p.criteria(a)
	c.Verdict = verdictOf(c.Criteria)
	c.Sentence = sentence(c.Verdict, c.Criteria)
	if c.Verdict == Pass && p.scored < mc.Planned {
		c.Verdict = Inconclusive
		c.Sentence = fmt.Sprintf("meets all %d criteria so far, but %d of %d planned episodes have no result.", len(c.Criteria), mc.Planned-p.scored, mc.Planned)
	}
	return c
}

func verdictOf(criteria []Criterion) Verdict {
	var list []Verdict
	for _, c := range criteria {
		list = append(list, c.Verdict)
	}
	return worst(list)
}

// sentence says the verdict and what decided it.
func sentence(v Verdict, criteria []Criterion) string {
	if v == Pass {
		return fmt.Sprintf("meets all %d criteria.", len(criteria))
	}
	var parts []string
	for _, c := range criteria {
		if c.Verdict != v {
			continue
		}
		part := fmt.Sprintf("%s %s", lowerFirst(c.Title), c.value())
		if c.Value == nil {
			part = fmt.Sprintf("%s: no data", lowerFirst(c.Title))
		} else if c.Interval != nil && c.Rule == ruleBound {
			part += fmt.Sprintf(" (%s)", c.interval())
		}
		parts = append(parts, part+", needs "+c.needs())
	}
	if v == Fail {
		return "fails on " + strings.Join(parts, "; ") + "."
	}
	return "needs more evidence on " + strings.Join(parts, "; ") + "."
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// addGroups pools judged candidates that share a provider and model.
func (r *Report) addGroups(by map[string][]*Episode) {
	type key struct{ provider, model string }
	var order []key
	members := map[key][]*Candidate{}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if c.Verdict == NotJudged {
			continue
		}
		k := key{c.Provider, c.Model}
		if members[k] == nil {
			order = append(order, k)
		}
		members[k] = append(members[k], c)
	}
	for _, k := range order {
		if len(members[k]) < 2 {
			continue
		}
		g := Group{Provider: k.provider, Model: k.model, Mixes: mixes(members[k])}
		var pooled []*Episode
		for _, c := range members[k] {
			g.Candidates = append(g.Candidates, c.Name)
			pooled = append(pooled, by[c.Name]...)
		}
		g.Criteria = newPool(pooled, r.Run.Acceptance.MaxSteps).criteria(r.Run.Acceptance)
		g.Verdict = verdictOf(g.Criteria)
		g.Sentence = sentence(g.Verdict, g.Criteria)
		r.Groups = append(r.Groups, g)
	}
}

// mixes names what the members of a group differ in.
func mixes(members []*Candidate) []string {
	list := []string{}
	for _, d := range []struct {
		name string
		of   func(*Candidate) string
	}{
		{"agent", func(c *Candidate) string { return c.Agent }},
		{"output mode", func(c *Candidate) string { return c.OutputMode }},
		{"prompt profile", func(c *Candidate) string { return c.PromptProfile }},
		{"rescue model", func(c *Candidate) string { return c.RescueModel }},
	} {
		var values []string
		for _, c := range members {
			v := d.of(c)
			if v == "" {
				v = "none"
			}
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 1 {
			slices.Sort(values)
			list = append(list, d.name+": "+strings.Join(values, ", "))
		}
	}
	return list
}
