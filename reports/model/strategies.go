package model

import (
	"cmp"
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
	"github.com/cupel-eval/cupel/reports/words"
)

// Strategies compares the strategies (agents) that were given the same tasks with
// the same models: which of them wins on success, steps, cost, time, tokens, tool
// calls and valid outputs.
type Strategies struct {
	// Alpha is the chance of any false win in one metric, over all contests
	// together.
	Alpha float64 `json:"alpha"`
	// Groups are one contest for each provider and model that two strategies or more
	// were run with, in the order of the candidates.
	Groups []StrategyComparison `json:"groups"`
	// Pooled is the contest over all groups, paired within each; null where there is
	// one only.
	Pooled *StrategyComparison `json:"pooled"`
	// Notes say what a reader of the claims must know.
	Notes []string `json:"notes"`
}

// StrategyComparison compares strategies pairwise.
type StrategyComparison struct {
	// Provider and Model are empty in the pooled contest.
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Results are in the order of the candidates.
	Results []StrategyResult `json:"entrants"`
	// Pairs are of every pair of entrants in every metric; pairs without a common
	// task have none.
	Pairs []PairResult `json:"claims"`
	// Winner is the strategy that by the estimates is second to none in success, cost
	// and time, and that is shown to be better than each other one in at least one of
	// them; empty without one, and where models disagree on one of the three.
	Winner string `json:"winner"`
	// Sentence says which is better in what, and which are Pareto-optimal.
	Sentence string `json:"sentence"`
}

// StrategyResult is a strategy of a contest.
type StrategyResult struct {
	Agent      string   `json:"agent"`
	Candidates []string `json:"candidates"`
	// Episodes are those of trials of tasks that every entrant has a result of; the
	// estimates are of them. WithoutResult were lost or cut off, in all.
	Episodes      int `json:"episodes"`
	WithoutResult int `json:"without_result"`
	// Success is the share solved, Cost the mean in nano-USD and Time the mean in µs
	// of an episode; null without episodes, and where a cost is unknown.
	Success *Estimate `json:"success"`
	// Steps is the mean of the solved episodes; null without any.
	Steps *Estimate `json:"steps"`
	Cost  *Estimate `json:"cost_nanousd"`
	Time  *Estimate `json:"elapsed_us"`
	// Harm is the share of episodes that did harm; absent if no world can change.
	Harm *Estimate `json:"harm,omitempty"`
	// Front says that no other entrant is as good in success, cost and time and better
	// in one, by these estimates. Cost does not count where it is unknown of any.
	Front bool `json:"front"`
}

// Estimate is a mean with its 95 % interval, clustered by task and session, which is null
// for fewer than two of these.
type Estimate struct {
	Value    float64        `json:"value"`
	Interval *stat.Interval `json:"interval"`
}

// PairResult is what is known of two strategies in one metric, over the same trials of
// the same tasks.
type PairResult struct {
	// Metric is solved, steps (of episodes that both solved), cost, elapsed, tokens,
	// tool_calls, contract_valid, which for every strategy is by its own protocol, or harm.
	Metric string `json:"metric"`
	Title  string `json:"title"`
	// Unit is share, steps, nano-USD, us, tokens or calls.
	Unit           string `json:"unit"`
	HigherIsBetter bool   `json:"higher_is_better"`
	// First and Second are the two strategies, with their values over the pairs.
	First       string   `json:"first"`
	Second      string   `json:"second"`
	FirstValue  *float64 `json:"first_value"`
	SecondValue *float64 `json:"second_value"`
	// Effect is second − first; Interval its two-sided 95 % interval, clustered by task.
	Effect   *float64       `json:"effect"`
	Interval *stat.Interval `json:"interval"`
	// Relative is Effect as a share of FirstValue, null where that is 0.
	Relative *float64 `json:"relative"`
	// N are pairs, Tasks those they come from: the tasks of a session count as one.
	N     int `json:"n"`
	Tasks int `json:"tasks"`
	// P is two-sided; Adjusted allows for all claims of the same metric (Holm). Both
	// are null without a claim.
	P        *float64 `json:"p"`
	Adjusted *float64 `json:"adjusted_p"`
	// Test names the test and the interval.
	Test string `json:"test"`
	// Winner is the better one where Adjusted is at most Alpha and the interval lies
	// on its side of 0, unless models disagree; empty otherwise.
	Winner string `json:"winner"`
	// Verdict is "tools wins", "no difference shown", "no claim" or, pooled where one
	// model shows the one to win and another the other, "models disagree".
	Verdict string `json:"verdict"`
	Note    string `json:"note"`
}

// Bounds of the section: the manifest is not trusted, and pairs grow with the square.
const (
	maxEntrants = 8
	maxContests = 32
)

// strategyAlpha is the level of all claims of one metric together.
const strategyAlpha = 0.05

// addStrategies compares the strategies of judged candidates, if there are any to
// compare.
func (r *Report) addStrategies() {
	rings, more := r.modelGroups()
	if len(rings) == 0 {
		return
	}
	s := &Strategies{Alpha: strategyAlpha, Groups: []StrategyComparison{}, Notes: []string{}}
	for _, g := range rings {
		s.Groups = append(s.Groups, r.compareStrategies([]*modelGroup{g}, g.agents))
	}
	all := make([]*StrategyComparison, len(s.Groups))
	for i := range s.Groups {
		all[i] = &s.Groups[i]
		all[i].Provider, all[i].Model = rings[i].provider, rings[i].model
	}
	if len(rings) > 1 {
		s.Pooled = new(r.compareStrategies(rings, pooledAgents(rings)))
		all = append(all, s.Pooled)
	}
	adjustPairs(all)
	if s.Pooled != nil {
		s.compareModels()
	}
	for _, c := range all {
		c.conclude()
	}
	s.note(more, slices.ContainsFunc(r.Run.Tasks, func(t manifest.Task) bool { return t.Session != "" }))
	r.Strategies = s
}

// compareStrategies compares agents over some rings.
func (r *Report) compareStrategies(rings []*modelGroup, agents []string) StrategyComparison {
	c := StrategyComparison{Results: strategyResults(rings, agents, clustersOf(r.Run)), Pairs: []PairResult{}}
	for i, first := range agents {
		for _, second := range agents[i+1:] {
			bouts := r.taskPairs(rings, first, second)
			if len(bouts) == 0 {
				continue
			}
			for _, m := range compare.MeasureStrategies(bouts) {
				c.Pairs = append(c.Pairs, pairResult(m, first, second))
			}
		}
	}
	return c
}

func pairResult(m compare.Metric, first, second string) PairResult {
	c := PairResult{
		Metric: m.Name, Title: m.Title, Unit: m.Unit, HigherIsBetter: m.HigherIsBetter, First: first, Second: second,
		FirstValue: m.Baseline, SecondValue: m.New, Effect: m.Effect, Interval: m.Interval, Relative: m.Relative,
		N: m.N, Tasks: m.Clusters, P: m.P, Test: m.Test, Note: m.Note,
	}
	if c.Interval == nil && c.Tasks > 1 { // of a share there always is one
		c.Interval = &stat.Interval{Low: *c.Effect, High: *c.Effect}
		c.Note = words.Join(" ", c.Note, "All "+words.Plural(c.Tasks, "task")+" agree, so the interval has no width.")
	}
	return c
}

// adjustPairs allows for all claims about one metric, and names the winners.
func adjustPairs(all []*StrategyComparison) {
	families := map[string][]*PairResult{}
	for _, c := range all {
		for i := range c.Pairs {
			if k := &c.Pairs[i]; k.P != nil {
				families[k.Metric] = append(families[k.Metric], k)
			} else {
				k.Verdict = "no claim"
			}
		}
	}
	for _, family := range families { // each apart from the others: their order does not matter
		p := make([]float64, len(family))
		for i, k := range family {
			p[i] = *k.P
		}
		adjusted, err := multiple.Holm(p)
		for i, k := range family {
			if err != nil { // a fault of cupel: to be seen, not to be read as no difference
				k.Verdict, k.Note = "no claim", words.Join(" ", k.Note, "Not judged: "+err.Error()+".")
				continue
			}
			k.Adjusted = new(adjusted[i])
			k.decide()
		}
	}
}

// decide names the winner of a claim, if one is shown.
func (c *PairResult) decide() {
	c.Verdict = "no difference shown"
	if !multiple.Rejects(*c.Adjusted, strategyAlpha) || c.Interval == nil {
		return
	}
	switch more := c.Interval.Low > 0; {
	case !more && c.Interval.High >= 0:
		return
	case more == c.HigherIsBetter:
		c.Winner = c.Second
	default:
		c.Winner = c.First
	}
	c.Verdict = c.Winner + " wins"
}

// modelGroup is one provider and model with the strategies that were run with it.
type modelGroup struct {
	provider, model string
	agents          []string
	candidates      map[string][]string // by agent
	lost            map[string]int      // episodes without a result, by agent
	by              map[string]map[string][]entry
}

// entry is a scored episode of a task.
type entry struct {
	candidate, trial int
	episode          *Episode
}

// attempts are an agent's of a task, by trial, and by candidate within one.
func (g *modelGroup) attempts(agent, task string) []entry { return g.by[agent][task] }

// at are those of one trial.
func (g *modelGroup) at(agent, task string, trial int) []entry {
	list := g.attempts(agent, task)
	from, _ := slices.BinarySearchFunc(list, trial, func(x entry, trial int) int { return cmp.Compare(x.trial, trial) })
	to := from
	for to < len(list) && list[to].trial == trial {
		to++
	}
	return list[from:to]
}

// sort puts the episodes of each task in order. Of several of one trial by one
// candidate the first counts.
func (g *modelGroup) sort() {
	for _, tasks := range g.by {
		for task, list := range tasks {
			slices.SortStableFunc(list, func(a, b entry) int {
				return cmp.Or(cmp.Compare(a.trial, b.trial), cmp.Compare(a.candidate, b.candidate))
			})
			tasks[task] = slices.CompactFunc(list, func(a, b entry) bool { return a.trial == b.trial && a.candidate == b.candidate })
		}
	}
}

// modelGroups are the models that two strategies or more were run with; more is how many
// strategies and models were left out for their number.
func (r *Report) modelGroups() (rings []*modelGroup, more int) {
	at := map[modelKey]*modelGroup{}
	of := make([]*modelGroup, len(r.Candidates))
	var all []*modelGroup
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if c.Verdict == stat.NotJudged {
			continue
		}
		key := modelKey{provider: c.Provider, model: c.Model}
		g := at[key]
		if g == nil {
			g = &modelGroup{provider: c.Provider, model: c.Model, candidates: map[string][]string{}, lost: map[string]int{}, by: map[string]map[string][]entry{}}
			at[key], all = g, append(all, g)
		}
		if !slices.Contains(g.agents, c.Agent) {
			if len(g.agents) == maxEntrants {
				more++
				continue
			}
			g.agents = append(g.agents, c.Agent)
			g.by[c.Agent] = map[string][]entry{}
		}
		g.candidates[c.Agent], of[i] = append(g.candidates[c.Agent], c.Name), g
	}
	all = slices.DeleteFunc(all, func(g *modelGroup) bool { return len(g.agents) < 2 })
	if len(all) > maxContests {
		all, more = all[:maxContests], more+len(all)-maxContests
	}
	if len(all) > 0 {
		r.assignEpisodes(of)
	}
	for _, g := range all {
		g.sort()
	}
	return all, more
}

// assignEpisodes puts the episodes into the rings of their candidates.
func (r *Report) assignEpisodes(of []*modelGroup) {
	column := map[string]int{}
	for i, c := range r.Candidates {
		column[c.Name] = i
	}
	for i := range r.Episodes {
		e := &r.Episodes[i]
		if e.Injection != "" {
			continue // it is measured as an attack
		}
		k := column[e.Candidate]
		g, agent := of[k], r.Candidates[k].Agent
		switch {
		case g == nil || len(g.agents) < 2:
		case e.Excluded != "":
			g.lost[agent]++
		default:
			g.by[agent][e.Task] = append(g.by[agent][e.Task], entry{k, e.Trial, e})
		}
	}
}

// pooledAgents are those of all rings, in order, as many as are compared.
func pooledAgents(rings []*modelGroup) (agents []string) {
	for _, g := range rings {
		for _, a := range g.agents {
			if !slices.Contains(agents, a) && len(agents) < maxEntrants {
				agents = append(agents, a)
			}
		}
	}
	return agents
}

// taskPairs pair two agents' results of the same trials of a task, within a model group. Where
// an agent has several candidates there, each meets each. The tasks of a session are one
// bout, as they are one cluster.
func (r *Report) taskPairs(rings []*modelGroup, first, second string) (bouts []compare.TaskPairs) {
	clusters, at := clustersOf(r.Run), map[string]int{}
	for i := range r.Tasks {
		var pairs [][2]compare.Attempt
		task := r.Tasks[i].ID
		for _, g := range rings {
			for _, x := range g.attempts(first, task) {
				for _, y := range g.at(second, task, x.trial) {
					pairs = append(pairs, [2]compare.Attempt{x.episode.attempt, y.episode.attempt})
				}
			}
		}
		if len(pairs) == 0 {
			continue
		}
		cluster := clusterOf(clusters, task)
		k, seen := at[cluster]
		if !seen {
			k = len(bouts)
			at[cluster], bouts = k, append(bouts, compare.TaskPairs{Task: cluster})
		}
		bouts[k].Pairs = append(bouts[k].Pairs, pairs...)
	}
	return bouts
}

// All are all of them, the pooled one first.
func (s *Strategies) All() (all []*StrategyComparison) {
	if s.Pooled != nil {
		all = append(all, s.Pooled)
	}
	for i := range s.Groups {
		all = append(all, &s.Groups[i])
	}
	return all
}
